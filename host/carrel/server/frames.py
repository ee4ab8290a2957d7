"""Parses and writes JSON-RPC messages, one per line.

An invalid line becomes a `Rejection` with the reason; no input raises an exception.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from carrel.text.printable import escaped_json

#: Bytes that are kept of a line that is too long, to find its id for the error.
_HEAD_BYTES: Final = 1024
_TAIL_BYTES: Final = 256

_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,128}")'
#: An id before any nested object, so it belongs to the message.
_LEADING_ID: Final = re.compile(
    rb'\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*' + _ID + rb"\s*,"
)
#: An id directly before the last closing bracket, so it belongs to the message.
_TRAILING_ID: Final = re.compile(rb"[{,]\s*" + _ID + rb"\s*\}\s*$")


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the limit; only its id was read, if it was found."""

    id: RequestId | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """The JSON-RPC error that answers an invalid message.

    Attributes:
        id: of the request; None if the message has none, or if the id belongs to another request.
    """

    code: int
    message: str
    id: RequestId | None = None
    data: Any = None


class RawJson:
    """JSON text in UTF-8 that is written into a result unchanged.

    It must not contain hidden characters; its creator escapes them.
    """

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        # JSON text can contain line breaks only between tokens; they would end the frame.
        if b"\n" in text or b"\r" in text:
            text = text.replace(b"\n", b" ").replace(b"\r", b" ")
        self.text = text


class LineCutter:
    """Splits a stream of chunks into lines; buffers at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._head: bytes | None = None  # of the line being skipped
        self._tail = b""

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """Returns the lines that end in `chunk`, without their line feeds."""
        pieces = chunk.split(b"\n")
        rest = pieces.pop()
        lines = [self._line(piece) for piece in pieces]
        if rest:
            self._hold(rest)
        return lines

    def finish(self) -> bytes | TooLong | None:
        """Returns what came after the last line feed, at the end of the stream."""
        return self._line(b"") if self._held or self._head is not None else None

    def _line(self, piece: bytes) -> bytes | TooLong:
        if not self._held and self._head is None and len(piece) <= self._limit:
            return piece
        self._hold(piece)
        line: bytes | TooLong
        if self._head is None:
            line = bytes(self._held)
            self._held.clear()
        else:
            line = TooLong(_find_id(self._head, self._tail))
            self._head, self._tail = None, b""
        return line

    def _hold(self, piece: bytes) -> None:
        if self._head is None:
            self._held += piece
            if len(self._held) > self._limit:
                self._head, self._tail = (
                    bytes(self._held[:_HEAD_BYTES]),
                    bytes(self._held[-_TAIL_BYTES:]),
                )
                self._held = bytearray()
        else:
            self._tail = (self._tail + piece[-_TAIL_BYTES:])[-_TAIL_BYTES:]


def _find_id(head: bytes, tail: bytes) -> RequestId | None:
    found = _LEADING_ID.match(head) or _TRAILING_ID.search(tail)
    if found is None:
        return None
    try:
        value = json.loads(found[1])
    except ValueError:
        return None
    return value if isinstance(value, int | str) else None


def parse(line: bytes) -> Any:
    """Returns the JSON value of a line, or a `Rejection`. Nesting is bounded by the parser, at
    200.
    """
    try:
        return from_json(line, allow_inf_nan=False)
    except ValueError as error:
        # The parser's words hold a position and no input.
        return Rejection(PARSE_ERROR, f"the line is not JSON: {error}")


def classify(value: Any) -> JSONRPCMessage | Rejection | None:
    """Converts a JSON value to a message; returns None for an invalid response."""
    if not isinstance(value, dict):
        return Rejection(INVALID_REQUEST, "a message is a JSON object")
    method, id_ = value.get("method"), value.get("id")
    if method is None and ("result" in value or "error" in value):
        return _classify_answer(value)
    known_id = id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None
    if value.get("jsonrpc") != "2.0":
        return Rejection(INVALID_REQUEST, 'a message has "jsonrpc": "2.0"', known_id)
    if not isinstance(method, str):
        return Rejection(INVALID_REQUEST, "a request has a method, a string", known_id)
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        if "id" not in value:
            return None  # a notification is never answered, even if it is invalid
        return Rejection(INVALID_PARAMS, "params is a JSON object", known_id)
    if "id" not in value:
        return JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
    if known_id is None:
        return Rejection(INVALID_REQUEST, "an id is a string or an integer")
    return JSONRPCRequest(jsonrpc="2.0", id=known_id, method=method, params=params)


def _classify_answer(value: dict[str, Any]) -> JSONRPCMessage | None:
    """Returns a client's response to a request of the server; None for an invalid one, which is
    dropped.
    """
    try:
        if "error" in value:
            return JSONRPCError.model_validate(value)
        return JSONRPCResponse.model_validate(value)
    except ValidationError:
        return None


def encode(message: JSONRPCMessage) -> bytes:
    """Returns the line for a message, without its line feed."""
    if isinstance(message, JSONRPCResponse):
        return encode_response(message.id, message.result)
    body = message.model_dump(mode="python", by_alias=True, exclude_unset=True)
    return _dump(body)


def encode_response(id_: RequestId, result: dict[str, Any]) -> bytes:
    """Returns the line for a result; writes each `RawJson` member unchanged."""
    raw = {key: value for key, value in result.items() if isinstance(value, RawJson)}
    if not raw:
        return _dump({"jsonrpc": "2.0", "id": id_, "result": result})
    rest = {key: value for key, value in result.items() if key not in raw}
    parts = [_dump({"jsonrpc": "2.0", "id": id_, "result": rest})[:-2]]
    for key, value in raw.items():
        parts += [b"," if rest or len(parts) > 1 else b"", b'"', key.encode(), b'":', value.text]
    return b"".join((*parts, b"}}"))


def encode_rejection(rejection: Rejection, *, null_id: bool) -> bytes:
    """Returns the line for a rejection.

    Args:
        rejection: what was refused and why.
        null_id: whether to write an unknown id as null, as JSON-RPC requires, or to omit it, as
            MCP's schema requires since 2025-11-25.
    """
    error: dict[str, Any] = {"code": rejection.code, "message": rejection.message}
    if rejection.data is not None:
        error["data"] = rejection.data
    if rejection.id is None and not null_id:
        return _dump({"jsonrpc": "2.0", "error": error})
    return _dump({"jsonrpc": "2.0", "id": rejection.id, "error": error})


def raw_json(value: Any) -> RawJson:
    """Encodes a value as JSON for a line."""
    return RawJson(_dump(value))


def _dump(value: Any) -> bytes:
    try:
        return escaped_json(to_json(value, inf_nan_mode="null"))
    except PydanticSerializationError:
        # A lone surrogate, which UTF-8 cannot encode, is written as a JSON escape.
        return json.dumps(value, separators=(",", ":"), default=str).encode()
