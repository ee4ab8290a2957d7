"""Who computes: a component's guests take turns at the processors, and long ones step back.

Two or three short computations at once cost other plugins nothing; sixteen that loop cost them
seconds. So a component has as many turns as there are processors. A guest that waits in fetch gives
its turn back, and one that computes for long while more run than there are processors is moved to a
slow lane: it computes on, in a thread of low priority, and its turn is the next one's. See
`docs/decisions/0019-hostile-guests.md`.

Between two turns a thread has to be woken and to get Python's lock, and the processor would stand
still while it makes an instance besides. So where all turns are taken, the next guest's instance is
made ahead, if making one computes nothing to speak of.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable

#: Seconds of processor time after which a guest steps back when it is crowded.
LONG = 0.1
#: Seconds of processor time that making an instance may take, to be made without a turn.
_QUICK = 0.005
#: Of threads in the slow lane; 19 would starve them altogether on a busy machine.
_NICE = 10


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def at_once() -> int:
    """How many guests of one component compute at once."""
    return max(2, processors())


class CpuPermits:
    """The turns of one component, and as many places in its slow lane.

    Attributes:
        quick: whether every instance so far was made quickly; none has been made while None.
    """

    def __init__(self) -> None:
        count = at_once()
        self.free = PermitPool(count)
        self.slow = PermitPool(count)
        self.next = PermitPool(1)
        self.quick: bool | None = None


class PermitPool:
    """A semaphore that hands a place to the thread that has waited longest.

    `SimpleQueue.get` waits without end on CPython 3.11 and 3.12 when the timeout passes while a
    signal handler runs, so each thread that waits has a lock of its own, whose timeout holds.
    """

    def __init__(self, count: int) -> None:
        self._lock = threading.Lock()
        self._count = count
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, seconds: float | None = None) -> bool:
        """Waits for a place, for so long at most; whether there was one."""
        with self._lock:
            if self._count:
                self._count -= 1
                return True
            handed_over = threading.Lock()
            handed_over.acquire()
            self._waiting.append(handed_over)
        try:
            if handed_over.acquire(timeout=-1 if seconds is None else max(0.0, seconds)):
                return True
        except BaseException:
            if not self._withdraw(handed_over):
                self.release()
            raise
        return not self._withdraw(handed_over)

    def try_acquire(self) -> bool:
        """Takes a place if one is free."""
        with self._lock:
            if not self._count:
                return False
            self._count -= 1
            return True

    def release(self) -> None:
        """Gives a place back."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._count += 1

    def _withdraw(self, handed_over: threading.Lock) -> bool:
        """Stops waiting; False when a place was handed over meanwhile."""
        with self._lock:
            try:
                self._waiting.remove(handed_over)
            except ValueError:
                return False
        return True


#: Is told True when the job of a thread needs no processor, and False when it does again.
Park = Callable[[bool], None]


class CpuPermit:
    """One execution's place among them. `step_back` may come from any thread.

    Args:
        turns: of the component.
        thread: native id of the thread that executes; None for one whose priority is not ours.
        on_park: is told when the execution leaves those that take turns, and when it is back.

    Attributes:
        slow: whether the execution has stepped back; its thread keeps the low priority for good.
    """

    def __init__(
        self, turns: CpuPermits, thread: int | None = None, on_park: Park = lambda _parked: None
    ) -> None:
        self._turns = turns
        self._on_park = on_park
        self._parked = False
        self._lock = threading.Lock()
        self._place: PermitPool | None = None
        self._thread = thread
        self.slow = False

    def prepare(self) -> None:
        """Waits until an instance may be made: for a turn, or for being the next to have one."""
        turns = self._turns
        if turns.quick:
            turns.next.acquire()
            self._hold(turns.next)
            if turns.free.try_acquire():
                self._hold(turns.free)
        else:
            self.take()

    def prepared(self, seconds: float) -> None:
        """Takes note of the processor time that an instance took."""
        self._turns.quick = self._turns.quick is not False and seconds <= _QUICK

    def take(self) -> None:
        """Waits for a turn, unless it is held or was given up for the slow lane."""
        turns = self._turns
        if self._place is None or self._place is turns.next:
            with self._lock:
                self._park(parked=False)
            turns.free.acquire()
            self._hold(turns.free)

    def park(self) -> None:
        """Gives back what is held, until `take`: the execution waits for an upstream."""
        self.give()
        with self._lock:
            self._park(parked=True)

    def give(self) -> None:
        """Gives back what is held."""
        self._hold(None)

    def step_back(self) -> None:
        """Goes on at low priority, and without a turn if the slow lane has room.

        Nothing where threads have no priority of their own.
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
            left = self._place
            if left is None or left is self._turns.slow or not self._turns.slow.try_acquire():
                return
            self._place = self._turns.slow
            # With the lock held: behind it the thread may already have begun another execution.
            self._park(parked=True)
        left.release()

    def _park(self, *, parked: bool) -> None:
        if self._parked != parked:
            self._parked = parked
            self._on_park(parked)

    def _hold(self, place: PermitPool | None) -> None:
        with self._lock:
            left, self._place = self._place, place
        if left is not None:
            left.release()
