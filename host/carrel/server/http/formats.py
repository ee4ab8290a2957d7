"""Answers with JSON or with an event stream, as the request's `Accept` header asks.

The SDK requires clients to accept both. A client that accepts one gets that one: the stream's
response alone as JSON, or the JSON as a stream of one event.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from pydantic_core import from_json

from carrel.text.printable import escaped_json

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

#: The header that the SDK gets in place of the client's.
BOTH: Final = b"application/json, text/event-stream"
_JSON: Final = b"application/json"
_STREAM: Final = b"text/event-stream"
_DATA: Final = b"data: "


def accepted(header: bytes | None) -> tuple[bool, bool]:
    """Returns whether a client accepts JSON, and whether it accepts event streams."""
    kinds = set()
    for part in (header or b"*/*").lower().split(b","):
        kind, _, parameters = part.partition(b";")
        if b"".join(parameters.split()) not in {b"q=0", b"q=0.0"}:
            kinds.add(kind.strip())
    json = kinds & {b"*/*", b"application/*", _JSON}
    stream = kinds & {b"*/*", b"text/*", _STREAM}
    return bool(json), bool(stream)


def with_accept(headers: Headers, value: bytes) -> Headers:
    """Returns the headers with another `Accept`."""
    return [
        *((name, current) for name, current in headers if name != b"accept"),
        (b"accept", value),
    ]


def _is(start: Message, kind: bytes) -> bool:
    return any(
        name.lower() == b"content-type" and value.lower().startswith(kind)
        for name, value in start.get("headers", ())
    )


def _with_kind(headers: Headers, kind: bytes) -> Headers:
    dropped = {b"content-type", b"content-length", b"x-accel-buffering"}
    return [
        *(header for header in headers if header[0].lower() not in dropped),
        (b"content-type", kind),
    ]


class ResponseOnly:
    """Sends the response of an event stream as JSON; notifications are dropped.

    Args:
        send: the connection's.
        unanswered: the body if the stream ends without a response.
    """

    def __init__(self, send: Send, unanswered: bytes) -> None:
        self._send = send
        self._unanswered = unanswered
        self._start: Message | None = None
        self._held = b""
        self._done = False

    async def __call__(self, message: Message) -> None:
        """Sends, holds or drops a message of the SDK."""
        if message["type"] == "http.response.start" and _is(message, _STREAM):
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        if self._done:
            return
        self._held = (self._held + message.get("body", b"")).replace(b"\r\n", b"\n")
        *events, self._held = self._held.split(b"\n\n")
        for event in events:
            data = b"\n".join(
                line[5:].removeprefix(b" ")
                for line in event.split(b"\n")
                if line.startswith(b"data:")
            )
            if data and "method" not in from_json(data):
                await self._finish(200, data)
                return
        if not message.get("more_body", False):
            await self._finish(500, self._unanswered)

    async def _finish(self, status: int, body: bytes) -> None:
        assert self._start is not None
        self._done = True
        headers = _with_kind(self._start["headers"], _JSON)
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({**self._start, "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


class OneEvent:
    """Sends a successful JSON response as an event stream."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """Sends or holds a message of the SDK."""
        if message["type"] == "http.response.start":
            if message["status"] == 200 and _is(message, _JSON):
                self._start = message
                return
        elif self._start is not None:
            self._body += message.get("body", b"")
            if message.get("more_body", False):
                return
            body = b"event: message\r\ndata: " + self._body + b"\r\n\r\n"
            headers = _with_kind(self._start["headers"], _STREAM)
            await self._send({**self._start, "headers": headers})
            message = {"type": "http.response.body", "body": body, "more_body": False}
        await self._send(message)


class Escaped:
    """Escapes hidden characters in an event stream: the SDK writes the messages of sessions with
    them, and the fast path without.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_stream = False

    async def __call__(self, message: Message) -> None:
        """Sends a message of the SDK."""
        if message["type"] == "http.response.start":
            self._is_stream = _is(message, _STREAM)
        elif self._is_stream:
            body = message.get("body", b"")
            if not body.isascii() or b"\x7f" in body:
                lines = [_escaped_line(line) for line in body.split(b"\r\n")]
                message = {**message, "body": b"\r\n".join(lines)}
        await self._send(message)


def _escaped_line(line: bytes) -> bytes:
    return _DATA + escaped_json(line[len(_DATA) :]) if line.startswith(_DATA) else line
