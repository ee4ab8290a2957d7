"""Admits the requests of each principal at a limited rate, so that none delays the others.

Checks, parsing, the SDK and most of a response run on one event loop. A principal may use a share
of it: each request costs some units, and a principal that has used more than its units waits while
others are served. A request is held, not refused, because a refusal costs nearly as much as a call
and a client may send the next request at once.

Of one principal, one request is admitted in each turn of the event loop, so that requests which
arrive together do not make a queue before those of others.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, MutableMapping
from typing import Any, Final

from carrel.principal import LOCAL, Principal

#: Units of a request that is answered or refused without the SDK.
PLAIN: Final = 1.0
#: Further units of a request that the SDK serves.
BY_SDK: Final = 4.0
#: Further units of a request that opens a session.
OPENS_SESSION: Final = 6.0
#: Bytes of a body, or of a response, that cost as much as a plain request.
BYTES: Final = 32 * 2**10
#: Bytes of a body from which each costs more than in a small one.
LARGE: Final = 512 * 2**10
#: How much more at most.
_MOST_TIMES: Final = 8.0
#: Units a second for each tool call a second that a principal may make: enough for calls that the
#: SDK serves.
_UNITS: Final = PLAIN + BY_SDK
#: Seconds of units that may be used at once.
_BURST_SECONDS: Final = 2.0
#: Units that may be used at once by a principal with a low rate.
_LEAST_BURST: Final = 50.0

#: Key of a request's state: a function to call when the connection is lost while it is held.
HELD: Final = "carrel.held"


def body_units(size: int) -> float:
    """Returns the units of a body.

    A body is decoded in one turn of the event loop. What others wait for it grows with the square
    of its size: it is more likely that they wait, and they wait longer.
    """
    return size / BYTES * min(_MOST_TIMES, max(1.0, size / LARGE))


class _PrincipalQueue:
    """The requests of one principal."""

    __slots__ = ("balance", "filled", "is_passing", "timer", "waiting")

    def __init__(self, balance: float, now: float) -> None:
        self.balance = balance
        self.filled = now
        #: Requests that are held, with their units.
        self.waiting: deque[tuple[asyncio.Future[None], float]] = deque()
        #: Whether a request was admitted in this turn of the event loop.
        self.is_passing = False
        self.timer: asyncio.TimerHandle | None = None


class RequestAdmission:
    """The queues of all principals. Used on one event loop; the local user is never held.

    Args:
        calls_per_second: tool calls that a principal may make.
        clock: seconds that never go back.
    """

    def __init__(
        self, calls_per_second: float, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = _UNITS * calls_per_second
        self._burst = max(_LEAST_BURST, _BURST_SECONDS * self._rate)
        self._clock = clock
        self._queues: dict[str, _PrincipalQueue] = {}
        self._swept = clock()
        self._has_stopped = False

    def __len__(self) -> int:
        """The number of principals that used units lately, or wait."""
        return len(self._queues)

    def waiting(self, principal: Principal) -> int:
        """Returns the number of the principal's requests that are held."""
        queue = self._queues.get(principal.name)
        return 0 if queue is None else len(queue.waiting)

    async def admit(
        self, principal: Principal, state: MutableMapping[str, Any], units: float = PLAIN
    ) -> None:
        """Waits until a request of the principal may be served, and charges it.

        Args:
            principal: who sends it.
            state: of the request; has a function under `HELD` while it waits.
            units: what it costs. Those of a body are charged before it is decoded, so that large
                ones which arrive together wait for each other.

        Raises:
            ConnectionResetError: the client is gone.
        """
        if principal is LOCAL or self._has_stopped:
            return
        queue = self._queue(principal.name)
        self._fill(queue)
        if queue.balance > 0 and not queue.waiting and not queue.is_passing:
            self._pass(queue, units)
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiting.append((waiter, units))
        state[HELD] = waiter.cancel
        self._schedule(queue)
        try:
            await asyncio.wait({waiter})
        finally:
            state.pop(HELD, None)
            waiter.cancel()
        if waiter.cancelled():
            raise ConnectionResetError

    def charge(self, principal: Principal, units: float) -> None:
        """Subtracts units of a principal; later requests wait while it owes some."""
        if principal is not LOCAL:
            queue = self._queue(principal.name)
            self._fill(queue)
            queue.balance -= units

    def stop(self) -> None:
        """Admits all, because the server shuts down."""
        self._has_stopped = True
        for queue in self._queues.values():
            while queue.waiting:
                waiter, _ = queue.waiting.popleft()
                if not waiter.done():
                    waiter.set_result(None)

    def _queue(self, name: str) -> _PrincipalQueue:
        queue = self._queues.get(name)
        if queue is None:
            self._sweep()
            queue = self._queues[name] = _PrincipalQueue(self._burst, self._clock())
        return queue

    def _sweep(self) -> None:
        """Forgets principals that have all their units again: a new queue is the same."""
        now = self._clock()
        if now - self._swept < _BURST_SECONDS:
            return
        self._swept = now
        for name, queue in list(self._queues.items()):
            self._fill(queue)
            if queue.balance >= self._burst and not queue.waiting and not queue.is_passing:
                del self._queues[name]

    def _fill(self, queue: _PrincipalQueue) -> None:
        now = self._clock()
        queue.balance = min(self._burst, queue.balance + (now - queue.filled) * self._rate)
        queue.filled = now

    def _pass(self, queue: _PrincipalQueue, units: float) -> None:
        """Charges one request, and allows the next in the next turn of the event loop."""
        queue.balance -= units
        queue.is_passing = True
        asyncio.get_running_loop().call_soon(self._passed, queue)

    def _passed(self, queue: _PrincipalQueue) -> None:
        queue.is_passing = False
        self._next(queue)

    def _next(self, queue: _PrincipalQueue) -> None:
        queue.timer = None
        while queue.waiting and queue.waiting[0][0].done():
            queue.waiting.popleft()
        if not queue.waiting or queue.is_passing:
            return
        self._fill(queue)
        if queue.balance > 0:
            waiter, units = queue.waiting.popleft()
            waiter.set_result(None)
            self._pass(queue, units)
        else:
            self._schedule(queue)

    def _schedule(self, queue: _PrincipalQueue) -> None:
        """Looks again when the principal has units."""
        if queue.timer is None and not queue.is_passing:
            wait = max(0.001, (PLAIN - queue.balance) / self._rate)
            queue.timer = asyncio.get_running_loop().call_later(wait, self._next, queue)
