"""Reads the JSON-RPC message in a request's body.

A message that another program could read differently is refused: one with a member twice, or with
two members that differ only in case. A proxy that checks a message must see what the server does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json

from .refusals import Refused

_ENVELOPE: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
#: Members of which a message has one: it is a request, or a response of either kind.
_KINDS: Final = frozenset({"method", "result", "error"})
_DECODER: Final = json.JSONDecoder()
#: Finds the members of an object without decoding their values.
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BLANKS: Final = " \t\n\r"


def parse_message(body: bytes) -> tuple[dict[str, Any], int | str | None]:
    """Returns the message of a body, and its id; the SDK validates the rest.

    Raises:
        Refused: the body is not one JSON-RPC message.
    """
    try:
        message = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        # The parser's words hold a position and no input.
        raise Refused("not-json", message=f"the body is not JSON: {error}") from None
    if isinstance(message, list):
        raise Refused("batch")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refused("not-a-message")
    id_ = message.get("id")
    if isinstance(id_, bool) or not isinstance(id_, int | str | None):
        raise Refused("not-a-message")
    if id_ is None and "id" in message:
        raise Refused("not-a-message")
    refusal = _refusal(body, message)
    if refusal is not None:
        raise Refused(refusal, id_)
    return message, id_


def _refusal(body: bytes, message: Mapping[str, Any]) -> str | None:
    """Returns the name of the refusal of a JSON object, or None."""
    params = message.get("params", {})
    if not isinstance(params, dict):
        return "not-a-message"
    strange = message.keys() - _ENVELOPE
    if strange and any(name.lower() in _ENVELOPE for name in strange):
        return "ambiguous"
    if len(message.keys() & _KINDS) != 1 or not isinstance(message.get("method", ""), str):
        return "not-a-message"
    if "method" not in message and not _is_response(message):
        return "not-a-message"
    return "ambiguous" if _is_ambiguous(body, params) else None


def _is_response(message: Mapping[str, Any]) -> bool:
    """Returns whether the SDK accepts a response; its refusal would have the validator's words."""
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        return False
    return True


def _is_ambiguous(body: bytes, params: Mapping[str, Any]) -> bool:
    """Returns whether a member comes twice, at the top or in `params`, or in two cases there."""
    if len({name.lower() for name in params}) < len(params):
        return True
    if _is_written_plainly(body):
        return False
    members = list(_members(body.decode().strip(_BLANKS)))
    values = dict(members)
    if len(values) < len(members):
        return True
    names = [name for name, _ in _members(values["params"])] if params else []
    return len(set(names)) < len(names)


def _is_written_plainly(body: bytes) -> bool:
    """Returns whether a body is what its members give when they are written as JSON libraries do:
    each once, in their order, without escapes in names. True for nearly every client.
    """
    try:
        members = _texts(body)
        params = members.get("params")
        return _is_written(body, members) and (
            params is None or _is_written(params, _texts(params))
        )
    except ValueError:
        return False


def _texts(text: bytes) -> dict[str, bytes]:
    """Returns the members of a JSON object with the texts of their values."""
    return {name: bytes(value) for name, value in _MEMBERS.decode(text).items()}


def _is_written(text: bytes, members: Mapping[str, bytes]) -> bool:
    """Returns whether a JSON object's text has these members and nothing else."""
    for comma, colon in ((b",", b":"), (b", ", b": ")):
        before, at = b"{", 0
        for name, value in members.items():
            head = b'%b"%b"%b' % (before, name.encode(), colon)
            if not text.startswith(head, at) or not text.startswith(value, at + len(head)):
                break
            at += len(head) + len(value)
            before = comma
        else:
            return text[at:] == b"}"
    return False


def _members(text: str) -> Iterable[tuple[str, str]]:
    """Yields the members of a valid JSON object: the name, and the text of the value."""
    at = _skip(text, 1)
    while text[at] == '"':
        name, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        yield name, text[start:at]
        at = _skip(text, at)
        if text[at] == "}":
            return
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while text[at] in _BLANKS:
        at += 1
    return at
