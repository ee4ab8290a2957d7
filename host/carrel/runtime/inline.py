"""Lends workers to threads that run the guest themselves instead of waiting for its result.

Passing a document of 1 MB to another thread and its result back misses the CPU caches twice, which
costs a quarter of the parsing time. A keyboard interrupt then takes effect only after the guest has
returned. So only components that the project pins run inline; see `docs/decisions/0020-speed.md`.

There are as many workers as processors. With more, the operating system would switch between them
in the middle of documents, and each would need its own memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .cpu_permits import PermitPool
from .pool import RESIDENT_BYTES
from .worker import Worker

#: Bytes of guest memory that stay resident in a worker: enough for documents of 10 MB and their
#: results. Faulting these pages in again takes a fifth of the parsing time.
RESIDENT_BYTES_INLINE = 32 * 2**20
#: Seconds for which a thread that parses one document after another may overtake those that wait;
#: less than a caller's patience. Waking another thread for each document left the processors idle
#: for a fifth of the time.
_BARGING = 0.08
#: Documents of at least this size need more guest memory than other workers keep.
_LARGE = RESIDENT_BYTES // 4


class InlineWorkers:
    """Lends workers, at most `limit` at once. Thread-safe.

    Args:
        make: creates a worker that belongs to no thread.
        limit: maximum number of workers.
    """

    def __init__(self, make: Callable[[], Worker], limit: int) -> None:
        self._make = make
        self._permits = PermitPool(limit, barging=_BARGING)
        self._lock = threading.Lock()
        #: A stack: the worker used last is lent next, because its memory is in the CPU caches.
        self._idle: list[Worker] = []
        self._large: set[Worker] = set()
        self._closed = False

    @contextmanager
    def lent(self, seconds: float, size: int, owner: str = "") -> Iterator[Worker | None]:
        """Yields a worker to the calling thread; None after `seconds`, and when closed.

        Args:
            seconds: to wait for one.
            size: of the document, in bytes.
            owner: for whom; see `PermitPool`.
        """
        if not self._permits.acquire(seconds, owner):
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
                # Cleared now, while the memory is still in the CPU caches.
                worker.tidy()
                self._put_back(worker, large=size >= _LARGE)
        finally:
            self._permits.release(owner)

    def let_go_of_large(self) -> None:
        """Returns to the system the memory that large documents needed."""
        with self._lock:
            gone = [worker for worker in self._idle if worker in self._large]
            self._idle = [worker for worker in self._idle if worker not in self._large]
            self._large.difference_update(gone)
        for worker in gone:
            worker.close()

    def close(self) -> None:
        """Closes the workers; those in use are closed when they are returned."""
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
