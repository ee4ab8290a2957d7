"""A circuit breaker: an upstream that keeps failing is left alone for a while.

A 429 does not open it. The pause that a `Retry-After` asks for is taken from the upstream's token
bucket instead, where it binds every process, and where a caller with time left waits rather than
fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from .clock import Clock


class Breaker:
    """Closed; open after `failures` in a row, for `seconds` and some jitter; then one probe.

    Not thread-safe: it lives on the event loop.
    """

    def __init__(
        self,
        failures: int,
        seconds: float,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._limit = failures
        self._seconds = seconds
        self._clock = clock
        self._jitter = jitter
        self._failures = 0
        self._open_until = 0.0
        self._probing = False

    @property
    def wait(self) -> float:
        """Seconds for which no request goes through; 0 when closed or half-open."""
        if self._failures < self._limit:
            return 0.0
        return max(0.0, self._open_until - self._clock.monotonic())

    def admit(self) -> float:
        """0 when a request may go, else the seconds after which one may.

        In the half-open state the first caller is the probe; it must report how it went.
        """
        wait = self.wait
        if wait > 0 or self._failures < self._limit:
            return wait
        if self._probing:
            return 1.0
        self._probing = True
        return 0.0

    def succeeded(self) -> None:
        """The upstream answered."""
        self._failures = 0
        self._probing = False

    def failed(self) -> None:
        """The upstream broke the connection, stayed silent, or failed inside."""
        self._failures += 1
        self._probing = False
        if self._failures >= self._limit:
            spread = 0.8 + 0.4 * self._jitter()
            self._open_until = self._clock.monotonic() + self._seconds * spread

    def abandoned(self) -> None:
        """The request ended for a reason of ours; nothing is known about the upstream."""
        self._probing = False
