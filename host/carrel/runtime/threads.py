"""The worker threads of one component: started when needed, bounded, ended after a rest.

Daemon threads, because a guest that hangs must not keep the process from ending.
"""

from __future__ import annotations

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

#: Seconds after which a thread without a job ends, and gives back the memory of its engine.
REST_SECONDS = 60.0

#: Is given the worker it runs in, and what it calls when it needs the worker no more. A client that
#: has its answer may call again before the job has returned, and finds the worker free.
Job = Callable[[Worker, Callable[[], None]], None]


class _Thread:
    """A thread's name, where it waits for a job (None ends it), and whether its job is parked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.inbox: SimpleQueue[Job | None] = SimpleQueue()
        self.parked = False


class WorkerThreads:
    """Runs jobs in at most `limit` threads, each with a `Worker` of its own.

    Jobs that compute take turns at the processors, so a thread for each would only hold memory: at
    most `running` jobs compute, prepare to or hand over their results at once. Further ones stay
    in the queue, until one ends or is parked: its guest waits for an upstream, which takes a thread
    and no processor, or was moved to the slow lane.

    The thread that ended a job last gets the next one, so that those that were needed only when
    more ran at once can end.

    Args:
        name: of the component, for the names of the threads.
        limit: how many threads there may be.
        make_worker: is called in each thread, with its native id and what parks and resumes its
            job.
        running: how many jobs may run that are not parked.
        rest: seconds without a job after which a thread ends.
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
        """Queues a job; it must not raise."""
        with self._lock:
            self._unfinished += 1
            self._waiting.append(job)
            self._dispatch()

    def close(self) -> None:
        """Ends the threads after the jobs that are queued now."""
        with self._lock:
            self._closed, self._limit = True, 0
            idle, self._idle = self._idle, []
        for one in idle:
            one.inbox.put(None)

    def _dispatch(self) -> None:
        """Gives jobs that wait to threads, as far as more may run; with the lock held."""
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
                _log.exception("%s: what waited for a call failed", self._name)
            worker.tidy()
            if worker.turn.slow:
                worker.close()
                # A thread cannot raise its priority again, so another one takes its place.
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
        """The next job, waited for; None when the thread is to end."""
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
        return thread.inbox.get()  # given to it just now

    def _finish(self) -> None:
        with self._lock:
            self._unfinished -= 1
