"""One HTTP/1.1 connection: a request out, an answer in, and strict rules for both.

The grammar is `h11`'s. Around it are limits that clients of hostile servers need and HTTP libraries
do not have (docs/decisions/0025-http-connection.md): on the head of a response, on 1xx responses,
on the cost of tiny chunks and TLS records, and on the work between two iterations of the event
loop. A response that two readers could understand in two ways is refused.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import h11

from carrel.exchange import Headers

from .scheduler import FairScheduler

_T = TypeVar("_T")

#: Bytes and lines of an answer's head, the heads of 1xx answers included.
MAX_HEAD_BYTES = 32 * 1024
MAX_HEAD_LINES = 256
#: Answers before the answer (RFC 9110, section 15.2); servers send one or two.
MAX_INFORMATIONAL = 8
#: Pieces (chunks, TLS records) that any body may come in, and bytes that each further one must
#: bring on average. A piece costs about 20 µs, however small.
FREE_PIECES = 32_768
BYTES_PER_PIECE = 16
#: Bytes of framing that any body may have beyond its own size.
FREE_FRAMING = 2**20
#: How often the framing is looked at, in pieces.
_LOOK_EVERY = 16

_HEAD_END = re.compile(rb"\n\r?\n")


class Stream(Protocol):
    """The stream below; see `carrel.fetch.stream.TLSStream`."""

    async def read(self) -> bytes:
        """Returns the next bytes; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Sends all of the bytes."""
        ...

    def unread(self) -> bool:
        """Whether anything arrived that was not read."""
        ...

    def close(self) -> None:
        """Closes it now."""
        ...


class WireError(Exception):
    """A request without a response.

    Attributes:
        maybe_sent: whether the upstream may have seen the request.
    """

    maybe_sent = True


class UnsendableError(WireError):
    """HTTP does not allow the request; nothing was sent."""

    maybe_sent = False


class LostError(WireError):
    """The connection broke."""


class SilentError(WireError):
    """No byte came in time."""


class MalformedError(WireError):
    """The answer breaks HTTP's rules or a limit of ours."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request for the wire.

    Attributes:
        resource: path and query.
        headers: all but Host, in order.
        body: empty for none; its length is added to the headers.
    """

    method: str
    host: str
    resource: str
    headers: Headers
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer: names as they came, values as ISO 8859-1."""

    status: int
    headers: Headers


