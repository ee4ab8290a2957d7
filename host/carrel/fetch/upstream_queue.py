"""The queue in front of one upstream: its pace, its concurrency, and fairness.

No slot is taken in advance, so a call that makes two thousand requests and is cancelled wastes
none, and other calls and processes are served in between. The queue is served round robin: first
over partitions (the built-in plugins are one, each other plugin is its own; in a plugin's own queue
each principal is one), then over the calls of a partition. Within a call requests are served in
order. One principal has at most its share of the requests in flight, so that upstreams which answer
slowly do not keep others waiting (`carrel.principal.share_of`).
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar, TypeVarTuple, Unpack

from carrel.errors import StateError
from carrel.principal import share_of

from .clock import Clock
from .fair_queue import FairQueue, Waiter
from .policy.rules import HostRule
from .token_buckets import PaceStore, Slot

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: Seconds that requests wait for the store of the buckets to be usable again.
_STORE_PATIENCE = 3.0
#: Seconds until it is tried again, if it does not say.
_STORE_PAUSE = 0.5

#: Seconds that a pace which an upstream declared is kept without another declaration.
_DECLARED_SECONDS = 3600.0
#: The part of an interval by which a request may be late without moving its slot.
_LATE_SHARE = 0.02
#: The part by which a pace may differ from a whole number of requests a second and be worded so.
_ABOUT = 0.05


class PaceExceededError(Exception):
    """The next slot is later than the request can wait; `seconds` is the wait until it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(seconds)


class PaceUnknownError(PaceExceededError):
    """The store of the buckets cannot be used; `seconds` is the wait until it is tried again."""


