"""Parses a registry's challenge: the `WWW-Authenticate` header of a 401."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCHEME = re.compile(r"\s*,?\s*([A-Za-z][A-Za-z0-9-]*)(?=\s|$|,)\s*")
_PARAMETER = re.compile(
    r'([A-Za-z][A-Za-z0-9_-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))\s*,?\s*'
)

#: A header longer than this is no challenge.
_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class Challenge:
    """One challenge.

    Attributes:
        scheme: `bearer` or `basic`.
        realm: for bearer, where to get a token; untrusted.
        service: for bearer, what the token is for.
    """

    scheme: str
    realm: str = ""
    service: str = ""


def read_challenge(header: str) -> Challenge | None:
    """Returns the challenge to answer: Bearer before Basic; None when neither is offered."""
    found = {challenge.scheme: challenge for challenge in reversed(_challenges(header[:_LONGEST]))}
    bearer = found.get("bearer")
    if bearer is not None and bearer.realm:
        return bearer
    return found.get("basic")


def _challenges(header: str) -> list[Challenge]:
    challenges: list[Challenge] = []
    at = 0
    while (scheme := _SCHEME.match(header, at)) is not None:
        at = scheme.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(header, at)) is not None:
            quoted = parameter[2]
            value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else parameter[3]
            parameters.setdefault(parameter[1].lower(), value)
            at = parameter.end()
        challenges.append(
            Challenge(scheme[1].lower(), parameters.get("realm", ""), parameters.get("service", ""))
        )
    return challenges
