"""Manages a component's worker threads: starts them on demand and ends idle ones.

They are daemon threads, so that a hanging guest cannot keep the process alive.
"""

from __future__ import annotations

import contextvars
import gc
import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue

from .cpu_permits import Park, at_once
from .memory import give_back
from .worker import Worker

_log = logging.getLogger("carrel.runtime")

#: Idle seconds after which a thread ends and frees its engine's memory.
REST_SECONDS = 60.0

#: Called with its worker, and with a function that it calls when it no longer needs the worker. A
#: client that has its answer may call again before the job returns, and finds the worker free.
Job = Callable[[Worker, Callable[[], None]], None]


class _Thread:
    """A thread's name, its queue of jobs (None ends the thread), and whether its job is parked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inbox: SimpleQueue[Job | None] = SimpleQueue()
        self.parked = False


class WorkerThreads:
    """Runs jobs in at most `limit` threads, each with its own `Worker`.

    At most `running` jobs are active at once, because more threads than CPU permits would only use
    memory. Further jobs are queued until one ends or is parked, that is, its guest waits for an
    upstream or was deprioritised.

    The thread that finished last gets the next job, so that surplus threads become idle and end.

    Args:
        name: the component's, used in thread names.
        limit: maximum number of threads.
        make_worker: called in each thread, with its native id and a function that parks and resumes
            its job.
        running: maximum number of jobs that run and are not parked.
        rest: idle seconds after which a thread ends.
    """

    def __init__(
        self,
        name: str,
        limit: int,
        make_worker: Callable[[int, Park], Worker],
        *,
        running: int | None = None,
        rest: float = REST_SECONDS,
    ) -> None:
        self._name = name
        self._limit = limit
        self._most_running = running or 2 * at_once() + 1
        self._make_worker = make_worker
        self._rest = rest
        self._closed = False
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._idle: list[_Thread] = []
        self._threads = 0
        #: Threads that are neither idle nor parked.
        self._running = 0
        self._started = 0
        self._unfinished = 0

    def submit(self, job: Job) -> None:
        """Queues a job; it must not raise. It runs in the caller's context, so that its log lines
        can be told from those of other calls.
        """
        context = contextvars.copy_context()
        with self._lock:
            self._unfinished += 1
            self._waiting.append(lambda *given: context.run(job, *given))
            self._dispatch()

    def close(self) -> None:
        """Ends the threads after the jobs that are already queued."""
        with self._lock:
            self._closed, self._limit = True, 0
            idle, self._idle = self._idle, []
        for one in idle:
            one.inbox.put(None)

    def _dispatch(self) -> None:
        """Assigns queued jobs to threads, up to the limits; the lock is held."""
        while self._waiting and self._running < self._most_running:
            if self._idle:
                self._running += 1
                self._idle.pop().inbox.put(self._waiting.popleft())
            elif self._threads < min(self._unfinished, self._limit):
                self._threads += 1
                self._running += 1
                self._started += 1
                self._start(_Thread(f"carrel-{self._name}-{self._started}"))
            else:
                return

    def _park(self, thread: _Thread, parked: bool) -> None:
        with self._lock:
            if thread.parked != parked:
                thread.parked = parked
                self._running += -1 if parked else 1
                self._dispatch()

    def _start(self, thread: _Thread) -> None:
        threading.Thread(target=self._run, args=(thread,), name=thread.name, daemon=True).start()

    def _run(self, thread: _Thread) -> None:
        worker = self._make_worker(threading.get_native_id(), partial(self._park, thread))
        while (job := self._next_job(thread)) is not None:
            try:
                job(worker, self._finish)
            except Exception:  # noqa: BLE001 - the thread serves other calls
                _log.exception("%s: a call's job raised an exception", self._name)
            worker.tidy()
            if worker.turn.slow:
                worker.close()
                # A thread cannot raise its priority again, so it is replaced.
                self._park(thread, False)
                self._start(thread)
                return
        worker.close()
        del worker
        if not self._closed and not self._threads:
            if gc.isenabled():
                # What a worker was made of refers to itself in circles.
                gc.collect()
            give_back()

    def _next_job(self, thread: _Thread) -> Job | None:
        """Waits for the next job and returns it; None when the thread must end."""
        self._park(thread, False)
        with self._lock:
            if self._waiting and (self._running <= self._most_running or self._closed):
                return self._waiting.popleft()
            self._running -= 1
            if self._closed:
                self._threads -= 1
                return None
            self._idle.append(thread)
        try:
            return thread.inbox.get(timeout=self._rest)
        except Empty:
            pass
        with self._lock:
            if thread in self._idle:
                self._idle.remove(thread)
                self._threads -= 1
                return None
        return thread.inbox.get()  # assigned after the timeout

    def _finish(self) -> None:
        with self._lock:
            self._unfinished -= 1
