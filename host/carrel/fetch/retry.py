"""When a request is repeated, after how long, and when an upstream's circuit opens.

The circuit breaker ignores 429: the pause that a `Retry-After` asks for is taken from the
upstream's token bucket, which all processes share, and callers with enough time wait for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .clock import Clock
from .token_buckets import Slot

_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 8.0

#: Seconds of the longest period that an upstream counts a budget over: a month.
_LONGEST_BUDGET = 31 * 86400.0

#: The least pause after a 429 without Retry-After.
_LEAST_AFTER_429 = 2.0


def is_retried(status: int) -> bool:
    """Whether a status may be temporary: 429 and 5xx, except those that will not change."""
    return status == 429 or (500 <= status <= 599 and status not in {501, 505})


def retry_after(headers: Iterable[tuple[str, str]], now: float, longest: float) -> float | None:
    """Returns the seconds of a Retry-After, at most `longest`; None when there is none.

    Args:
        headers: the answer's, names in any case.
        now: seconds since 1970, for the date form.
        longest: a longer pause is a mistake or an attack.
    """
    value = next((value for name, value in headers if name.lower() == "retry-after"), None)
    if value is None:
        return None
    value = value.strip()[:64]
    if value.isascii() and value.isdigit():
        return min(float(value[:9]), longest)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(max((date - datetime.fromtimestamp(now, UTC)).total_seconds(), 0.0), longest)


def budget_reset(headers: Iterable[tuple[str, str]], now: float) -> float | None:
    """Returns the seconds until a spent budget is renewed, by `x-ratelimit-remaining: 0` and
    `x-ratelimit-reset`; None when the headers do not say that a budget is spent.

    Args:
        headers: the answer's, names in any case.
        now: seconds since 1970: some upstreams send the time of the reset, others the seconds left.
    """
    found = {name.lower(): value.strip() for name, value in headers}
    try:
        remaining = float(found.get("x-ratelimit-remaining", ""))
        reset = float(found.get("x-ratelimit-reset", ""))
    except ValueError:
        return None
    # No upstream counts over more than a month, so that larger numbers are times.
    seconds = reset - now if reset > _LONGEST_BUDGET else reset
    return seconds if remaining <= 0 and 0 < seconds <= _LONGEST_BUDGET else None


def backoff(attempt: int, jitter: float, *, status: int = 0) -> float:
    """Returns the seconds before attempt number `attempt` + 1, without a Retry-After.

    Args:
        attempt: 1 after the first failure.
        jitter: a random number from 0 to 1; spreads clients that failed together.
        status: the status that failed; 0 for a broken connection.
    """
    ceiling = min(_FIRST_BACKOFF * 2.0 ** (attempt - 1), _LONGEST_BACKOFF)
    if status == 429:
        ceiling = max(ceiling, _LEAST_AFTER_429 * attempt)
    return ceiling * (0.5 + jitter / 2)


def declared_interval(headers: Iterable[tuple[str, str]]) -> float | None:
    """Returns seconds between requests by Crossref's headers (`x-rate-limit-limit: 50`,
    `x-rate-limit-interval: 1s`); None when they are missing or unusable.
    """
    found = {name.lower(): value.strip() for name, value in headers}
    limit = found.get("x-rate-limit-limit", "")
    interval = found.get("x-rate-limit-interval", "").removesuffix("s")
    for number in (limit, interval):
        if not (number.isascii() and number.isdigit() and len(number) < 9):
            return None
    if int(limit) == 0:
        return None
    return min(int(interval) / int(limit), 60.0)


#: Times that a breaker is open after which failures may be forgotten where memory is short.
_REMEMBERED = 10


class Breaker:
    """A circuit breaker: open after `failures` in a row for `seconds`, jittered; then one probe.

    Not thread-safe: for the event loop only.
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
        self._failed_at = 0.0
        self._probing = False

    @property
    def wait(self) -> float:
        """Seconds until the circuit half-opens; 0 when closed or half-open."""
        if self._failures < self._limit:
            return 0.0
        return max(0.0, self._open_until - self._clock.monotonic())

    @property
    def failures(self) -> int:
        """Failures in a row."""
        return self._failures

    @property
    def is_forgettable(self) -> bool:
        """Whether a new breaker may take its place: not open, and without a recent failure."""
        if self._probing or self.wait:
            return False
        forgotten = self._failed_at + _REMEMBERED * self._seconds
        return self._failures == 0 or self._clock.monotonic() >= forgotten

    def admit(self) -> float:
        """Returns 0 when a request may go, otherwise the seconds until one may.

        When half-open, the first caller is the probe and must report its outcome.
        """
        wait = self.wait
        if wait > 0 or self._failures < self._limit:
            return wait
        if self._probing:
            return 1.0
        self._probing = True
        return 0.0

    def succeeded(self) -> None:
        """Closes the circuit: the upstream responded."""
        self._failures = 0
        self._probing = False

    async def consult(self, _slot: Slot) -> float:
        """Returns the seconds to wait by what other processes say; 0 if they say nothing."""
        return 0.0

    def failed(self) -> float:
        """Counts a failure: a broken connection, no response, or a server error.

        Returns:
            The seconds for which the circuit opens, if this failure is one too many.
        """
        self._failures += 1
        self._failed_at = self._clock.monotonic()
        self._probing = False
        seconds = self._seconds * (0.8 + 0.4 * self._jitter())
        if self._failures >= self._limit:
            self._open_until = self._clock.monotonic() + seconds
        return seconds

    def abandoned(self) -> None:
        """Ends a probe without an outcome: the request ended for a reason of ours."""
        self._probing = False
