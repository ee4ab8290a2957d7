"""Sends the response to a plain call: as JSON, or as an event stream."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from .formats import Headers
from .refusals import UNANSWERED

if TYPE_CHECKING:
    from .request import HttpRequest

#: Seconds that a call may take before its response starts. A call of a session then gets a stream,
#: so that its client can resume it.
_QUICK_SECONDS: Final = 0.05
#: Seconds without a message after which a comment keeps a stream open, as the SDK does.
_PING_SECONDS: Final = 15.0
_PING: Final = b": ping\r\n\r\n"

_JSON: Final = (b"content-type", b"application/json")
_STREAM: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)


class PlainCall:
    """A running call, and its response.

    Attributes:
        ended: done when the call has ended.
        line: the JSON-RPC response; None if there is none, because the session has ended.
        priming: id of the event without data that begins the stream, if there is one.
        event: id of the response's event, if it is kept.
    """

    __slots__ = ("ended", "event", "line", "priming")

    def __init__(self) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.line: bytes | None = None
        self.priming: str | None = None
        self.event: str | None = None

    def end(self, line: bytes | None) -> None:
        """Records the response."""
        self.line = line
        self.ended.set_result(None)


class PlainResponse:
    """The response to one call.

    Args:
        request: of the client.
        call: runs, or has ended.
        session_id: of the session; None without one.
    """

    def __init__(
        self, request: HttpRequest, call: PlainCall, session_id: str | None = None
    ) -> None:
        self._request = request
        self._call = call
        self._named = () if session_id is None else ((b"mcp-session-id", session_id.encode()),)

    async def send_in_session(self, *, is_stream: bool) -> None:
        """Waits for the call and sends its response; a stream starts before a long call ends.

        If the client vanishes, the call continues.
        """
        quick = self._call.ended.done() or await self._ends_within(_QUICK_SECONDS)
        if not is_stream:
            if quick or await self._ends_before_client():
                await self._send_json()
            return
        if quick:
            await self._send_whole_stream()
            return
        await self._start_stream(self._priming())
        await self._stream()

    async def send_alone(self, wants: tuple[bool, bool]) -> None:
        """Waits for the call and sends its response; a stream only if the client accepts nothing
        else, or after a long silence.

        Returns early if the client vanishes.
        """
        json, stream = wants
        if not self._call.ended.done() and not await self._ends_within(_QUICK_SECONDS):
            seconds = _PING_SECONDS if stream else None
            found = await self._ends_before_client(seconds)
            if found is None:
                await self._start_stream(_PING)
                await self._stream()
                return
            if not found:
                return
        if json:
            await self._send_json()
        else:
            await self._send_whole_stream()

    async def _ends_within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait({self._call.ended}, timeout=seconds)
        return bool(done)

    async def _ends_before_client(self, seconds: float | None = None) -> bool | None:
        """Returns whether the call ends before the client vanishes; None if neither happens."""
        leaving = asyncio.ensure_future(self._request.receive())
        try:
            waits: set[asyncio.Future[Any]] = {self._call.ended, leaving}
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
        if self._call.ended.done():
            return True
        return False if leaving.done() and not leaving.cancelled() else None

    async def _send_json(self) -> None:
        line = self._call.line
        status = 200
        if line is None:
            status, line = UNANSWERED.status, UNANSWERED.body(self._request.id)
        length = (b"content-length", b"%d" % len(line))
        await self._send(status, [_JSON, length, *self._named], line)

    async def _send_whole_stream(self) -> None:
        body = self._priming() + self._response()
        length = (b"content-length", b"%d" % len(body))
        await self._send(200, [*_STREAM, length, *self._named], body)

    async def _send(self, status: int, headers: Headers, body: bytes) -> None:
        send = self._request.watched_send
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _start_stream(self, body: bytes) -> None:
        send = self._request.watched_send
        headers = [*_STREAM, *self._named]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if body:
            await self._continue(body)

    async def _stream(self) -> None:
        """Keeps the stream open until the call ends or the client vanishes."""
        while (found := await self._ends_before_client(_PING_SECONDS)) is None:
            await self._continue(_PING)
        if found:
            await self._request.watched_send(
                {"type": "http.response.body", "body": self._response()}
            )

    async def _continue(self, body: bytes) -> None:
        await self._request.watched_send(
            {"type": "http.response.body", "body": body, "more_body": True}
        )

    def _priming(self) -> bytes:
        id_ = self._call.priming
        return b"" if id_ is None else b"id: %b\r\ndata: \r\n\r\n" % id_.encode()

    def _response(self) -> bytes:
        """Returns the event with the response; nothing if there is none."""
        call = self._call
        if call.line is None:
            return b""
        id_ = b"" if call.event is None else b"id: %b\r\n" % call.event.encode()
        return b"%bevent: message\r\ndata: %b\r\n\r\n" % (id_, call.line)
