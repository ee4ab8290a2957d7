"""Limits CPU-bound guests to one per processor and deprioritises long ones.

Sixteen looping guests would delay other plugins by seconds, so each component has as many CPU
permits as there are processors. A guest releases its permit while it waits in fetch. A guest that
computes for long while more guests run than there are processors is deprioritised: it releases its
permit and continues in a thread of low priority. See `docs/decisions/0019-hostile-guests.md`.

A thread that gets a permit must first wake up and acquire the GIL; creating an instance would add
to that idle time. So the next guest in the queue creates its instance before it has a permit, if
creating one takes almost no CPU time.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable

from carrel.principal import share_of

#: Seconds of CPU time after which a guest is deprioritised, if the processors are busy.
LONG = 0.1
#: CPU time of creating an instance, in seconds, up to which it needs no permit.
_QUICK = 0.005
#: Niceness of deprioritised threads; 19 would starve them on a busy machine.
_NICE = 10
#: Seconds after which a thread that was woken in vain looks for a free permit again.
_RETRY = 0.01


def processors() -> int:
    """Returns the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def permit_count() -> int:
    """Returns the number of CPU permits of one component."""
    return max(2, processors())


class CpuPermits:
    """The CPU permits of one component, and as many low-priority permits.

    Attributes:
        quick: whether every instance so far was created quickly; None before the first.
    """

    def __init__(self) -> None:
        count = permit_count()
        self.free = PermitPool(count)
        self.slow = PermitPool(count)
        self.next = PermitPool(1)
        self.quick: bool | None = None


class _Waiter:
    """A thread in the queue for a permit; the pool's lock guards it."""

    __slots__ = ("granted", "overtaken", "owner", "since", "wake", "woken")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.wake = threading.Lock()
        self.wake.acquire()
        self.since = time.monotonic()
        self.woken = False
        self.overtaken = False
        self.granted = False


class PermitPool:
    """A semaphore whose queue is first in, first out.

    Handing a permit to a thread that sleeps leaves a processor idle until that thread runs. With
    `barging`, a released permit is free for any thread, and the first of the queue is only woken;
    once that thread has waited for `barging` seconds, the permit is handed to it. A thread that was
    woken and found no permit is not woken again for a free one, but looks every 10 ms: waking it
    for each release would interrupt a guest and take the GIL in vain.

    An owner holds at most its share (`carrel.principal.share_of`). One that holds no permit need
    not wait for the others: it gets one beyond `count`. As many of the next that are released are
    granted to nobody.

    `SimpleQueue.get` waits without end on CPython 3.11 and 3.12 when the timeout passes while a
    signal handler runs, so each thread that waits has a lock of its own, whose timeout holds.

    Args:
        count: number of permits.
        barging: seconds for which other threads may overtake the first of the queue.
    """

    def __init__(self, count: int, *, barging: float = 0.0) -> None:
        self._lock = threading.Lock()
        self._count = count
        self._share = share_of(count)
        self._barging = barging
        self._waiting: deque[_Waiter] = deque()
        #: Permits of each owner; the local user, "", has no share.
        self._held: Counter[str] = Counter()
        #: Permits beyond the count.
        self._extra = 0

    def acquire(self, seconds: float | None = None, owner: str = "") -> bool:
        """Waits for a permit, at most `seconds`; returns whether it got one.

        Args:
            seconds: longest wait; without end if None.
            owner: for whom; `release` gets the same.
        """
        with self._lock:
            if self._takes(owner):
                return True
            waiter = _Waiter(owner)
            self._waiting.append(waiter)
        try:
            while True:
                left = math.inf if seconds is None else waiter.since + seconds - time.monotonic()
                pause = min(left, _RETRY) if waiter.overtaken else left
                woken = waiter.wake.acquire(timeout=-1 if pause == math.inf else max(0.0, pause))
                last = not woken and pause == left
                if self._admit(waiter, last=last):
                    return True
                if last:
                    return False
        except BaseException:
            if self._admit(waiter, last=True):
                self.release(waiter.owner)
            raise

    def try_acquire(self, owner: str = "") -> bool:
        """Takes a permit if one is free; returns whether it did."""
        with self._lock:
            return self._takes(owner)

    def _takes(self, owner: str) -> bool:
        """Takes a free permit, or one beyond the count; the lock is held."""
        if self._count and self._may_hold(owner):
            self._count -= 1
        elif owner and owner not in self._held:
            self._extra += 1
        else:
            return False
        self._held[owner] += 1
        return True

    def _may_hold(self, owner: str) -> bool:
        return not owner or self._held[owner] < self._share

    def release(self, owner: str = "") -> None:
        """Releases a permit."""
        with self._lock:
            self._held[owner] -= 1
            if self._held[owner] <= 0:
                del self._held[owner]
            if self._extra:
                self._extra -= 1
                return
            first = next((waiter for waiter in self._waiting if self._may_hold(waiter.owner)), None)
            if first is None:
                self._count += 1
                return
            if time.monotonic() - first.since >= self._barging:
                self._waiting.remove(first)
                first.granted = True
                self._held[first.owner] += 1
            else:
                self._count += 1
            if not first.woken and (first.granted or not first.overtaken):
                first.woken = True
                first.wake.release()

    def _admit(self, waiter: _Waiter, *, last: bool) -> bool:
        """Returns whether the waiter has a permit, and takes a free one.

        Args:
            waiter: woken, or at the end of its patience.
            last: whether it leaves the queue without one.
        """
        with self._lock:
            waiter.woken = False
            if waiter.granted:
                return True
            if self._takes(waiter.owner):
                self._waiting.remove(waiter)
                return True
            waiter.overtaken = True
            if last:
                self._waiting.remove(waiter)
        return False


