"""Limits how long a connection may wait: uvicorn's protocol with timeouts.

uvicorn waits without limit for a request's headers, of any size, and for a client that does not
read. Bodies are timed by `gate`.

httptools parses ahead: it may read the next request while one is served. `_served` is the request
being served; uvicorn's `cycle` and `scope` are those of the last request read.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections import Counter
from collections.abc import Callable, MutableMapping
from typing import Any, Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from carrel.config import HttpConfig

from .admission import HELD
from .refusals import INVALID_REQUEST, REFUSALS, Refusal

logger = logging.getLogger(__name__)

#: Marks the state of a request that this module has refused while the gate was reading it.
REFUSED: Final = "carrel.refused"
#: Name of the principal in the state of its request.
OWNER: Final = "carrel.owner"
_PHRASES = {
    400: b"Bad Request",
    404: b"Not Found",
    408: b"Request Timeout",
    431: b"Request Header Fields Too Large",
    503: b"Service Unavailable",
}

#: Requests of one connection that wait for the response to an earlier one.
_MOST_WAITING: Final = 64

#: Bytes that a client must read of a larger response in `http.write_seconds`. Less would let it
#: hold many large responses in memory.
_LEAST_READ: Final = 2**20

_INVALID = Refusal("not-http", 400, INVALID_REQUEST, "the request is not valid HTTP/1.1")
_PIPELINED = Refusal(
    "pipelined", 400, INVALID_REQUEST, "the requests on this connection do not await responses"
)
_SLOW = Refusal(
    "headers-too-slow",
    408,
    INVALID_REQUEST,
    "the headers did not arrive within http.read_seconds",
)


#: Called with the name and the status of a refusal, and the client's address.
OnRefused = Callable[[str, int, str], object]


def protocol_class(
    settings: HttpConfig, on_refused: OnRefused = lambda _name, _status, _peer: None
) -> type[HttpToolsProtocol]:
    """Returns the protocol with these limits, for uvicorn's configuration.

    Args:
        settings: the limits.
        on_refused: called for each request or connection that is refused here.
    """

    class Connection(_Connection):
        limits = settings
        refused = staticmethod(on_refused)

    return Connection


class _Connection(HttpToolsProtocol):
    """One connection."""

    limits = HttpConfig()
    refused: OnRefused

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.used = 0.0
        self._served: Any = None
        #: Bytes of a head that is not complete.
        self._head_bytes = 0
        self._is_in_body = False
        self._fault = _INVALID
        #: Refusal of a later request, for after the responses to the earlier ones.
        self._refusal: Refusal | None = None
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        #: Bytes that the client had not read when that timer was started.
        self._unread_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timeout of the first request's headers."""
        super().connection_made(transport)
        self.used = self.loop.time()
        if len(self.connections) > self.limits.max_connections:
            dispensable = self._most_dispensable()
            logger.warning(
                "closed a connection of %s: http.max_connections (%d) are open",
                dispensable.peer(),
                self.limits.max_connections,
            )
            self.refused("too-many-connections", 503, dispensable.peer())
            dispensable.transport.abort()
            if dispensable is self:
                return
        _set_options(transport.get_extra_info("socket"), self.limits.write_seconds)
        self._head = self.loop.call_later(self.limits.read_seconds, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timeouts, and ends a request that is held."""
        _cancel(self._head)
        self._head = None
        _cancel(self._unread)
        self._unread = None
        cancel_wait = self._state.get(HELD)
        if cancel_wait is not None:
            cancel_wait()
        if self._served is not None and not self._served.response_complete:
            # uvicorn notifies only the last request that was read.
            self._served.disconnected = True
            self._served.message_event.set()
        super().connection_lost(exc)

    def _most_dispensable(self) -> _Connection:
        """Returns the connection to close when too many are open: of those on which no request is
        served, the least recently used of the principal that has most; if there is none, this one.
        """
        every = [
            connection for connection in self.connections if isinstance(connection, _Connection)
        ]
        owned = Counter(connection.owner for connection in every)
        idle = [connection for connection in every if connection.is_idle and connection is not self]
        return max(
            idle, key=lambda connection: (owned[connection.owner], -connection.used), default=self
        )

    @property
    def owner(self) -> str:
        """Name of the principal of the current request, or of the last; empty before the first."""
        return str(self._state.get(OWNER, ""))

    @property
    def is_idle(self) -> bool:
        """Whether no request is being served; held or incomplete requests do not count."""
        return not self._is_serving or HELD in self._state or self._served.more_body

    @property
    def _is_serving(self) -> bool:
        return self._served is not None and not self._served.response_complete

    @property
    def _state(self) -> MutableMapping[str, Any]:
        """The state of the current request, or of the last."""
        if self._served is None:
            return {}
        state: MutableMapping[str, Any] = self._served.scope["state"]
        return state

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Adds a header; drops one behind a body, which the gate has not checked."""
        if not self._is_in_body:
            super().on_header(name, value)

    def on_message_begin(self) -> None:
        """Starts the head of a request, which may be behind another in the same bytes."""
        self._head_bytes = self._head_bytes or 1
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Ends the head of a request."""
        fault = self._fault_of_head()
        if fault is not None:
            self._fault = fault
            raise ValueError  # stops the parser
        if not self.parser.should_upgrade():
            self._head_bytes, self._is_in_body = 0, True
            super().on_headers_complete()
            if self.parser.get_http_version() == "1.0":
                _without_chunks(self.cycle)

    def _fault_of_head(self) -> Refusal | None:
        """Returns why the gate does not see a request: httptools accepts what proxies could read
        differently.
        """
        if len(self.pipeline) >= _MOST_WAITING:
            return _PIPELINED
        if not self.url.startswith(b"/"):
            return REFUSALS["no-such-path"]  # the address of another server, or of a tunnel
        version = self.parser.get_http_version()
        if version not in {"1.0", "1.1"}:
            return _INVALID
        hosts = 0
        for name, value in self.headers:
            hosts += name == b"host"
            if name == b"transfer-encoding" and (version == "1.0" or value.lower() != b"chunked"):
                return _INVALID
        # HTTP/1.0 had no such header.
        return None if (version != "1.0") <= hosts <= 1 else _INVALID

    def on_message_complete(self) -> None:
        """Ends the body of a request."""
        self._is_in_body = False
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Starts the timeout with the first byte of a request, and stops it after its headers."""
        if self._refusal is not None:
            return
        self.used = self.loop.time()
        if not self._is_in_body:
            self._head_bytes += len(data)
        self._unset_keepalive_if_required()
        self._feed(data)
        if self.transport.is_closing() or self._refusal is not None:
            return
        if self._head_bytes > self.limits.max_header_bytes:
            self._answer(REFUSALS["headers-too-large"])
        elif self._is_serving:
            _cancel(self._head)
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(self.limits.read_seconds, self._too_slow)

    def _feed(self, data: bytes) -> None:
        try:
            while data:
                try:
                    self.parser.feed_data(data)
                except httptools.HttpParserUpgrade as upgrade:
                    data = self._without_upgrade(data[upgrade.args[0] :])
                else:
                    return
        except httptools.HttpParserError:
            self._answer(self._fault)

    def _without_upgrade(self, rest: bytes) -> bytes:
        """Returns a request to upgrade as one without, with the bytes behind its head: httptools
        would skip its body.
        """
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        return b"\r\n".join([*lines, b"", rest])

    def pause_writing(self) -> None:
        """Starts the timeout of a client that does not read."""
        super().pause_writing()
        if self._unread is None:
            self._await_reading()

    def _await_reading(self) -> None:
        self._unread_bytes = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(self.limits.write_seconds, self._reads_too_little)

    def resume_writing(self) -> None:
        """Stops that timeout."""
        super().resume_writing()
        _cancel(self._unread)
        self._unread = None

    def on_response_complete(self) -> None:
        """Starts the next request that waits, or refuses it."""
        super().on_response_complete()
        refusal = self._refusal
        if refusal is not None and not self.transport.is_closing():
            self._answer(refusal)

    def shutdown(self) -> None:
        """Ends a connection at the end of the server, unless a request is served; refuses one that
        has not arrived completely.
        """
        cycle = self._served
        if self._is_serving and cycle.more_body and not cycle.response_started:
            self._answer(REFUSALS["stopping"])
        else:
            super().shutdown()

    def _too_slow(self) -> None:
        self._head = None
        if self._head_bytes:
            self._answer(_SLOW)
        else:
            self.transport.close()  # a connection without a request

    def _reads_too_little(self) -> None:
        self._unread = None
        if self._unread_bytes - self.transport.get_write_buffer_size() >= _LEAST_READ:
            self._await_reading()
            return
        logger.warning(
            "closed a connection of %s: less than 1 MiB was read in http.write_seconds (%g)",
            self.peer(),
            self.limits.write_seconds,
        )
        self.transport.abort()

    def _answer(self, refusal: Refusal) -> None:
        """Writes a refusal without uvicorn, which has no request to answer, and closes. If an
        earlier request has arrived completely, it is answered first.
        """
        if self._is_serving and not self._served.more_body:
            self._refusal = refusal
            return
        logger.warning("refused a request of %s: %d %s", self.peer(), refusal.status, refusal.name)
        self.refused(refusal.name, refusal.status, self.peer())
        self._state[REFUSED] = True
        body = refusal.body()
        head = b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\n" % (
            refusal.status,
            _PHRASES[refusal.status],
        )
        end = b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(head + end + body)
        self.transport.close()

    def peer(self) -> str:
        """Returns the client's address."""
        return "a client" if self.client is None else f"{self.client[0]}:{self.client[1]}"


