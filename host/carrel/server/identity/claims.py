"""Checks the claims of a verified token: issuer, audience, times, subject, scopes (RFC 9068)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from carrel.principal import LOCAL

from .tokens import TokenError

#: A subject names folders and log lines: printable ASCII without blanks, as OpenID Connect has it.
_SUBJECT: Final = re.compile(r"[!-~]{1,255}")
#: RFC 6749, section 3.3.
_SCOPE: Final = re.compile(r"[!#-\[\]-~]{1,256}")
_MAX_ITEMS: Final = 100


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a token that was accepted.

    Attributes:
        subject: who it is about.
        scopes: what it permits.
        begins: seconds since 1970 from which it is valid.
        expires: seconds since 1970 from which it is not valid any more.
    """

    subject: str
    scopes: frozenset[str]
    begins: float
    expires: float

    def check_time(self, now: float, leeway: float) -> None:
        """Checks the times.

        Raises:
            TokenError: the token is not valid now.
        """
        if now >= self.expires + leeway:
            raise TokenError("the token has expired")
        if now < self.begins - leeway:
            raise TokenError("the token is not valid yet")


def read_claims(
    claims: Mapping[str, Any], *, issuer: str | None, audiences: Collection[str]
) -> Claims:
    """Checks every claim but the times.

    Args:
        claims: of a token whose signature was verified.
        issuer: that must have issued it; any if None, which is for tokens of an operator's secret.
        audiences: one of them must be the token's.

    Raises:
        TokenError: one does not fit.
    """
    if issuer is not None and claims.get("iss") != issuer:
        raise TokenError(f"the token's issuer is another; expected {issuer}")
    audience = claims.get("aud")
    aud = [audience] if isinstance(audience, str) else audience
    if not isinstance(aud, list) or not 0 < len(aud) <= _MAX_ITEMS:
        raise TokenError("the token has no audience")
    if not all(isinstance(name, str) for name in aud) or audiences_of(aud).isdisjoint(audiences):
        expected = " or ".join(sorted(audiences))
        raise TokenError(f"the token is for another audience; expected {expected}")
    if "cnf" in claims:
        raise TokenError("the token is bound to a key, which is not supported")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
        raise TokenError("the token's sub is missing or not printable ASCII")
    if subject == LOCAL.name:
        raise TokenError("the token's sub is the name of the local user")
    expires = _time(claims, "exp")
    if expires is None:
        raise TokenError("the token has no exp")
    begins = max(_time(claims, "nbf") or 0.0, _time(claims, "iat") or 0.0)
    return Claims(subject, _scopes(claims), begins, expires)


def audiences_of(names: Collection[str]) -> frozenset[str]:
    """Returns audiences as they are compared: a URL without a path has no trailing slash."""
    return frozenset(name.removesuffix("/") if "://" in name else name for name in names)


def _time(claims: Mapping[str, Any], name: str) -> float | None:
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenError(f"the token's {name} is not a number")
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not 0 <= seconds < 2**53:
        raise TokenError(f"the token's {name} is out of range")
    return seconds


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    """Returns the scopes of `scope`, a text, and of `scp`, a text or a list."""
    found: list[str] = []
    for name in ("scope", "scp"):
        value = claims.get(name, [])
        items = value.split(" ") if isinstance(value, str) else value
        is_text = isinstance(items, list) and all(isinstance(item, str) for item in items)
        if not is_text or (name == "scope" and not isinstance(claims.get(name, ""), str)):
            raise TokenError(f"the token's {name} is not a list of scopes")
        found += [scope for scope in items if scope]
    if len(found) > _MAX_ITEMS or not all(_SCOPE.fullmatch(scope) for scope in found):
        raise TokenError("the token's scopes are too many or malformed")
    return frozenset(found)
