"""Fair scheduling of the event loop that all fetches run on.

The coroutine of a request is run step by step, and the processor time of every step is charged to
the partition that the request belongs to. In each iteration of the loop at most one step is run for
the plugins that are not built in, chosen by start-time fair queueing (Goyal, Vin and Cheng, 1996):
a partition that used little goes before one that used much. Together these plugins have at most
`SHARE` of the loop's time. The built-in plugins do not queue.

A step cannot be interrupted, so code that handles an answer calls `checkpoint` after each piece.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: Seconds of processor time after which a step ends at its next checkpoint.
STEP_SECONDS = 0.2e-3
#: The part of the loop's time that the plugins which are not built in have together.
SHARE = 1 / 16
#: Seconds of work that one of them may do at once after a rest.
BURST_SECONDS = 5e-3
#: Seconds of work of a call's first request that nothing is charged for.
FREE_SECONDS = 4e-3
#: What one step is charged at most: a longer one was hit by Python's collector of cycles.
MOST_SECONDS = 1e-3
#: Partitions whose use is remembered while nobody waits.
_REMEMBERED = 64


class FairScheduler:
    """Decides whose step is next; lives on the event loop.

    Args:
        clock: seconds, on any clock that never goes back.
        processor: seconds of processor time that the loop's thread has used.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._processor = processor
        self._step_began = 0.0
        #: Steps that are due, by partition and in the order in which they fell due.
        self._due: dict[str, deque[asyncio.Future[None]]] = {}
        #: Whether a step was run in this iteration, or others wait for theirs.
        self._busy = False
        # Virtual time: what each partition has used, and where the step began that was run last.
        self._used: dict[str, float] = {}
        self._virtual = 0.0
        self._working: Counter[str] = Counter()
        self._buckets: dict[str, tuple[float, float]] = {}

    async def run(self, partition: str, work: Coroutine[Any, Any, T], free: float = 0.0) -> T:
        """Runs a coroutine in steps that are charged to the partition, and returns its result.

        Args:
            partition: whose work it is; empty for the built-in plugins, which never wait.
            work: the coroutine.
            free: seconds of it that nothing is charged for.
        """
        self._working[partition] += 1
        try:
            return await _Steps(self, partition, work, free)
        finally:
            self._working[partition] -= 1
            if not self._working[partition]:
                del self._working[partition]

    async def checkpoint(self) -> None:
        """Ends the step if it has been running for `STEP_SECONDS`."""
        if self._processor() - self._step_began >= STEP_SECONDS:
            await asyncio.sleep(0)

    async def turn(self, partition: str) -> None:
        """Waits for the partition's next step."""
        if not partition:
            return
        pause = self.charge(partition, 0.0)
        if pause > 0:
            await asyncio.sleep(pause)
        loop = asyncio.get_running_loop()
        if not self._busy:
            self._busy = True
            loop.call_soon(self._grant_next)
            return
        granted: asyncio.Future[None] = loop.create_future()
        self._due.setdefault(partition, deque()).append(granted)
        await granted

    def begin_step(self) -> None:
        """Starts the clock of a step."""
        self._step_began = self._processor()

    def end_step(self, partition: str) -> float:
        """Puts the step that began last into the partition's virtual time; its seconds."""
        seconds = self._processor() - self._step_began
        # One that rested starts where the others are: it has saved nothing up.
        self._virtual = max(self._virtual, self._used.get(partition, 0.0))
        self._used[partition] = self._virtual + seconds
        return seconds

    def charge(self, partition: str, seconds: float) -> float:
        """Takes so many seconds of work from the partition's bucket; the seconds to rest."""
        now = self._clock()
        rate = SHARE / (1 + len(self._working.keys() - {"", partition}))
        level, touched = self._buckets.get(partition, (BURST_SECONDS, now))
        level = min(BURST_SECONDS, level + (now - touched) * rate) - seconds
        self._buckets[partition] = level, now
        return max(0.0, -level / rate)

    def _grant_next(self) -> None:
        """Called once in an iteration of the loop while there is work."""
        while self._due:
            partition = min(self._due, key=lambda one: self._used.get(one, 0.0))
            queue = self._due[partition]
            granted = queue.popleft()
            if not queue:
                del self._due[partition]
            if granted.cancelled():
                continue
            granted.set_result(None)
            # After the step that was granted just now, so that it is the only one of its iteration.
            asyncio.get_running_loop().call_soon(self._grant_next)
            return
        self._busy = False
        if len(self._used) > _REMEMBERED:
            self._used = {one: used for one, used in self._used.items() if used > self._virtual}


class _Steps(Generic[T]):
    """An awaitable that runs a coroutine up to each point where it waits, as the scheduler says."""

    def __init__(
        self,
        scheduler: FairScheduler,
        partition: str,
        work: Coroutine[Any, Any, T],
        free: float,
    ) -> None:
        self._scheduler = scheduler
        self._partition = partition
        self._work = work
        self._free = free

    def __await__(self) -> Generator[Any, None, T]:
        scheduler, partition, work = self._scheduler, self._partition, self._work
        fault: BaseException | None = None
        while True:
            if partition and fault is None:
                try:
                    yield from scheduler.turn(partition).__await__()
                except BaseException as raised:  # noqa: BLE001 -- passed on to the coroutine
                    fault = raised
            scheduler.begin_step()
            try:
                waits_for = work.send(None) if fault is None else work.throw(fault)
            except StopIteration as ended:
                return ended.value  # type: ignore[no-any-return]
            finally:
                if partition:
                    seconds = scheduler.end_step(partition)
                    self._free -= seconds
                    if self._free < 0:
                        scheduler.charge(partition, min(seconds, -self._free, MOST_SECONDS))
            fault = None
            try:
                yield waits_for
            except BaseException as raised:  # noqa: BLE001 -- passed on to the coroutine
                fault = raised
