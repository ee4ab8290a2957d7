"""Limits how many guests of one principal compute at once, in all components.

While every processor runs a guest, each thread that wakes up waits for milliseconds, and a call
wakes up several. So the guests of one principal leave processors to others. They are kept from
starting, not from running: threads that take turns at a processor delay others as much.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Protocol

from carrel.principal import share_of


class Dispatching(Protocol):
    """Threads of one component, with jobs that wait."""

    def dispatch(self) -> None:
        """Starts jobs that may run."""


class PrincipalShares:
    """Counts the computing guests of each principal. Thread-safe.

    A component that is refused is called when a guest of the principal ends or waits for an
    upstream, in the order of the refusals.

    Args:
        processors: of which a principal gets its share.
    """

    def __init__(self, processors: int) -> None:
        self._most = share_of(processors)
        self._lock = threading.Lock()
        self._computing: Counter[str] = Counter()
        #: The components that were refused, in order; the values mean nothing.
        self._refused: dict[str, dict[Dispatching, None]] = {}

    def start(self, owner: str, threads: Dispatching) -> bool:
        """Counts one more guest if the principal's share allows it; returns whether it did.

        The local user, "", has no share.
        """
        if not owner:
            return True
        with self._lock:
            if self._computing[owner] >= self._most:
                self._refused.setdefault(owner, {})[threads] = None
                return False
            self._computing[owner] += 1
            return True

    def resume(self, owner: str) -> None:
        """Counts a guest that already runs."""
        if owner:
            with self._lock:
                self._computing[owner] += 1

    def stop(self, owner: str) -> list[Dispatching]:
        """Counts one guest less; returns the components whose `dispatch` must be called next."""
        if not owner:
            return []
        with self._lock:
            self._computing[owner] -= 1
            if not self._computing[owner]:
                del self._computing[owner]
            return list(self._refused.pop(owner, ()))