@dataclass(frozen=True, slots=True)
class GrantedSlot:
    """A slot that was granted.

    Attributes:
        since: when, on the monotonic clock.
        latest: as in the request.
    """

    slot: Slot
    since: float
    latest: float


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue as of now; see `carrel.telemetry.UpstreamState`."""

    interval: float
    concurrency: int
    in_flight: int
    waiting: int
    paused: float


class UpstreamQueue:
    """The queue of one upstream; used on the event loop only.

    Args:
        upstream: the bucket's name.
        executor: runs the bucket's short transactions, which may wait for another process.
    """

    def __init__(self, upstream: str, buckets: PaceStore, executor: Executor, clock: Clock) -> None:
        self.upstream = upstream
        self._buckets = buckets
        self._executor = executor
        self._clock = clock
        self._interval = 0.0
        self._burst = 1_000_000
        self._concurrency = 64
        self._queue = FairQueue()
        self._in_flight = 0
        #: Requests in flight of each principal but the local user.
        self._owned: Counter[str] = Counter()
        #: Whether a request that found an empty queue is taking its slot.
        self._taking = False
        self._ruled = False
        self._driver: asyncio.Task[None] | None = None
        self._left = asyncio.Event()
        self._next_slot = 0.0
        self._pause = ""
        self._paused_until = 0.0
        #: When the pause ends that the store does not know of yet; 0 if there is none.
        self._unstored_until = 0.0
        self._storing: asyncio.Task[None] | None = None
        #: Until when a slower pace that the upstream declared is kept, if nothing renews it.
        self._declared_until = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether it serves and waits for nothing, so that a new one is the same.

        The bucket has the slots that were taken; what only this object knows is who waits, how many
        are in flight, a pause, and a pace that the upstream declared.
        """
        now = self._clock.monotonic()
        return (
            self._in_flight == 0
            and self._driver is None
            and not self._taking
            and not self._unstored_until
            and now >= max(self._next_slot, self._paused_until, self._declared_until)
        )

    def describe(self, name: str) -> str:
        """Words what a queued request waits for; thread-safe.

        Args:
            name: the upstream's.
        """
        if self._pause and self._clock.monotonic() < self._paused_until:
            return f"{name} {self._pause}"
        if self._in_flight >= self._concurrency:
            pace = f" ({_counted(self._concurrency)} at once)"
        elif self._interval > 0:
            pace = f" ({_rate(self._interval)})"
        else:
            pace = ""
        return f"waiting for a slot at {name}{pace}"

    def state(self) -> QueueState:
        """Returns the pace and the queue as of now; thread-safe."""
        paused = max(0.0, self._paused_until - self._clock.monotonic())
        return QueueState(
            self._interval, self._concurrency, self._in_flight, len(self._queue), paused
        )

    def adopt(self, rule: HostRule) -> None:
        """Applies a rule's limits; where rules differ the slowest applies to all requests."""
        if not self._ruled:
            self._ruled = True
            self._interval, self._burst, self._concurrency = 0.0, 1_000_000, 64
        self._slow_to_rule(rule)

    def adopt_floor(self, rule: HostRule) -> None:
        """Applies the limits that hold until a rule of the upstream's own plugin is applied."""
        if not self._ruled:
            self._slow_to_rule(rule)

    def slow_to(self, interval: float) -> None:
        """Applies a pace that the upstream declared, if it is slower."""
        if interval >= self._interval:
            self._declared_until = self._clock.monotonic() + _DECLARED_SECONDS
        self._interval = max(self._interval, interval)

    @asynccontextmanager
    async def slot(
        self, caller: Hashable, latest: float, partition: str = "", *, owner: str = ""
    ) -> AsyncIterator[GrantedSlot]:
        """Waits for a slot, and counts the request as in flight inside the block.

        Args:
            caller: the call that makes the request; a partition's calls are served round robin.
            latest: the time on the monotonic clock after which the slot is useless.
            partition: of the call; partitions are served round robin.
            owner: the principal that the call is made for, a partition of its own; empty for the
                local user.

        Raises:
            PaceExceededError: immediately, when the slot would be too late. None is consumed.
        """
        partition = owner or partition
        wait = self._estimate(self._queue.ahead(partition, caller) + self._taking)
        if self._clock.monotonic() + wait > latest:
            raise PaceExceededError(wait)
        slot = await self._take_at_once(latest, owner)
        if slot is None:
            slot = await self._queued(caller, Waiter(latest, owner), partition)
        try:
            yield GrantedSlot(slot, self._clock.monotonic(), latest)
        finally:
            self._release(owner)

    async def _take_at_once(self, latest: float, owner: str) -> Slot | None:
        """Takes a slot if the queue is empty and one is due; returns None otherwise."""
        if self._driver is not None or self._taking or not self._may_send(owner):
            return None
        self._taking = True
        self._hold(owner)
        taken = False
        try:
            slot = await self._take(latest)
            taken = slot.wait == 0
        finally:
            self._taking = False
            if not taken:
                self._release(owner)
        return slot if taken else None

    async def _queued(self, caller: Hashable, waiter: Waiter, partition: str) -> Slot:
        """Waits in the queue for a slot."""
        self._queue.append(partition, caller, waiter)
        self._left.set()  # the first of the queue may be of a principal that may not send
        if self._driver is None:
            self._driver = asyncio.create_task(self._drive())
        try:
            return await waiter.granted
        except BaseException:
            granted = waiter.granted
            if granted.done() and not granted.cancelled() and granted.exception() is None:
                self._release(waiter.owner)
            raise

    async def _take(self, latest: float) -> Slot:
        """Takes a slot from the bucket if one is due.

        Waits for a store that cannot be used, as long as it may be back soon.

        Args:
            latest: the time on the monotonic clock after which the slot is useless.

        Raises:
            PaceUnknownError: the store cannot be used.
        """
        end = min(latest, self._clock.monotonic() + _STORE_PATIENCE)
        while True:
            try:
                await self._store_pause()
                slot = await self._ask(
                    self._buckets.take, self.upstream, self._interval, self._burst
                )
                break
            except PaceUnknownError as fault:
                if self._clock.monotonic() + fault.seconds > end:
                    raise
                await self._clock.sleep(fault.seconds)
        self._next_slot = self._clock.monotonic() + slot.wait
        if slot.wait == 0 and self._burst == 1:
            self._next_slot += self._interval
        return slot

    async def penalise(self, seconds: float, *, asked: bool = True) -> None:
        """Allows no slot for these seconds, in this process or another.

        Args:
            seconds: how long.
            asked: whether the upstream named the seconds, or only responded with 429.
        """
        whole = math.ceil(seconds)
        self._pause = (
            f"asked to wait {whole} s" if asked else f"asked for slower requests; waiting {whole} s"
        )
        self._paused_until = self._clock.monotonic() + seconds
        self._next_slot = max(self._next_slot, self._clock.monotonic() + seconds)
        self._unstored_until = max(self._unstored_until, self._paused_until)
        try:
            await self._store_pause()
        except PaceUnknownError:
            if self._storing is None:
                self._storing = asyncio.create_task(self._store_pause_later())

    async def _store_pause_later(self) -> None:
        """Stores a pause when the store can be used again."""
        try:
            while self._unstored_until:
                try:
                    await self._store_pause()
                except PaceUnknownError as fault:
                    await self._clock.sleep(fault.seconds)
        finally:
            self._storing = None

    async def _store_pause(self) -> None:
        """Stores a pause that the store does not know of yet."""
        until = self._unstored_until
        left = until - self._clock.monotonic()
        if until and left > 0:
            await self._ask(
                self._buckets.penalise, self.upstream, self._interval, self._burst, left
            )
        if self._unstored_until == until:
            self._unstored_until = 0.0

    async def leave(self, granted: GrantedSlot) -> None:
        """Moves the slot to now, when the request is about to be sent after connecting.

        The upstream sees when requests arrive, so a request that is noticeably later than its slot
        moves it, or takes a new one if other requests passed since.

        Raises:
            PaceExceededError: the new slot would be too late, or cannot be taken.
        """
        late = self._clock.monotonic() - granted.since
        if self._interval == 0 or late <= self._interval * _LATE_SHARE:
            return
        slot = await self._ask(
            self._buckets.keep, self.upstream, self._interval, self._burst, granted.slot
        )
        while slot.wait > 0:
            if self._clock.monotonic() + slot.wait > granted.latest:
                raise PaceExceededError(slot.wait)
            await self._clock.sleep(slot.wait)
            slot = await self._ask(self._buckets.take, self.upstream, self._interval, self._burst)

    async def give_back(self, granted: GrantedSlot) -> None:
        """Returns the slot of a request that was not sent, unless another was taken since."""
        if self._interval == 0:
            return
        try:
            await self._ask(self._buckets.give_back, self.upstream, self._interval, granted.slot)
        except PaceUnknownError:
            return  # a slot is lost
        self._next_slot = min(self._next_slot, self._clock.monotonic())

    async def _ask(self, work: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Runs an operation of the store in a thread.

        Raises:
            PaceUnknownError: the store cannot be used.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)
        except StateError as fault:
            raise PaceUnknownError(fault.retry_after_seconds or _STORE_PAUSE) from fault

    def _estimate(self, ahead: int) -> float:
        """Estimates the seconds until a waiter is served with `ahead` waiters before it."""
        first = max(0.0, self._next_slot - self._clock.monotonic())
        return first + max(0, ahead - (self._burst - 1)) * self._interval

    def _slow_to_rule(self, rule: HostRule) -> None:
        self._interval = max(self._interval, rule.pace.interval)
        self._burst = min(self._burst, rule.pace.burst)
        self._concurrency = min(self._concurrency, rule.concurrency)

    def _may_send(self, owner: str) -> bool:
        """Returns whether another request of a principal may be in flight."""
        if self._in_flight >= self._concurrency:
            return False
        return not owner or self._owned[owner] < share_of(self._concurrency)

    def _hold(self, owner: str) -> None:
        self._in_flight += 1
        if owner:
            self._owned[owner] += 1

    def _release(self, owner: str) -> None:
        self._in_flight -= 1
        if owner:
            self._owned[owner] -= 1
            if not self._owned[owner]:
                del self._owned[owner]
        self._left.set()

    async def _drive(self) -> None:
        """Serves the queue until it is empty."""
        try:
            while True:
                waiter = self._queue.head(self._may_send)
                if waiter is None and not len(self._queue):
                    return
                if waiter is None:
                    self._left.clear()
                    await self._left.wait()
                    continue
                try:
                    slot = await self._take(waiter.latest)
                except PaceUnknownError as fault:
                    self._refuse_all(fault)
                    continue
                if slot.wait == 0:
                    self._grant(slot)
                elif self._clock.monotonic() + slot.wait > waiter.latest:
                    if not waiter.granted.done():
                        waiter.granted.set_exception(PaceExceededError(slot.wait))
                else:
                    await self._clock.sleep(slot.wait)
        finally:
            self._driver = None

    def _refuse_all(self, fault: PaceUnknownError) -> None:
        """Refuses all waiters: the store cannot be used."""
        while (waiter := self._queue.pop()) is not None:
            waiter.granted.set_exception(PaceUnknownError(fault.seconds))

    def _grant(self, slot: Slot) -> None:
        """Grants the slot to the next live waiter."""
        waiter = self._queue.pop(self._may_send)
        if waiter is None:
            # Cancelled while the slot was taken, which is lost.
            return
        self._hold(waiter.owner)
        waiter.granted.set_result(slot)


def _rate(interval: float) -> str:
    """Words a pace: `1 request in 3 s`, `10 requests in 1 s`."""
    often = round(1 / interval)
    if often > 1 and abs(often * interval - 1) < _ABOUT:
        return f"{_counted(often)} in 1 s"
    return f"1 request in {interval:.3g} s"


def _counted(requests: int) -> str:
    return "1 request" if requests == 1 else f"{requests} requests"
