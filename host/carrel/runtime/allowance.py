"""Limits how many lines a plugin may log, with a token bucket that its calls share.

A thousand lines a second from one plugin would hide the lines of others, fill the disk, and keep
the interpreter busy.
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
        """Takes a token; returns whether there was one. Counts dropped lines."""
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
        """Returns the number of lines dropped since the last call."""
        with self._lock:
            dropped, self.dropped = self.dropped, 0
        return dropped
