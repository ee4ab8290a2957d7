"""Limits each principal: calls a second, requests in flight, sessions, calls a day."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from carrel.awaiting import run_in_thread
from carrel.config import IdentityConfig
from carrel.errors import BusyError
from carrel.principal import LOCAL, Principal
from carrel.server.rate_limit import CallRateLimit

from .clock import SteadyClock

_DAY: Final = 86_400
#: Principals whose rate is remembered; a bucket that is forgotten is a full one.
_REMEMBERED: Final = 10_000
#: Calls of the day that are counted at once, each in a thread; a store that hangs holds no more.
_COUNTING: Final = 32


class Counters(Protocol):
    """The part of `carrel.state.KeyValueStore` that is used."""

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        """Returns the new count, or None if it would exceed the limit."""
        ...

    def clock(self) -> float | None:
        """Returns seconds since 1970 by the clock that all servers share; None if there is none."""
        ...


class BudgetSpentError(BusyError):
    """A principal has made all its calls of the day."""

    def __init__(self, limit: int, wait: float) -> None:
        super().__init__(limit, retry_after_seconds=round(wait))
        self.message = (
            f"all {limit:,} calls of this day were made; further ones from 00:00 UTC, "
            f"in {wait / 3600:.1f} h"
        )
        self.args = (self.message,)


class Allowances:
    """The limits of all principals. Used on one event loop.

    Args:
        settings: the limits of each principal.
        patience: longest wait in seconds for the rate limit.
        counters: keeps the calls of the day; needed if they are limited.
        clock: seconds since 1970, where the counters have no clock.
        monotonic: seconds that never go back.
    """

    def __init__(
        self,
        settings: IdentityConfig,
        patience: float,
        *,
        counters: Counters | None = None,
        clock: Callable[[], float] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._patience = patience
        self._counters = counters
        self._clock = clock or SteadyClock()
        self._monotonic = monotonic
        self._paces: OrderedDict[str, CallRateLimit] = OrderedDict()
        #: Principal, and whether of resumed streams → those that are served.
        self._in_flight: Counter[tuple[str, bool]] = Counter()
        self._counting = asyncio.Semaphore(_COUNTING)

    @property
    def max_sessions(self) -> int:
        """Open sessions of one principal."""
        return self._settings.max_sessions

    def is_full(self, principal: Principal, *, resumed: bool = False) -> bool:
        """Returns whether the principal's requests in flight are as many as they may be.

        Resumed streams are counted apart: after a network failure they come for all the requests
        whose calls still run.
        """
        most = self._settings.max_in_flight
        return principal is not LOCAL and self._in_flight[principal.name, resumed] >= most

    @contextmanager
    def in_flight(self, principal: Principal, *, resumed: bool = False) -> Iterator[None]:
        """Counts a request of a principal during the block."""
        key = principal.name, resumed
        self._in_flight[key] += 1
        try:
            yield
        finally:
            self._in_flight[key] -= 1
            if not self._in_flight[key]:
                del self._in_flight[key]

    def take(self, principal: Principal) -> bool:
        """Takes a call of the rate without waiting; returns False if `wait` must be used."""
        if principal is LOCAL:
            return True
        return self._settings.calls_per_day is None and self._pace(principal.name).take()

    def put_back(self, principal: Principal) -> None:
        """Returns a call that `take` took and that was not made."""
        if principal is not LOCAL:
            self._pace(principal.name).put_back()

    async def wait(self, principal: Principal) -> None:
        """Waits until the principal may make a call, and counts the call.

        Raises:
            BusyError: the wait would be too long, or the calls of the day are spent.
            CarrelError: the calls of the day cannot be counted, so the call is refused.
        """
        if principal is LOCAL:
            return
        await self._pace(principal.name).wait()
        limit = self._settings.calls_per_day
        if limit is None or self._counters is None:
            return
        # In a thread, because it waits for a file or a server.
        async with self._counting:
            await run_in_thread(self._count, self._counters, principal, limit)

    def _count(self, counters: Counters, principal: Principal, limit: int) -> None:
        """Counts a call of the day, which is the same for all servers that share the counters."""
        now = counters.clock()
        day, passed = divmod(int(self._clock() if now is None else now), _DAY)
        # The name is last, because it may have any character.
        key = f"calls:{day}:{principal.name}"
        if counters.increment(key, 1, limit=limit, seconds=2 * _DAY) is None:
            raise BudgetSpentError(limit, _DAY - passed)

    def _pace(self, name: str) -> CallRateLimit:
        if name not in self._paces:
            self._paces[name] = CallRateLimit(
                self._settings.calls_per_second,
                self._settings.burst,
                self._patience,
                clock=self._monotonic,
            )
            if len(self._paces) > _REMEMBERED:
                self._paces.popitem(last=False)
        self._paces.move_to_end(name)
        return self._paces[name]
