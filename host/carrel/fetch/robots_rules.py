"""Reads a `robots.txt` and decides on URLs by it (RFC 9309). Pure and linear in its input."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from .url import Target

#: The product token that groups of rules name, in lower case.
PRODUCT: Final = "carrel"
#: Bytes of a file that are read; RFC 9309 requires 500 KiB.
MAX_BYTES: Final = 500 * 1024

_LINE_END = re.compile(r"\r\n|\r|\n")
_PRODUCT = re.compile(r"[A-Za-z_-]+|\*")
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class RobotsRules:
    """The rules of a file for this software.

    The group for `carrel` applies, otherwise the one for `*`; groups for the same product are
    combined. Records other than `user-agent`, `allow` and `disallow` are ignored.

    Args:
        text: the file's; no text allows everything.
    """

    def __init__(self, text: str = "") -> None:
        rules = _rules_for(text, PRODUCT)
        if rules is None:
            rules = _rules_for(text, "*") or []
        # The longest pattern decides, and of equal ones the one that allows.
        self._rules = sorted(dict.fromkeys(rules), key=lambda rule: (-len(rule[1]), not rule[0]))
        self.size = sum(len(pattern) + 50 for _, pattern in self._rules)

    def allows(self, target: Target) -> bool:
        """Whether a URL may be fetched automatically."""
        if target.path == "/robots.txt":
            return True
        resource = _normalised(target.resource)
        return next((allow for allow, pattern in self._rules if _covers(pattern, resource)), True)


def _rules_for(text: str, product: str) -> list[tuple[bool, str]] | None:
    """Returns the rules of all groups for a product; None if there is no such group."""
    found: list[tuple[bool, str]] | None = None
    ours = in_agents = False
    for line in _LINE_END.split(text.removeprefix("\ufeff")):
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon or key not in {"user-agent", "allow", "disallow"}:
            continue
        if key == "user-agent":
            named = _PRODUCT.match(value)
            ours = (ours and in_agents) or (named is not None and named[0].lower() == product)
            in_agents = True
            if ours and found is None:
                found = []
            continue
        in_agents = False
        if ours and found is not None and value:
            found.append((key == "allow", _normalised(value)))
    return found


def _normalised(text: str) -> str:
    """Returns a path or a pattern in one spelling of its percent-encoding."""
    text = quote(text, safe="!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~")

    def spelled(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return character if character in _UNRESERVED else found[0].upper()

    return _ENCODED.sub(spelled, text)


def _covers(pattern: str, resource: str) -> bool:
    """Whether a pattern matches the beginning of a path; `*` is any text, a final `$` the end."""
    whole = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not resource.startswith(first):
        return False
    at = len(first)
    if not rest:
        return not whole or at == len(resource)
    for piece in rest[:-1]:
        at = resource.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    if whole:
        return resource.endswith(rest[-1]) and len(resource) - len(rest[-1]) >= at
    return resource.find(rest[-1], at) >= 0
