"""Workers without a thread of their own: whoever waits for the result runs the guest.

A document of 1 MB that goes to another thread and comes back as a result of the same size leaves
the processor's caches twice, which costs a quarter of parsing it. In its caller's thread a guest
runs at the caller's expense: an interrupt from the keyboard is seen when it has returned. So this
is for components that the project itself pins, see `docs/decisions/0020-speed.md`.

There are as many workers as processors. More would take turns at the processors by the system's
will, in the middle of documents, and each with a memory of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .cpu_permits import PermitPool
from .pool import KEPT
from .worker import Worker

#: Bytes of a guest's memory that stay with a worker: documents of 10 MB and their results. Pages
#: that the system has to hand out again are a fifth of parsing one.
KEPT_INLINE = 32 * 2**20
#: Documents from here on make a guest's memory larger than what other workers keep.
_LARGE = KEPT // 4


class InlineWorkers:
    """Lends workers, at most `limit` at once. Thread-safe.

    Args:
        make: a worker that belongs to no thread.
        limit: how many there may be.
    """

    def __init__(self, make: Callable[[], Worker], limit: int) -> None:
        self._make = make
        self._places = PermitPool(limit)
        self._lock = threading.Lock()
        #: The one used last is the next: the caches know its memory.
        self._idle: list[Worker] = []
        self._large: set[Worker] = set()
        self._closed = False

    @contextmanager
    def lent(self, seconds: float, size: int) -> Iterator[Worker | None]:
        """A worker for the thread that asks; None after so many seconds, and when closed.

        Args:
            seconds: to wait for one.
            size: of the document, in bytes.
        """
        if not self._places.acquire(seconds):
            yield None
            return
        try:
            worker = self._take()
            if worker is None:
                yield None
                return
            try:
                yield worker
            finally:
                # At once: by the next document the caches have forgotten what is to be emptied.
                worker.tidy()
                self._put_back(worker, large=size >= _LARGE)
        finally:
            self._places.release()

    def let_go_of_large(self) -> None:
        """Gives the memory back that large documents took."""
        with self._lock:
            gone = [worker for worker in self._idle if worker in self._large]
            self._idle = [worker for worker in self._idle if worker not in self._large]
            self._large.difference_update(gone)
        for worker in gone:
            worker.close()

    def close(self) -> None:
        """Lets go of the workers, of those in use when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            self._large.clear()
        for worker in idle:
            worker.close()

    def _take(self) -> Worker | None:
        with self._lock:
            if self._closed:
                return None
            worker = self._idle.pop() if self._idle else None
        if worker is None:
            return self._make()
        worker.move_here()
        return worker

    def _put_back(self, worker: Worker, *, large: bool) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)
                if large:
                    self._large.add(worker)
                return
        worker.close()
