"""The worker threads of one component: started when needed, kept, bounded.

Daemon threads, because a guest that hangs must not keep the process from ending.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

from .worker import Worker

_log = logging.getLogger("carrel.runtime")

#: Is given the worker it runs in, and what it calls when it needs the worker no more. A client that
#: has its answer may call again before the job has returned, and finds the worker free.
Job = Callable[[Worker, Callable[[], None]], None]


class WorkerThreads:
    """Runs jobs in at most `limit` threads, each with a `Worker` of its own.

    Args:
        name: of the component, for the names of the threads.
        limit: how many threads there may be.
        make_worker: is called in each thread, with its native id.
    """

    def __init__(self, name: str, limit: int, make_worker: Callable[[int], Worker]) -> None:
        self._name = name
        self._limit = limit
        self._make_worker = make_worker
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._unfinished = 0

    def submit(self, job: Job) -> None:
        """Queues a job; it must not raise."""
        with self._lock:
            self._unfinished += 1
            if self._threads < min(self._unfinished, self._limit):
                self._threads += 1
                self._start(f"carrel-{self._name}-{self._threads}")
        self._jobs.put(job)

    def close(self) -> None:
        """Ends the threads after the jobs that are queued now."""
        with self._lock:
            threads, self._limit = self._threads, 0
        for _ in range(threads):
            self._jobs.put(None)

    def _start(self, name: str) -> None:
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        worker = self._make_worker(threading.get_native_id())
        while (job := self._jobs.get()) is not None:
            try:
                job(worker, self._finish)
            except Exception:  # noqa: BLE001 - the thread serves other calls
                _log.exception("%s: what waited for a call failed", self._name)
            worker.tidy()
            if worker.turn.slow:
                worker.close()
                # A thread cannot raise its priority again, so another one takes its place.
                self._start(threading.current_thread().name)
                return

    def _finish(self) -> None:
        with self._lock:
            self._unfinished -= 1
