"""Notifications of modules that their lists or documents changed, rate-limited."""

from __future__ import annotations

import time
from collections.abc import Callable

#: The most changes that are remembered, and so the most that are reported in a second.
_REMEMBERED = 100


class Changes:
    """Reports changes to a listener, at most once a second for each changed thing.

    Attributes:
        listener: called with `tools`, `prompts` or `resources`, or the URI of a document.
    """

    def __init__(self) -> None:
        self.listener: Callable[[str], None] | None = None
        self._notified: dict[str, float] = {}

    def __call__(self, what: str) -> None:
        """Calls the listener unless it was called for this just now; thread-safe."""
        now = time.monotonic()
        if self.listener is not None and now - self._notified.get(what, -1.0) >= 1.0:
            if len(self._notified) >= _REMEMBERED:
                self._notified = {kind: at for kind, at in self._notified.items() if now - at < 1.0}
            if len(self._notified) < _REMEMBERED:
                self._notified[what] = now
                self.listener(what)
