"""The worker threads of one component: started when needed, kept, bounded.

Daemon threads, because a guest that hangs must not keep the process from ending.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from .worker import Worker

Job = Callable[[Worker], None]


class WorkerThreads:
    """Runs jobs in at most `limit` threads, each with a `Worker` of its own."""

    def __init__(self, name: str, limit: int, stack_bytes: int) -> None:
        self._name = name
        self._limit = limit
        self._stack_bytes = stack_bytes
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, job: Job) -> None:
        """Queues a job; it must not raise."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif self._threads < self._limit:
                self._threads += 1
                name = f"carrel-{self._name}-{self._threads}"
                threading.Thread(target=self._run, name=name, daemon=True).start()
        self._jobs.put(job)

    def close(self) -> None:
        """Ends the threads after the jobs that are queued now."""
        with self._lock:
            threads, self._limit = self._threads, 0
        for _ in range(threads):
            self._jobs.put(None)

    def _run(self) -> None:
        worker = Worker(self._stack_bytes)
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                # A job put in between finds an idle count that is one too low, which costs at most
                # one thread more within the limit.
                with self._lock:
                    self._idle += 1
                job = self._jobs.get()
            if job is None:
                return
            job(worker)