#: Called with True when a thread's job stops using the CPU, and with False when it resumes.
Park = Callable[[bool], None]


class CpuPermit:
    """The CPU permit of one execution. `step_back` may be called from any thread.

    Args:
        permits: the component's permits.
        thread: native id of the executing thread; None if its priority must not be changed.
        on_park: called when the execution stops and resumes using the CPU.

    Attributes:
        slow: whether the execution was deprioritised; its thread keeps the low priority.
    """

    def __init__(
        self, permits: CpuPermits, thread: int | None = None, on_park: Park = lambda _parked: None
    ) -> None:
        self._permits = permits
        self._on_park = on_park
        self._parked = False
        self._lock = threading.Lock()
        self._pool: PermitPool | None = None
        self._thread = thread
        self._owner = ""
        self.slow = False

    def prepare(self, owner: str = "") -> None:
        """Waits until an instance may be created: for a permit, or to be first in the queue.

        Args:
            owner: for whom it will run.
        """
        permits = self._permits
        self._owner = owner
        if permits.quick:
            permits.next.acquire(owner=owner)
            self._hold(permits.next)
            if permits.free.try_acquire(owner):
                self._hold(permits.free)
        else:
            self.take()

    def prepared(self, seconds: float) -> None:
        """Records the CPU time that creating an instance took."""
        self._permits.quick = self._permits.quick is not False and seconds <= _QUICK

    def take(self) -> None:
        """Waits for a permit, unless one is held or the execution is deprioritised."""
        permits = self._permits
        if self._pool is None or self._pool is permits.next:
            with self._lock:
                self._park(parked=False)
            permits.free.acquire(owner=self._owner)
            self._hold(permits.free)

    def park(self) -> None:
        """Releases the permit until `take`, because the execution waits for an upstream."""
        self.give()
        with self._lock:
            self._park(parked=True)

    def give(self) -> None:
        """Releases the permit."""
        self._hold(None)

    def step_back(self) -> None:
        """Lowers the thread's priority; exchanges the permit for a low-priority one if one is free.

        Does nothing on platforms without thread priorities.
        """
        if self._thread is None or not sys.platform.startswith("linux"):
            return
        if not self.slow:
            try:
                os.setpriority(os.PRIO_PROCESS, self._thread, _NICE)
            except OSError:
                return
            self.slow = True
        with self._lock:
            left = self._pool
            if (
                left is None
                or left is self._permits.slow
                or not self._permits.slow.try_acquire(self._owner)
            ):
                return
            self._pool = self._permits.slow
            # The lock is held, because after it the thread may have started another execution.
            self._park(parked=True)
        left.release(self._owner)

    def _park(self, *, parked: bool) -> None:
        if self._parked != parked:
            self._parked = parked
            self._on_park(parked)

    def _hold(self, pool: PermitPool | None) -> None:
        with self._lock:
            left, self._pool = self._pool, pool
        if left is not None:
            left.release(self._owner)
