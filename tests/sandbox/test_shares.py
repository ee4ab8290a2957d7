"""Tests what one principal may hold of threads, CPU permits and requests in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from carrel.exchange import Call
from carrel.fetch.fair_permits import FairPermits
from carrel.principal import Principal, acting_as, share_of
from carrel.runtime.cpu_permits import Park, PermitPool
from carrel.runtime.threads import WorkerThreads
from carrel.runtime.worker import Worker


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_share_leaves_a_quarter_to_others() -> None:
    assert [share_of(n) for n in (1, 2, 3, 4, 8, 16)] == [1, 1, 2, 3, 6, 12]


def test_a_call_is_made_for_the_current_principal() -> None:
    assert Call("plugin", "tool").owner == ""
    with acting_as(Principal("alice")):
        assert Call("plugin", "tool").owner == "alice"


# Threads


class Threads:
    """Threads of one component whose jobs end when they are released."""

    def __init__(self, limit: int, running: int) -> None:
        self.begun: list[str] = []
        self.ended = threading.Event()
        self.pool = WorkerThreads("shared", limit, self._make, running=running)

    def _make(self, _thread: int, _park: Park) -> Worker:
        turn = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(turn=turn, tidy=lambda: None, close=lambda: None))

    def submit(self, owner: str, count: int = 1) -> None:
        def job(_worker: Worker, finish: Callable[[], None]) -> None:
            self.begun.append(owner)
            assert self.ended.wait(30)
            finish()

        for _ in range(count):
            self.pool.submit(job, owner)


@pytest.fixture
def threads() -> Iterator[Threads]:
    threads = Threads(limit=8, running=8)
    yield threads
    threads.ended.set()
    threads.pool.close()


def test_one_principal_holds_three_quarters_of_the_threads(threads: Threads) -> None:
    threads.submit("alice", 50)
    until(lambda: threads.begun.count("alice") == 6)
    threads.submit("bob")
    threads.submit("carol")
    until(lambda: len(threads.begun) == 8)
    time.sleep(0.1)
    assert sorted(threads.begun) == ["alice"] * 6 + ["bob", "carol"]


def test_the_local_user_holds_all_threads(threads: Threads) -> None:
    threads.submit("", 50)
    until(lambda: len(threads.begun) == 8)


def test_waiting_jobs_are_taken_from_principals_in_turn() -> None:
    threads = Threads(limit=1, running=1)
    threads.submit("alice", 10)
    until(lambda: threads.begun == ["alice"])
    threads.submit("bob", 2)
    threads.ended.set()
    until(lambda: len(threads.begun) == 12)
    assert threads.begun[:5] == ["alice", "alice", "bob", "alice", "bob"]
    threads.pool.close()


def test_a_principal_without_a_job_does_not_wait_for_those_that_compute() -> None:
    threads = Threads(limit=16, running=2)
    threads.submit("alice", 10)
    until(lambda: len(threads.begun) == 2)
    threads.submit("bob", 5)
    until(lambda: "bob" in threads.begun)
    time.sleep(0.1)
    assert threads.begun == ["alice", "alice", "bob"]
    threads.ended.set()
    until(lambda: len(threads.begun) == 15)
    until(lambda: not threads.pool._held)
    assert threads.pool._waiting._jobs == {}, "no table has a principal without a job"
    threads.pool.close()


# CPU permits


def test_a_principal_without_a_permit_gets_one_at_once() -> None:
    pool = PermitPool(2)
    assert pool.try_acquire("alice")
    assert pool.try_acquire("alice")
    assert not pool.try_acquire("alice")
    assert pool.try_acquire("bob")
    assert not pool.try_acquire("bob"), "one only"
    assert not pool.try_acquire(""), "the local user has no share"
    for owner in ("alice", "bob"):
        pool.release(owner)
    assert pool.try_acquire("carol"), "two are free or held again, and not three"
    assert not pool.try_acquire("carol")
    for owner in ("alice", "carol"):
        pool.release(owner)
    assert pool._held == {}, "no table has a principal without a permit"


# Requests of a plugin in flight


@pytest.mark.anyio
async def test_one_principal_holds_three_quarters_of_the_requests_in_flight() -> None:
    permits, ended, held = FairPermits(8), asyncio.Event(), []

    async def one(owner: str) -> None:
        async with permits.held(owner):
            held.append(owner)
            await ended.wait()

    tasks = [asyncio.ensure_future(one("alice")) for _ in range(20)]
    await asyncio.sleep(0.01)
    assert held == ["alice"] * 6
    tasks += [asyncio.ensure_future(one("bob")) for _ in range(3)]
    await asyncio.sleep(0.01)
    assert held[6:] == ["bob", "bob"]
    tasks[10].cancel()
    tasks[-1].cancel()
    ended.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert len(held) == 21
    async with permits.held("alice"), permits.held("alice"):
        pass
    assert not permits._held
    assert not permits._waiting
