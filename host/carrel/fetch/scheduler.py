"""Schedules the event loop that all fetches run on fairly between plugins.

Runs the coroutine of a request step by step and charges the processor time of every step to the
request's partition. In each iteration of the loop at most one step is run for the plugins that are
not built in, chosen by start-time fair queueing (Goyal, Vin and Cheng, 1996): the partition that
used least goes first. Together these plugins have at most `SHARE` of the loop's time. The built-in
plugins do not queue. On a server with identity, a partition here is a principal's use of a plugin,
so that large or slow responses of one principal do not use up what others have of the same plugin.

A step cannot be interrupted, so code that handles a response calls `checkpoint` after each piece.
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
#: The share of the loop's time of all plugins that are not built in.
SHARE = 1 / 16
#: Seconds of work that one of them may do without a pause after being idle.
BURST_SECONDS = 5e-3
#: Seconds of work of a call's first request that are not charged.
FREE_SECONDS = 4e-3
#: The most that one step is charged: in a longer one Python's garbage collector ran.
MOST_SECONDS = 1e-3
#: Above this number, partitions without debt are dropped.
_KEPT = 1000


def partition_of(plugin: str, owner: str) -> str:
    """Returns the partition of a principal's requests.

    Args:
        plugin: the partition of the plugin; empty for the built-in ones, which never wait.
        owner: the principal; empty for the local user.
    """
    return f"{plugin}\0{owner}" if plugin and owner else plugin


class FairScheduler:
    """Chooses the next step; used on the event loop only.

    Args:
        clock: seconds, on any clock that never goes back.
        processor: processor time of the loop's thread in seconds.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.thread_time,
    ) -> None:
        self._clock = clock
        self._processor = processor
        self._step_began = 0.0
        #: Steps that are due, by partition, first in, first out.
        self._due: dict[str, deque[asyncio.Future[None]]] = {}
        #: Whether a step was run in this iteration, or others are queued.
        self._busy = False
        # Virtual time: the use of each partition, and the start of the last step.
        self._used: dict[str, float] = {}
        self._virtual = 0.0
        self._working: Counter[str] = Counter()
        self._buckets: dict[str, tuple[float, float]] = {}

    async def run(self, partition: str, work: Coroutine[Any, Any, T], free: float = 0.0) -> T:
        """Runs a coroutine in steps that are charged to the partition, and returns its result.

        Args:
            partition: charged for it; empty for the built-in plugins, which never wait.
            work: the coroutine.
            free: seconds of it that are not charged.
        """
        self._working[partition] += 1
        try:
            return await _Steps(self, partition, work, free)
        finally:
            self._working[partition] -= 1
            if not self._working[partition]:
                del self._working[partition]
            if len(self._buckets) > _KEPT:
                self._forget()

    def __len__(self) -> int:
        """The number of partitions that are kept."""
        return len(self._buckets)

    def _forget(self) -> None:
        """Forgets partitions that are idle and owe nothing: a new one is the same."""
        for partition in self._buckets.keys() - self._working.keys():
            if self.charge(partition, 0.0) == 0 and self._buckets[partition][0] >= BURST_SECONDS:
                del self._buckets[partition]
                self._used.pop(partition, None)

    async def checkpoint(self) -> None:
        """Ends the step if it has been running for `STEP_SECONDS`."""
        if self._processor() - self._step_began >= STEP_SECONDS:
            await asyncio.sleep(0)

    async def wait_for_step(self, partition: str) -> None:
        """Waits for the next step of a partition that is not the built-in plugins'."""
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
        """Adds the last step to the partition's virtual time; returns its seconds."""
        seconds = self._processor() - self._step_began
        # A partition that was idle starts at the current virtual time: it has saved nothing.
        self._virtual = max(self._virtual, self._used.get(partition, 0.0))
        self._used[partition] = self._virtual + seconds
        return seconds

    def charge(self, partition: str, seconds: float) -> float:
        """Takes seconds of work from the partition's bucket; returns the seconds to pause."""
        now = self._clock()
        rate = SHARE / (1 + len(self._working.keys() - {"", partition}))
        level, touched = self._buckets.get(partition, (BURST_SECONDS, now))
        level = min(BURST_SECONDS, level + (now - touched) * rate) - seconds
        self._buckets[partition] = level, now
        return max(0.0, -level / rate)

    def _grant_next(self) -> None:
        """Grants one step; runs once in each iteration of the loop while there is work."""
        while self._due:
            partition = min(self._due, key=lambda name: self._used.get(name, 0.0))
            queue = self._due[partition]
            granted = queue.popleft()
            if not queue:
                del self._due[partition]
            if granted.cancelled():
                continue
            granted.set_result(None)
            # Runs after the step that was just granted, so there is one step per iteration.
            asyncio.get_running_loop().call_soon(self._grant_next)
            return
        self._busy = False


class _Steps(Generic[T]):
    """An awaitable that runs a coroutine in steps: up to each point where it waits."""

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
                    yield from scheduler.wait_for_step(partition).__await__()
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
