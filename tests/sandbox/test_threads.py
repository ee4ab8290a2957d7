"""Tests the number of threads of a component's calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Self, cast

import pytest

from carrel.exchange import Call, Outcome, Request, Response
from carrel.runtime import threads
from carrel.runtime.cpu_permits import Park, permit_count
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.pending import Pending
from carrel.runtime.principal_shares import PrincipalShares
from carrel.runtime.threads import WorkerThreads
from carrel.runtime.worker import Worker
from support.guests import guest

from .conftest import AnsweringFetcher, Load

#: Calls of a component that run at once without waiting for an upstream.
RUNNING = 2 * permit_count() + 1
#: Threads that a component has by default.
LIMIT = 16
#: Computes for about a millisecond.
SPIN = """
  (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
    (br_if $l (i32.lt_u (local.get $i) (i32.const 1000000))))
"""
FETCH = """
  (if (i32.gt_u (local.get $text_length) (i32.const 2))
    (then (drop (call $get (i32.const 5000) (i32.const 10)))))
"""
URL = '(data (i32.const 5000) "https://a/")'


def threads_of(name: str) -> int:
    return sum(one.name.startswith(f"carrel-{name}-") for one in threading.enumerate())


def test_calls_one_after_another_take_one_thread(load: Load) -> None:
    component = load(guest(), "lonely")
    left, done = [50], threading.Event()

    def next_call() -> None:
        # Started by the callback of the last one's end, so as early as possible.
        left[0] -= 1
        if left[0] == 0:
            done.set()
            return
        call = Call("lonely", "tool")
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={}).when_done(
            next_call
        )

    next_call()
    assert done.wait(10)
    assert threads_of("lonely") == 1
    component.close()


def test_as_many_threads_are_made_as_calls_run_at_once(load: Load) -> None:
    component = load(guest("(loop $l (br $l))"), "crowd")
    calls = [Call("crowd", "tool") for _ in range(3)]
    running = [
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        for call in calls
    ]
    end = time.monotonic() + 10
    while threads_of("crowd") < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
    for call, pending in zip(calls, running, strict=True):
        call.cancel()
        pending.when_done(lambda: None)
    component.close()


class Gate:
    """A fetcher that responds once it is opened; counts waiting requests."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.waiting = 0
        self._lock = threading.Lock()

    def fetch_all(self, requests: Sequence[Request], call: Call) -> list[Outcome]:
        call.waits()
        with self._lock:
            self.waiting += 1
        assert self.opened.wait(30)
        return [Response(200, request.url, (), "") for request in requests]


class Peak:
    """Records the maximum number of a component's threads, sampled every millisecond."""

    def __init__(self, name: str) -> None:
        self.most = 0
        self._name = name
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._ended.wait(0.001):
            self.most = max(self.most, threads_of(self._name))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._ended.set()
        self._thread.join()


@pytest.mark.requirement("sandbox:limits:threads")
def test_200_calls_at_once_take_the_threads_of_those_that_run(load: Load) -> None:
    component = load(guest(SPIN, result='{"a":1}'), "burst")
    with Peak("burst") as peak:
        running = [
            component.submit_call(
                "tool", "{}", Call("burst", "tool"), fetcher=OfflineFetcher(), settings={}
            )
            for _ in range(200)
        ]
        assert [one.result(timeout=30) for one in running] == ['{"a":1}'] * 200
    assert 1 <= peak.most <= RUNNING
    component.close()


@pytest.mark.requirement("sandbox:limits:threads")
def test_requests_answered_at_once_take_no_further_threads(load: Load) -> None:
    component = load(guest(FETCH, data=URL, fetching=True), "kept")
    fetcher = AnsweringFetcher()
    with Peak("kept") as peak:
        running = [
            component.submit_call(
                "tool", '"fetch"', Call("kept", "tool"), fetcher=fetcher, settings={}
            )
            for _ in range(200)
        ]
        assert [one.result(timeout=30) for one in running] == ["{}"] * 200
    assert len(fetcher.requests) == 200
    assert 1 <= peak.most <= RUNNING
    component.close()


@pytest.mark.requirement("sandbox:limits:threads")
def test_calls_waiting_for_an_upstream_do_not_block_others_up_to_the_limit(load: Load) -> None:
    component = load(guest(FETCH, data=URL, fetching=True), "waits")
    gate = Gate()

    def submit(text: str) -> Pending:
        call = Call("waits", "tool")
        return component.submit_call("tool", text, call, fetcher=gate, settings={})

    def until_waiting(number: int) -> None:
        end = time.monotonic() + 10
        while gate.waiting < number:
            assert time.monotonic() < end
            time.sleep(0.001)

    with Peak("waits") as peak:
        waiting = [submit('"fetch"') for _ in range(LIMIT - 1)]
        until_waiting(LIMIT - 1)
        assert submit("{}").result(timeout=10) == "{}"  # in the remaining thread
        waiting += [submit('"fetch"') for _ in range(200 - len(waiting))]
        until_waiting(LIMIT)
        assert not any(one.done for one in waiting)
        gate.opened.set()
        assert [one.result(timeout=30) for one in waiting] == ["{}"] * 200
    assert peak.most == LIMIT
    component.close()


