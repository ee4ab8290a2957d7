"""Implements a circuit breaker for each provider: open for a minute after repeated failures."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Final

#: Failures in a row that open the circuit, and the seconds for which it stays open.
FAILURES: Final = 5
OPEN_SECONDS: Final = 60.0
#: The share of these seconds that is added at random, so that processes do not probe together.
JITTER: Final = 0.2
#: The longest time that a provider can ask for.
LONGEST_SECONDS: Final = 3600.0


class Circuit:
    """The state of one provider. Thread-safe.

    Closed, requests pass. After five failures in a row, or one answer with status 429, it is open:
    none passes. When the time is over, one request probes; the others wait for its outcome.

    Args:
        clock: seconds, monotonic.
        jitter: random numbers from 0 to 1.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._is_probing = False

    @property
    def wait(self) -> float:
        """Seconds until a request may pass; 0 if one may now."""
        with self._lock:
            return self._wait()

    def admit(self) -> float:
        """Lets a request pass and returns 0, or returns the seconds until one may.

        Exactly one of `succeeded`, `failed`, `limited` and `spared` must follow an admission.
        """
        with self._lock:
            wait = self._wait()
            if not wait and self._open_until is not None:
                self._is_probing = True
            return wait

    def succeeded(self) -> None:
        """Closes the circuit after an answer."""
        with self._lock:
            self._failures = 0
            self._open_until = None
            self._is_probing = False

    def failed(self) -> None:
        """Counts a failure; opens the circuit at the fifth, and after a probe."""
        with self._lock:
            self._failures += 1
            if self._is_probing or self._failures >= FAILURES:
                self._open(OPEN_SECONDS)

    def limited(self, seconds: float | None = None) -> None:
        """Opens the circuit at once, after an answer with status 429.

        Args:
            seconds: for which the provider asks; at least a minute counts.
        """
        with self._lock:
            self._open(min(max(seconds or 0.0, OPEN_SECONDS), LONGEST_SECONDS))

    def spared(self) -> None:
        """Notes an outcome that says nothing about the provider's health.

        Credits that are used up, a key that is refused, a call that was cancelled.
        """
        with self._lock:
            self._is_probing = False

    def _open(self, seconds: float) -> None:
        self._open_until = self._clock() + seconds * (1 + JITTER * self._jitter())
        self._failures = 0
        self._is_probing = False

    def _wait(self) -> float:
        if self._open_until is None:
            return 0.0
        left = self._open_until - self._clock()
        if left > 0:
            return left
        return 1.0 if self._is_probing else 0.0
