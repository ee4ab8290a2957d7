"""Removes secrets from log lines.

Carrel writes no secret into a line. This is the second defence, for lines of libraries, of plugins,
and for tracebacks: the values of known secrets, and everything with the form of a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

REMOVED: Final = "[redacted]"

#: The shortest value that is searched for: a shorter one would remove ordinary words.
_SHORTEST: Final = 6
#: Names of variables whose value is a secret.
_NAMES: Final = re.compile(
    r"CARREL_SECRET_|_(?:API_KEY|TOKEN|SECRET|SECRET_KEY|PASSWORD|PASSPHRASE)$|"
    r"^OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS$|^COSIGN_PASSWORD$"
)
_FORMS: Final = re.compile(
    r"(?i:\b(bearer|basic|dpop)\s+)[A-Za-z0-9._~+/=-]{6,}"
    r"|\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*){0,3}"
    r"|(?i:([?&;\s\"'](?:api[_-]?key|access[_-]?token|token|client[_-]?secret|password|secret"
    r"|authorization|mailto|email)\"?\s?[=:]\s?\"?))[^\s&;\"',)}\]]{3,}"
    r"|((?i:rediss?|https?)://[^\s/:@]*:)[^\s/@]+(?=@)"
)


class LogRedactor:
    """Replaces secrets by a mark.

    Args:
        values: the known secrets; short ones are left out.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = sorted({one for one in values if len(one) >= _SHORTEST}, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def __call__(self, text: str) -> str:
        """Returns the text without secrets."""
        if self._known is not None:
            text = self._known.sub(REMOVED, text)
        return _FORMS.sub(_kept, text)


def _kept(found: re.Match[str]) -> str:
    """Returns what names the secret, and the mark."""
    scheme, member, place = found.groups()
    return f"{f'{scheme} ' if scheme else member or place or ''}{REMOVED}"


def secrets_in(env: Mapping[str, str]) -> list[str]:
    """Returns the values of secrets in the environment, and their parts that are lists."""
    found = []
    for name, value in env.items():
        if _NAMES.search(name) and value.strip():
            found += [value.strip(), *(one.partition("=")[2] for one in value.split(","))]
    return found
