"""Who computes: a component's guests take turns at the processors, and long ones step back.

Two or three short computations at once cost other plugins nothing; sixteen that loop cost them
seconds. So a component has as many turns as there are processors. A guest that waits in fetch gives
its turn back, and one that computes for long while more run than there are processors is moved to a
slow lane: it computes on, in a thread of low priority, and its turn is the next one's. See
`docs/decisions/0019-hostile-guests.md`.
"""

from __future__ import annotations

import os
import sys
import threading
from queue import Empty, SimpleQueue

#: Seconds of processor time after which a guest steps back when it is crowded.
LONG = 0.1
#: Of threads in the slow lane; 19 would starve them altogether on a busy machine.
_NICE = 10


class Turns:
    """The turns of one component, and as many places in its slow lane."""

    def __init__(self) -> None:
        count = max(2, os.cpu_count() or 2)
        self.free = _Places(count)
        self.slow = _Places(count)


class _Places:
    """A semaphore, made of a queue: one that waits is woken by one switch of threads, not three."""

    def __init__(self, count: int) -> None:
        self._free: SimpleQueue[None] = SimpleQueue()
        for _ in range(count):
            self.release()

    def acquire(self) -> None:
        """Waits for a place."""
        self._free.get()

    def try_acquire(self) -> bool:
        """Takes a place if one is free."""
        try:
            self._free.get_nowait()
        except Empty:
            return False
        return True

    def release(self) -> None:
        """Gives a place back."""
        self._free.put(None)


class Turn:
    """One execution's place among them. `step_back` may come from any thread.

    Attributes:
        slow: whether the execution has stepped back; its thread keeps the low priority for good.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._lock = threading.Lock()
        self._held = False
        self._slow_place = False
        self._thread = threading.get_native_id()
        self.slow = False

    def take(self) -> None:
        """Waits for a turn."""
        self._turns.free.acquire()
        with self._lock:
            self._held = True

    def give(self) -> None:
        """Gives back what is held: the turn, or the place in the slow lane."""
        with self._lock:
            held, self._held = self._held, False
            slow, self._slow_place = self._slow_place, False
        if held:
            self._turns.free.release()
        if slow:
            self._turns.slow.release()

    def step_back(self) -> None:
        """Goes on at low priority, and without a turn if the slow lane has room.

        Nothing where threads have no priority of their own.
        """
        if not sys.platform.startswith("linux"):
            return
        if not self.slow:
            try:
                os.setpriority(os.PRIO_PROCESS, self._thread, _NICE)
            except OSError:
                return
            self.slow = True
        with self._lock:
            if not self._held or not self._turns.slow.try_acquire():
                return
            self._held, self._slow_place = False, True
        self._turns.free.release()