def _without_chunks(cycle: Any) -> None:
    """Lets a response without a length end with its connection, because HTTP/1.0 has no chunks;
    uvicorn would send some.
    """
    send, is_measured = cycle.send, False

    async def send_until_closed(message: MutableMapping[str, Any]) -> None:
        nonlocal is_measured
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message.get("headers", ())}
            is_measured = b"content-length" in names
            if not is_measured:
                cycle.chunked_encoding = False
        elif not is_measured:
            # uvicorn counts down, to 0 with the last part.
            size = sys.maxsize if message.get("more_body") else len(message.get("body", b""))
            cycle.expected_content_length = size
        await send(message)

    cycle.send = send_until_closed


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def _set_options(sock: socket.socket | None, seconds: float) -> None:
    """Sends small messages at once, and lets the system find clients that vanished."""
    if sock is None:
        return
    options: list[tuple[str, Callable[[], int]]] = [
        ("TCP_KEEPIDLE", lambda: 30),
        ("TCP_KEEPINTVL", lambda: 10),
        ("TCP_KEEPCNT", lambda: 3),
        ("TCP_USER_TIMEOUT", lambda: int(seconds * 1000)),
    ]
    try:
        # asyncio sets this only on sockets whose protocol was named when they were made. Without
        # it, a response in two parts takes 40 ms.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in options:
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value())
    except OSError:
        pass  # not TCP
