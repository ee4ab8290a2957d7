"""Limits the rate of tool calls with a token bucket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from carrel.errors import BusyError


class TooManyCallsError(BusyError):
    """The rate limit of tool calls was exceeded."""

    def __init__(self, per_second: float, wait: float) -> None:
        super().__init__(0, retry_after_seconds=round(wait, 1))
        self.message = f"more than {per_second:g} calls a second; try again in {wait:.1f} s"
        self.args = (self.message,)


class CallRateLimit:
    """A token bucket with a queue: a call that finds it empty waits for the next token.

    Args:
        per_second: tokens added each second.
        burst: capacity of the bucket.
        patience: longest wait in seconds; a call that would wait longer is refused.
        clock: monotonic time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        per_second: float,
        burst: int,
        patience: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._per_second = per_second
        self._burst = float(burst)
        self._patience = patience
        self._clock = clock
        self._sleep = sleep
        self._tokens = self._burst  # negative: the number of waiting calls
        self._filled = clock()

    def take(self) -> bool:
        """Takes a token and returns True; returns False if the bucket is empty."""
        self._fill()
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def put_back(self) -> None:
        """Returns a token that was taken but not used."""
        self._tokens = min(self._burst, self._tokens + 1.0)

    async def wait(self) -> None:
        """Waits for a token.

        Raises:
            TooManyCallsError: the wait would be longer than the patience.
        """
        self._fill()
        wait = (1.0 - self._tokens) / self._per_second
        if wait > self._patience:
            raise TooManyCallsError(self._per_second, wait)
        self._tokens -= 1.0
        if wait > 0.0:
            await self._sleep(wait)

    def _fill(self) -> None:
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._filled) * self._per_second)
        self._filled = now