class HTTPConnection:
    """One connection to one origin, for one request at a time.

    Args:
        stream: connected.
        read_seconds: how long the upstream may stay silent, and how long the head may take.
    """

    def __init__(self, stream: Stream, *, read_seconds: float) -> None:
        self._stream = stream
        self._read_seconds = read_seconds
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        self._pieces = 0
        self._received = 0

    async def request(
        self,
        request: WireRequest,
        scheduler: FairScheduler,
        *,
        before_sending: Callable[[], Awaitable[None]],
    ) -> Head:
        """Sends the request and reads the answer's head.

        Args:
            request: what to send.
            scheduler: of the event loop, which lets others run between pieces.
            before_sending: awaited when nothing has been sent yet.

        Raises:
            WireError: there is no answer; the connection must be closed.
        """
        data = self._encode(request)
        await before_sending()
        try:
            await self._within(self._stream.write(data))
        except LostError:
            # A server may refuse a large body and hang up, after a response that says why.
            pass
        try:
            async with asyncio.timeout(self._read_seconds):
                return await self._read_head(scheduler)
        except TimeoutError:
            raise SilentError from None

    async def body(self, scheduler: FairScheduler) -> AsyncIterator[bytes]:
        """The answer's body as it comes, without framing.

        Args:
            scheduler: of the event loop, which lets others run between pieces.

        Raises:
            WireError: it is cut short, or passes a limit; the connection must be closed.
        """
        size = 0
        self._pieces = self._received = 0
        while True:
            event = self._next_event()
            if event is h11.NEED_DATA:
                data = await self._within(self._stream.read())
                self._received += len(data)
                self._h11.receive_data(data)
                await scheduler.checkpoint()
            elif isinstance(event, h11.Data):
                size += len(event.data)
                yield event.data
                await scheduler.checkpoint()
            else:
                return
            self._pieces += 1
            if self._pieces % _LOOK_EVERY == 0:
                self._require_sane_framing(size)

    def finish(self) -> bool:
        """Whether the connection can carry another request, now that an answer was read.

        It cannot when anything came behind the answer: it would be taken for the next one.
        """
        if self._h11.our_state is not h11.DONE or self._h11.their_state is not h11.DONE:
            return False
        if self._h11.trailing_data != (b"", False) or self._stream.unread():
            return False
        self._h11.start_next_cycle()
        return True

    def is_quiet(self) -> bool:
        """Whether nothing, not even an end, has come since the last answer."""
        return not self._stream.unread()

    def close(self) -> None:
        """Closes it at once. Idempotent."""
        self._stream.close()

    def _encode(self, request: WireRequest) -> bytes:
        headers: list[tuple[str, str]] = [("Host", request.host), *request.headers]
        if request.body or request.method == "POST":
            headers.append(("Content-Length", str(len(request.body))))
        try:
            event = h11.Request(
                method=request.method,
                target=request.resource,
                headers=[
                    (name.encode("ascii"), value.encode("latin-1")) for name, value in headers
                ],
            )
            data = self._h11.send(event) or b""
            if request.body:
                data += self._h11.send(h11.Data(data=request.body)) or b""
            return data + (self._h11.send(h11.EndOfMessage()) or b"")
        except (h11.LocalProtocolError, UnicodeEncodeError) as fault:
            raise UnsendableError from fault

    async def _within(self, work: Awaitable[_T]) -> _T:
        """Waits for the stream, and says in our terms how that failed."""
        try:
            async with asyncio.timeout(self._read_seconds):
                return await work
        except TimeoutError:
            raise SilentError from None
        except OSError as fault:
            raise LostError from fault

    async def _read_head(self, scheduler: FairScheduler) -> Head:
        head = bytearray()
        lines = informational = 0
        while True:
            end = _HEAD_END.search(head)
            while end is None:
                data = await self._within(self._stream.read())
                if not data:
                    raise LostError
                searched = max(0, len(head) - 3)
                head += data
                end = _HEAD_END.search(head, searched)
                size = len(head) if end is None else end.end()
                if size > MAX_HEAD_BYTES or head.count(b"\n", 0, size) + lines > MAX_HEAD_LINES:
                    raise MalformedError("the head of its answer is too long")
                await scheduler.checkpoint()
            lines += head.count(b"\n", 0, end.end())
            self._h11.receive_data(bytes(head[: end.end()]))
            del head[: end.end()]
            event = self._next_event()
            await scheduler.checkpoint()
            if isinstance(event, h11.Response):
                if head:
                    self._h11.receive_data(bytes(head))
                return _read_response(event)
            informational += 1
            if informational > MAX_INFORMATIONAL:
                raise MalformedError("its answer never begins")

    def _next_event(self) -> object:
        try:
            return self._h11.next_event()
        except h11.RemoteProtocolError as fault:
            # h11 says the same of an end in the middle and of wrong bytes.
            if self._h11.trailing_data[1]:
                raise LostError from fault
            raise MalformedError("its answer breaks HTTP's rules") from fault

    def _require_sane_framing(self, size: int) -> None:
        if self._pieces > FREE_PIECES + size // BYTES_PER_PIECE:
            raise MalformedError("its answer comes in too many pieces")
        if self._received > FREE_FRAMING + 2 * size:
            raise MalformedError("its answer is mostly framing")


def _read_response(event: h11.Response) -> Head:
    """The head, if there is one way to read it (RFC 9112, sections 2.3 and 6.3)."""
    if event.http_version not in {b"1.0", b"1.1"}:
        raise MalformedError("its answer is in no known version of HTTP")
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in event.headers.raw_items()
    )
    names = [name.lower() for name, _ in headers]
    if "content-length" in names and "transfer-encoding" in names:
        raise MalformedError("its answer gives its length in two ways")
    if names.count("location") > 1:
        raise MalformedError("its answer redirects to two places")
    return Head(event.status_code, headers)
