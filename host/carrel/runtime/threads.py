"""Manages a component's worker threads: starts them on demand and ends idle ones.

They are daemon threads, so that a hanging guest cannot keep the process alive.
"""

from __future__ import annotations

import contextvars
import gc
import logging
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue

from carrel.principal import share_of

from .cpu_permits import Park, permit_count
from .memory import give_back
from .principal_shares import Dispatching, PrincipalShares
from .worker import Worker

_log = logging.getLogger("carrel.runtime")

#: Mean CPU seconds up to which jobs are short: most of that is Python code, so threads that run
#: such jobs concurrently mostly wait for each other.
_SHORT = 0.002
#: The part of the mean that the last job is.
_LAST = 0.125
#: Seconds that a job runs until one more runs beside it, although jobs are short.
_LATE = 0.005
#: Idle seconds after which a thread ends and frees its engine's memory.
REST_SECONDS = 60.0

#: Called with its worker, and with a function that it calls when it no longer needs the worker. A
#: client that has its answer may call again before the job returns, and finds the worker free.
Job = Callable[[Worker, Callable[[], None]], None]


class _Thread:
    """A thread's name, its queue of jobs (None ends the thread), whether its job is parked, and
    for whom it ran last and since when.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inbox: SimpleQueue[Job | None] = SimpleQueue()
        self.parked = False
        self.owner = ""
        self.since = 0.0


class _Waiting:
    """Jobs that wait for a thread: owners are served round robin, each in order."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, deque[Job]] = OrderedDict()

    def append(self, job: Job, owner: str) -> None:
        """Appends a job to those of its owner."""
        self._jobs.setdefault(owner, deque()).append(job)

    def next_owner(self, may_run: Callable[[str], bool]) -> str | None:
        """Returns the first owner for whom a job may run; None if there is none."""
        return next(filter(may_run, self._jobs), None)

    def pop(self, owner: str) -> Job:
        """Removes and returns the next job of an owner, who moves to the end."""
        jobs = self._jobs.pop(owner)
        job = jobs.popleft()
        if jobs:
            self._jobs[owner] = jobs
        return job