def test_long_jobs_do_not_block_others() -> None:
    parks: list[Park] = []

    def make(_thread: int, park: Park) -> Worker:
        parks.append(park)
        permit = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(permit=permit, tidy=lambda: None, close=lambda: None))

    pool = WorkerThreads("parked", 16, make, PrincipalShares(2), running=1, rest=60)
    ended, second = threading.Event(), threading.Event()

    def first_job(_worker: Worker, finish: Callable[[], None]) -> None:
        assert ended.wait(10)
        finish()

    def second_job(_worker: Worker, finish: Callable[[], None]) -> None:
        second.set()
        finish()

    pool.submit(first_job)
    pool.submit(second_job)
    assert not second.wait(0.1)
    assert len(parks) == 1
    parks[0](True)
    assert second.wait(10)
    ended.set()
    pool.close()


def test_short_jobs_run_in_one_thread_until_one_is_not_short() -> None:
    names: list[str] = []
    stuck = threading.Event()

    def make(_thread: int, _park: Park) -> Worker:
        permit = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(permit=permit, tidy=lambda: None, close=lambda: None))

    def short(_worker: Worker, finish: Callable[[], None]) -> None:
        names.append(threading.current_thread().name)
        finish()

    def hanging(_worker: Worker, finish: Callable[[], None]) -> None:
        names.append("hanging")
        assert stuck.wait(30)
        finish()

    def until(count: int) -> None:
        end = time.monotonic() + 10
        while len(names) < count:
            assert time.monotonic() < end
            time.sleep(0.001)

    pool = WorkerThreads("brief", 16, make, PrincipalShares(2), running=5)
    for _ in range(100):
        pool.submit(short)
    until(100)
    assert len(set(names)) == 1
    pool.submit(hanging)
    pool.submit(short)
    until(101)
    time.sleep(0.02)
    assert names[100:] == ["hanging"], "the next waits for it"
    pool.look_for_late()
    until(102)
    for _ in range(100):
        pool.submit(short)
    until(202)
    assert len(set(names[101:])) == 1, "one runs beside it"
    stuck.set()
    pool.close()


def test_jobs_that_are_not_short_run_at_once() -> None:
    most, running, lock = [0], [0], threading.Lock()

    def make(_thread: int, _park: Park) -> Worker:
        permit = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(permit=permit, tidy=lambda: None, close=lambda: None))

    def job(_worker: Worker, finish: Callable[[], None]) -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        with lock:
            running[0] -= 1
        finish()

    pool = WorkerThreads("heavy", 16, make, PrincipalShares(2), running=3)
    for _ in range(20):
        pool.submit(job)
    end = time.monotonic() + 20
    while pool._unfinished:
        assert time.monotonic() < end
        time.sleep(0.01)
        pool.look_for_late()
    assert most == [3]
    pool.close()


class Crowd:
    """Threads with dummy workers, and jobs that record the thread that runs them."""

    def __init__(self, rest: float) -> None:
        self.closed = 0
        shares = PrincipalShares(2)
        self.pool = WorkerThreads("rested", 16, self._make, shares, running=16, short=-1, rest=rest)

    def _make(self, _thread: int, _park: Park) -> Worker:
        permit = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(permit=permit, tidy=lambda: None, close=self._close))

    def _close(self) -> None:
        self.closed += 1

    def run(self, count: int) -> set[str]:
        """Runs so many jobs concurrently; returns the names of their threads."""
        names: set[str] = set()
        meeting = threading.Barrier(count + 1)

        def job(_worker: Worker, finish: Callable[[], None]) -> None:
            names.add(threading.current_thread().name)
            meeting.wait(10)
            finish()

        for _ in range(count):
            self.pool.submit(job)
        meeting.wait(10)
        return names

    def until(self, number: int) -> None:
        """Waits until only so many threads are left."""
        end = time.monotonic() + 10
        while threads_of("rested") > number:
            assert time.monotonic() < end
            threading.Event().wait(0.01)


@pytest.mark.requirement("sandbox:limits:threads-at-rest")
def test_threads_without_a_job_end_after_a_rest_and_give_their_memory_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(threads, "give_back", lambda: given_back.append(1))
    crowd = Crowd(rest=0.1)
    assert len(crowd.run(8)) == 8
    crowd.until(0)
    assert crowd.closed == 8
    assert given_back
    assert len(crowd.run(3)) == 3  # and there are new ones when they are needed
    crowd.pool.close()
    crowd.until(0)


def test_sequential_calls_keep_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "give_back", lambda: None)
    crowd = Crowd(rest=0.3)
    crowd.run(8)
    end = time.monotonic() + 10
    while threads_of("rested") > 1:
        assert time.monotonic() < end
        crowd.run(1)
        threading.Event().wait(0.02)
    assert crowd.closed >= 7
    crowd.pool.close()
    crowd.until(0)


def test_jobs_that_are_queued_when_the_threads_are_closed_still_run() -> None:
    crowd = Crowd(rest=60)
    done: list[int] = []

    def job(_worker: Worker, finish: Callable[[], None]) -> None:
        done.append(1)
        finish()

    for _ in range(200):
        crowd.pool.submit(job)
    crowd.pool.close()
    crowd.until(0)
    assert len(done) == 200
