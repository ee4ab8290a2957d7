"""Strict parsing of untrusted data: no duplicates, no unknown members, canonical encodings."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any, NoReturn

#: Deeper JSON is refused; documents of signatures are six levels deep.
MAX_DEPTH = 32
#: Bytes of one signature's document: a bundle, a manifest, a payload.
MAX_DOCUMENT_BYTES = 1 << 20


class RefusedError(Exception):
    """A signature is refused; the text has the reason for a person."""


def json_object(data: bytes, what: str) -> dict[str, Any]:
    """Parses a JSON object.

    Raises:
        RefusedError: too large, too deep, not JSON in UTF-8, a duplicate member, or no object.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise RefusedError(f"{what} is larger than {MAX_DOCUMENT_BYTES} bytes")
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except RecursionError:
        raise RefusedError(f"{what} is nested too deeply") from None
    except ValueError as error:
        raise RefusedError(f"{what} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RefusedError(f"{what} is not a JSON object")
    _check_depth(value, what)
    return value


def members(
    value: object, what: str, *, required: Iterable[str] = (), optional: Iterable[str] = ()
) -> dict[str, Any]:
    """Returns `value` if it is an object with all `required` members and only `optional` others."""
    if not isinstance(value, dict):
        raise RefusedError(f"{what} is not an object")
    required = tuple(required)
    for name in required:
        if name not in value:
            raise RefusedError(f"{what} has no {name!r}")
    unknown = sorted(set(value) - set(required) - set(optional))
    if unknown:
        raise RefusedError(f"{what} has an unknown member {unknown[0]!r}")
    return value


def text(value: object, what: str) -> str:
    """Returns `value` if it is a string without lone surrogates."""
    if not isinstance(value, str):
        raise RefusedError(f"{what} is not a string")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise RefusedError(f"{what} holds half a character") from None
    return value


def items(value: object, what: str, limit: int) -> list[Any]:
    """Returns `value` if it is an array of at most `limit` items."""
    if not isinstance(value, list):
        raise RefusedError(f"{what} is not an array")
    if len(value) > limit:
        raise RefusedError(f"{what} has more than {limit} items")
    return value


def base64_bytes(value: object, what: str) -> bytes:
    """Decodes base64 of RFC 4648: padded, without line breaks.

    Equal bytes have one encoding, so that a signature cannot be re-encoded without its key.
    """
    spelled = text(value, what)
    try:
        data = base64.b64decode(spelled, validate=True)
    except (binascii.Error, ValueError):
        raise RefusedError(f"{what} is not base64") from None
    if base64.b64encode(data).decode("ascii") != spelled:
        raise RefusedError(f"{what} is not canonical base64")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is named twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _check_depth(value: object, what: str) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            below
            for node in level
            if isinstance(node, (dict, list))
            for below in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    raise RefusedError(f"{what} is nested deeper than {MAX_DEPTH}")