class WorkerThreads:
    """Runs jobs in at most `limit` threads, each with its own `Worker`.

    At most `running` jobs are active at once, because more threads than CPU permits would only use
    memory. Further jobs are queued until one ends or is parked, that is, its guest waits for an
    upstream or was deprioritised. While jobs are short, one is active at once, and one more for
    each that turns out not to be (`look_for_late`).

    The thread that finished last gets the next job, so that surplus threads become idle and end.

    Of several owners none makes others wait for long: their jobs are queued round robin, one owner
    holds at most its share of the threads (`carrel.principal.share_of`), and an owner without a job
    need not wait for those that are active. Its guests that compute are limited in all components
    together, see `PrincipalShares`.

    Args:
        name: the component's, used in thread names.
        limit: maximum number of threads.
        make_worker: called in each thread, with its native id and a function that parks and resumes
            its job.
        shares: of the principals, in all components.
        running: maximum number of jobs that run and are not parked.
        short: mean CPU seconds up to which jobs are short.
        rest: idle seconds after which a thread ends.
    """

    def __init__(
        self,
        name: str,
        limit: int,
        make_worker: Callable[[int, Park], Worker],
        shares: PrincipalShares,
        *,
        running: int | None = None,
        short: float = _SHORT,
        rest: float = REST_SECONDS,
    ) -> None:
        self._name = name
        self._limit = limit
        self._most_running = running or 2 * permit_count() + 1
        self._make_worker = make_worker
        self._shares = shares
        self._short = short
        self._rest = rest
        self._closed = False
        self._lock = threading.Lock()
        self._waiting = _Waiting()
        #: Number of threads that run or hold a job of each owner.
        self._held: Counter[str] = Counter()
        self._idle: list[_Thread] = []
        self._threads = 0
        self._busy: set[_Thread] = set()
        #: Busy threads that are not parked.
        self._running = 0
        #: CPU seconds of a job, and how many may be active while jobs are short.
        self._mean = 0.0
        self._most_short = 1
        self._started = 0
        self._unfinished = 0

    def submit(self, job: Job, owner: str = "") -> None:
        """Queues a job; it must not raise. It runs in the caller's context, so that its log lines
        can be distinguished from those of other calls.

        Args:
            job: to run.
            owner: for whom; empty for the local user, who may use all threads.
        """
        context = contextvars.copy_context()
        with self._lock:
            self._unfinished += 1
            self._waiting.append(lambda *arguments: context.run(job, *arguments), owner)
            self._dispatch()

    def close(self) -> None:
        """Ends the threads after the jobs that are already queued."""
        with self._lock:
            self._closed = True
            # Jobs that wait for a principal's share may do so beside idle threads, or without any.
            self._limit = max(1, self._threads)
            self._dispatch()
            self._limit = 0
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.inbox.put(None)

    def dispatch(self) -> None:
        """Assigns queued jobs to threads, up to the limits."""
        with self._lock:
            self._dispatch()

    def look_for_late(self) -> None:
        """Lets one more job run for each that runs for long; called every 10 ms."""
        if not self._busy:
            return
        late = time.monotonic() - _LATE
        with self._lock:
            running = [thread for thread in self._busy if not thread.parked]
            self._most_short = 1 + sum(thread.since < late for thread in running)
            self._dispatch()

    def _dispatch(self) -> None:
        while self._idle or self._threads < min(self._unfinished, self._limit):
            owner = self._waiting.next_owner(self._may_run)
            if owner is None:
                return
            if self._idle:
                thread = self._idle.pop()
                thread.inbox.put(self._take(thread, owner))
            else:
                self._threads += 1
                self._started += 1
                thread = _Thread(f"carrel-{self._name}-{self._started}")
                self._start(thread, self._take(thread, owner))

    def _may_run(self, owner: str) -> bool:
        """Returns whether a thread may run a job of the owner, and counts it; the lock is held."""
        if self._closed:
            self._shares.resume(owner)
            return True
        most = self._most_running
        if self._mean <= self._short:
            most = min(most, self._most_short)
        has_room = self._running < most
        running = self._held[owner]
        if owner and not (running == 0 or (has_room and running < share_of(self._limit))):
            return False
        return (has_room or bool(owner)) and self._shares.start(owner, self)

    def _take(self, thread: _Thread, owner: str) -> Job:
        """Removes and returns the owner's next job, for a thread; the lock is held."""
        thread.owner = owner
        thread.since = time.monotonic()
        self._busy.add(thread)
        self._running += 1
        self._held[owner] += 1
        return self._waiting.pop(owner)

    def _release(self, thread: _Thread) -> list[Dispatching]:
        """Records that a thread's job has ended, though the thread still counts as running.

        Returns the components whose jobs may run now. The lock is held.
        """
        self._held[thread.owner] -= 1
        if not self._held[thread.owner]:
            del self._held[thread.owner]
        return self._shares.stop(thread.owner)

    def _park(self, thread: _Thread, parked: bool) -> None:
        dispatchers: list[Dispatching] = []
        with self._lock:
            if thread.parked != parked:
                thread.parked = parked
                self._running += -1 if parked else 1
                if parked:
                    dispatchers = self._shares.stop(thread.owner)
                else:
                    self._shares.resume(thread.owner)
                self._dispatch()
        for dispatcher in dispatchers:
            dispatcher.dispatch()

    def _start(self, thread: _Thread, job: Job | None = None) -> None:
        args = (thread, job)
        threading.Thread(target=self._run, args=args, name=thread.name, daemon=True).start()

    def _run(self, thread: _Thread, job: Job | None) -> None:
        worker = self._make_worker(threading.get_native_id(), partial(self._park, thread))
        job = job or self._next_job(thread)
        while job is not None:
            begun = time.thread_time()
            try:
                job(worker, self._finish)
            except Exception:  # noqa: BLE001 - the thread serves other calls
                _log.exception("%s: a call's job raised an exception", self._name)
            worker.tidy()
            self._mean += _LAST * (time.thread_time() - begun - self._mean)
            if worker.permit.slow:
                worker.close()
                # A thread cannot raise its priority again, so it is replaced.
                self._park(thread, False)
                self._start(thread)
                return
            job = self._next_job(thread)
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
            dispatchers = self._release(thread)
        # Before this component's next job, so that components take turns. That job stays in this
        # thread: guests that move from thread to thread, and so between processors, delay others.
        for dispatcher in dispatchers:
            if dispatcher is not self:
                dispatcher.dispatch()
        with self._lock:
            self._busy.discard(thread)
            self._running -= 1
            owner = self._waiting.next_owner(self._may_run)
            if owner is not None:
                return self._take(thread, owner)
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
