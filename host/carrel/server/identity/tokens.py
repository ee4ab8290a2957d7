"""Parses the compact form of a signed JWT, strictly; verifies nothing.

Stricter than RFC 7515 in what has been used to deceive verifiers: padding, duplicate members,
headers that bring or locate a key, critical extensions, and encrypted or nested tokens are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

#: Characters of the longest token that is read; tokens of large providers have about 2,000.
MAX_TOKEN: Final = 16_384

_COMPACT: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
#: Members that bring or locate a key, or change how the token is read.
_REFUSED: Final = ("crit", "b64", "zip", "enc", "jwk", "jku", "x5c", "x5u", "cty")
#: Values of `typ`, in lower case, for access tokens; other kinds of tokens have others.
_TYPES: Final = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
_MAX_KID: Final = 256


class TokenError(Exception):
    """A token is refused.

    Attributes:
        reason: for the log; quotes nothing of the token.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class UnverifiedToken:
    """A token whose signature and claims are not verified.

    Attributes:
        text: the compact form.
        alg: the algorithm that it names.
        kid: the name of its key, if it has one.
        payload: the bytes that are signed.
    """

    text: str
    alg: str
    kid: str | None
    payload: bytes


def parse_token(text: str) -> UnverifiedToken:
    """Parses a token.

    Raises:
        TokenError: it is not a signed JWT, or has a header that is refused.
    """
    if len(text) > MAX_TOKEN:
        raise TokenError(f"the token has more than {MAX_TOKEN:,} characters")
    parts = _COMPACT.fullmatch(text)
    if parts is None:
        raise TokenError("the token is not a signed JWT of three parts")
    header = read_object(_decoded(parts[1], "header"), "header")
    payload = _decoded(parts[2], "payload")
    _decoded(parts[3], "signature")
    refused = [name for name in _REFUSED if name in header]
    if refused:
        raise TokenError(f"the token's header has {refused[0]!r}")
    alg, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(alg, str):
        raise TokenError("the token's header has no alg")
    if not isinstance(kid, str | None) or (kid is not None and len(kid) > _MAX_KID):
        raise TokenError("the token's kid is not a short text")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise TokenError("the token's typ is not that of an access token")
    return UnverifiedToken(text, alg, kid, payload)


def read_object(data: bytes, what: str) -> dict[str, Any]:
    """Reads a JSON object without duplicate members.

    Raises:
        TokenError: it is not one.
    """
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except (ValueError, RecursionError):  # a UnicodeDecodeError is a ValueError
        raise TokenError(f"the token's {what} is not JSON with unique members") from None
    if not isinstance(value, dict):
        raise TokenError(f"the token's {what} is not a JSON object")
    return value


def _decoded(part: str, what: str) -> bytes:
    """Decodes base64url without padding; only the canonical spelling is accepted."""
    try:
        data = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise TokenError(f"the token's {what} is not base64url") from None
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != part:
        raise TokenError(f"the token's {what} is not canonical base64url")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate member")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(text)
