"""Limits how long a connection may wait: uvicorn's protocol with timeouts.

uvicorn waits without limit for a request's headers, and for a client that does not read. Bodies
are timed by `gate`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from carrel.config import HttpConfig

from .refusals import INVALID_REQUEST, REFUSALS, Refusal

logger = logging.getLogger(__name__)

#: Marks the state of a request that this module has refused while the gate was reading it.
REFUSED: Final = "carrel.refused"
_PHRASES = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large"}

_INVALID = Refusal("not-http", 400, INVALID_REQUEST, "the request is not valid HTTP/1.1")
_SLOW = Refusal(
    "headers-too-slow",
    408,
    INVALID_REQUEST,
    "the headers did not arrive within http.read_seconds",
)


def _is_no_repetition(record: logging.LogRecord) -> bool:
    """Returns whether a line of uvicorn says something that `_Connection` does not log itself."""
    return record.getMessage() != "Invalid HTTP request received."


def protocol_class(settings: HttpConfig) -> type[H11Protocol]:
    """Returns the protocol with these limits, for uvicorn's configuration."""
    logging.getLogger("uvicorn.error").addFilter(_is_no_repetition)

    class Connection(_Connection):
        limits = settings

    return Connection


class _Connection(H11Protocol):
    """One connection."""

    limits = HttpConfig()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timeout of the first request's headers."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            logger.warning(
                "closed a connection of %s: http.max_connections (%d) are open",
                self._peer(),
                self.limits.max_connections,
            )
            transport.abort()
            return
        _set_options(transport.get_extra_info("socket"), self.limits.write_seconds)
        self._head = self.loop.call_later(self.limits.read_seconds, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timeouts."""
        _cancel(self._head)
        self._head = None
        _cancel(self._unread)
        self._unread = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Starts the timeout with the first byte of a request, and stops it after its headers."""
        super().data_received(data)
        # uvicorn declares `cycle` without the None that it starts with.
        if getattr(self.cycle, "response_complete", True) is False:
            _cancel(self._head)
            self._head = None
        elif self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(self.limits.read_seconds, self._too_slow)

    def pause_writing(self) -> None:
        """Starts the timeout of a client that does not read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self.limits.write_seconds, self._does_not_read)

    def resume_writing(self) -> None:
        """Stops that timeout."""
        super().resume_writing()
        _cancel(self._unread)
        self._unread = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's seam
        """Answers what is not HTTP, or has too large headers."""
        held, _ = self.conn.trailing_data
        is_large = len(held) > self.limits.max_header_bytes
        self._answer(REFUSALS["headers-too-large"] if is_large else _INVALID)

    def _too_slow(self) -> None:
        self._head = None
        if self.conn.trailing_data[0]:
            self._answer(_SLOW)
        else:
            self.transport.close()  # a connection without a request

    def _does_not_read(self) -> None:
        self._unread = None
        logger.warning(
            "closed a connection of %s: nothing was read for http.write_seconds (%g)",
            self._peer(),
            self.limits.write_seconds,
        )
        self.transport.abort()

    def _answer(self, refusal: Refusal) -> None:
        """Writes a refusal without uvicorn, which has no request to answer, and closes."""
        logger.warning("refused a request of %s: %s", self._peer(), refusal.name)
        if self.scope is not None:
            self.scope["state"][REFUSED] = True
        body = refusal.body()
        head = b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\n" % (
            refusal.status,
            _PHRASES[refusal.status],
        )
        end = b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(head + end + body)
        self.transport.close()

    def _peer(self) -> str:
        return "a client" if self.client is None else f"{self.client[0]}:{self.client[1]}"


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
