"""How many threads a component's calls take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from carrel.exchange import Call
from carrel.runtime import threads
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.threads import WorkerThreads
from carrel.runtime.worker import Worker
from support.guests import guest

from .conftest import Load


def threads_of(name: str) -> int:
    return sum(one.name.startswith(f"carrel-{name}-") for one in threading.enumerate())


def test_calls_one_after_another_take_one_thread(load: Load) -> None:
    component = load(guest(), "lonely")
    left, done = [50], threading.Event()

    def next_call() -> None:
        # Asked for by whoever is told of the last one's end, so as early as can be.
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
    assert threads_of("crowd") == 3
    for call, pending in zip(calls, running, strict=True):
        call.cancel()
        pending.when_done(lambda: None)
    component.close()


class Crowd:
    """Threads with workers that do nothing, and jobs that say in which of them they run."""

    def __init__(self, rest: float) -> None:
        self.closed = 0
        self.pool = WorkerThreads("rested", 16, self._make, rest=rest)

    def _make(self, _thread: int) -> Worker:
        turn = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(turn=turn, tidy=lambda: None, close=self._close))

    def _close(self) -> None:
        self.closed += 1

    def run(self, count: int) -> set[str]:
        """Runs so many jobs at once; the names of their threads."""
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
        """Waits until there are only so many threads."""
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


def test_one_call_after_another_keeps_one_thread_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
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
