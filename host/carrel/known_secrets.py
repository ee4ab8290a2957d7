"""Remembers the secrets that this process has read, so that its log can leave them out.

Values come from the environment, from a keyring, from files and from the configuration. What reads
one calls `remember`; `carrel.server.operations.redaction` replaces them in every line.
"""

from __future__ import annotations

import threading
from typing import Final

#: The shortest value that is remembered: a shorter one would remove ordinary words.
SHORTEST: Final = 6
_MOST: Final = 1000

_lock = threading.Lock()
_known: dict[str, None] = {}


def remember(value: str | None) -> None:
    """Remembers a secret; the oldest one is forgotten when there are a thousand."""
    if value is None or len(value) < SHORTEST or value in _known:
        return
    with _lock:
        if len(_known) >= _MOST:
            del _known[next(iter(_known))]
        _known[value] = None


def known() -> tuple[str, ...]:
    """Returns the secrets that were remembered."""
    with _lock:
        return tuple(_known)
