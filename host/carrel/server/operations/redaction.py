"""Removes secrets from log lines.

Carrel writes no secret into a line. This is the second defence, for lines of libraries, of plugins,
and for tracebacks: the values of known secrets, and everything with the form of a credential.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

from carrel.known_secrets import SHORTEST, known

REMOVED: Final = "[redacted]"

#: Names of variables whose value is a secret.
_NAMES: Final = re.compile(
    r"CARREL_SECRET_|_(?:API_KEY|TOKEN|SECRET|SECRET_KEY|PASSWORD|PASSPHRASE)$|"
    r"^OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS$|^COSIGN_PASSWORD$"
)
_FORMS: Final = re.compile(
    r"(?i:\b(bearer|basic|dpop|digest|negotiate)\s+)[A-Za-z0-9._~+/=-]{6,}"
    r"|\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,3}"
    # A member, parameter or header whose name says that its value is a secret. `Bearer` and its
    # like stay: what is behind them goes by the first form.
    r"|(?i:(?<![^?&;\s\"'])((?:api[_-]?key|access[_-]?token|token|client[_-]?secret|password"
    r"|secret|authorization|mailto|email|x-(?:[a-z]+-)*(?:api-?key|key|token|secret))"
    r"[\"']?\s?[=:]\s?[\"']?)(?!(?:bearer|basic|dpop|digest|negotiate)\s))"
    r"[^\s&;\"',)}\]]{3,}"
    r"|(?i:\b((?:set-)?cookie[\"']?\s?:\s?[\"']?))[^\"'\r\n]{3,}"
    r"|((?i:rediss?|https?)://[^\s/:@]*:)[^\s/]+(?=@)"
)


class LogRedactor:
    """Replaces secrets by a mark: those that the process has read, and what looks like one.

    Args:
        values: further secrets; short ones are left out.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = tuple(values)
        self._seen: tuple[str, ...] | None = None
        self._pattern: re.Pattern[str] | None = None

    def __call__(self, text: str) -> str:
        """Returns the text without secrets."""
        found = known()
        if found != self._seen:
            self._pattern, self._seen = _pattern((*self._values, *found)), found
        if self._pattern is not None:
            text = self._pattern.sub(REMOVED, text)
        return _FORMS.sub(_replacement, text)


def _pattern(values: Iterable[str]) -> re.Pattern[str] | None:
    """Returns a pattern that finds the values as they are, in a URL, in JSON and in a traceback."""
    spelled: set[str] = set()
    for value in values:
        if len(value) >= SHORTEST:
            in_url = quote(value, safe=""), quote_plus(value)
            spelled |= {value, *in_url, json.dumps(value)[1:-1], repr(value)[1:-1]}
    ordered = sorted(spelled, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def _replacement(match: re.Match[str]) -> str:
    """Returns what a match has before the secret, followed by the mark."""
    scheme, *prefixes = match.groups()
    return f"{f'{scheme} ' if scheme else next(filter(None, prefixes), '')}{REMOVED}"


def secrets_in(env: Mapping[str, str]) -> list[str]:
    """Returns the values of secrets in the environment, and their parts that are lists."""
    found = []
    for name, value in env.items():
        if _NAMES.search(name) and value.strip():
            found += [value.strip(), *(part.partition("=")[2] for part in value.split(","))]
    return found
