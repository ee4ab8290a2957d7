"""How many lines a plugin may log: a bucket that its calls share.

A thousand lines a second of one plugin bury the lines of the others, fill a disk, and keep the
interpreter busy with writing them.
"""

from __future__ import annotations

import threading
import time

_BURST = 1_000.0
_PER_SECOND = 50.0


class LogAllowance:
    """A token bucket; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = _BURST
        self._filled = time.monotonic()
        self.dropped = 0

    def take(self) -> bool:
        """Whether a line may be logged; counts those that may not."""
        with self._lock:
            if self._left < 1.0:
                now = time.monotonic()
                self._left = min(_BURST, self._left + (now - self._filled) * _PER_SECOND)
                self._filled = now
                if self._left < 1.0:
                    self.dropped += 1
                    return False
            self._left -= 1.0
            return True

    def take_dropped(self) -> int:
        """How many lines were dropped since this was last asked."""
        with self._lock:
            dropped, self.dropped = self.dropped, 0
        return dropped
