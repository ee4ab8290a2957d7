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
from carrel.runtime.principal_shares import PrincipalShares
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

    def __init__(self, limit: int, running: int, shares: PrincipalShares | None = None) -> None:
        self.begun: list[str] = []
        self.names: list[str] = []
        self.parks: list[Park] = []
        self.ended = threading.Event()
        #: Lets one job end for each time that it is released.
        self.ending = threading.Semaphore(0)
        shares = shares or PrincipalShares(64)
        self.pool = WorkerThreads("shared", limit, self._make, shares, running=running, short=-1)

    def _make(self, _thread: int, park: Park) -> Worker:
        self.parks.append(park)
        permit = SimpleNamespace(slow=False)
        return cast("Worker", SimpleNamespace(permit=permit, tidy=lambda: None, close=lambda: None))

    def submit(self, owner: str, count: int = 1) -> None:
        def job(_worker: Worker, finish: Callable[[], None]) -> None:
            self.names.append(threading.current_thread().name)
            self.begun.append(owner)
            end = time.monotonic() + 30
            while not self.ended.is_set() and not self.ending.acquire(timeout=0.01):
                assert time.monotonic() < end
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


# Guests that compute


def test_guests_of_a_principal_leave_a_processor_to_others() -> None:
    threads = Threads(16, 16, PrincipalShares(2))
    threads.submit("alice", 5)
    threads.submit("bob", 5)
    threads.submit("", 5)
    until(lambda: len(threads.begun) == 7)
    time.sleep(0.1)
    assert sorted(threads.begun) == [""] * 5 + ["alice", "bob"]
    threads.ended.set()
    until(lambda: len(threads.begun) == 15)
    threads.pool.close()


def test_the_next_guest_of_a_principal_runs_in_the_same_thread() -> None:
    threads = Threads(16, 16, PrincipalShares(2))
    threads.submit("bob", 1)
    threads.submit("alice", 10)
    until(lambda: len(threads.begun) == 2)
    mine = threads.names[threads.begun.index("alice")]
    threads.ended.set()
    until(lambda: len(threads.begun) == 11)
    assert [
        name for owner, name in zip(threads.begun, threads.names, strict=True) if owner == "alice"
    ] == [mine] * 10
    threads.pool.close()


def test_components_take_turns_with_the_guests_of_a_principal() -> None:
    shares = PrincipalShares(2)
    components = [Threads(16, 16, shares) for _ in range(3)]
    for threads in components:
        threads.submit("alice", 3)
    order: list[int] = []
    for count in range(1, 10):
        until(lambda count=count: sum(len(one.begun) for one in components) == count)  # type: ignore[misc]
        [running] = [n for n, one in enumerate(components) if len(one.begun) > order.count(n)]
        order.append(running)
        components[running].ending.release()
    assert order == [0, 1, 2] * 3
    until(lambda: not shares._computing)
    assert shares._refused == {}, "no table has a principal without a guest"
    for threads in components:
        threads.pool.close()


def test_a_guest_that_waits_for_an_upstream_is_not_counted() -> None:
    shares = PrincipalShares(2)
    one, two = Threads(16, 16, shares), Threads(16, 16, shares)
    one.submit("alice", 2)
    two.submit("alice", 1)
    until(lambda: one.begun == ["alice"])
    one.parks[0](True)
    until(lambda: len(one.begun) + len(two.begun) == 2)
    (two if two.begun else one).parks[-1](True)
    until(lambda: len(one.begun) + len(two.begun) == 3)
    # The one that resumes counts again, beyond the share.
    one.parks[0](False)
    assert not shares.start("alice", one.pool)
    for threads in (one, two):
        threads.ended.set()
    until(lambda: not shares._computing)
    for threads in (one, two):
        threads.pool.close()


def test_a_component_that_closes_runs_the_jobs_that_wait_for_a_share() -> None:
    shares = PrincipalShares(2)
    busy, idle = Threads(16, 16, shares), Threads(16, 16, shares)
    busy.submit("alice")
    until(lambda: busy.begun == ["alice"])
    idle.submit("alice")
    time.sleep(0.05)
    assert idle.begun == []
    idle.pool.close()
    until(lambda: idle.begun == ["alice"])
    for threads in (busy, idle):
        threads.ended.set()
    busy.pool.close()
    until(lambda: not shares._computing)


# CPU permits


def test_a_principal_without_a_permit_gets_one_at_once() -> None:
    pool = PermitPool(2)
    assert pool.try_acquire("alice")
    assert not pool.try_acquire("alice"), "one is left to others"
    assert pool.try_acquire("bob")
    assert pool.try_acquire("carol"), "beyond the two"
    assert not pool.try_acquire(""), "the local user has no share"
    for owner in ("alice", "bob"):
        pool.release(owner)
    assert pool.try_acquire("dave"), "two are free or held again, and not three"
    assert not pool.try_acquire("")
    for owner in ("carol", "dave"):
        pool.release(owner)
    assert pool._held == {}, "no table has a principal without a permit"


def test_a_permit_goes_to_the_first_that_may_hold_one_more() -> None:
    pool = PermitPool(4)
    for _ in range(3):
        assert pool.try_acquire("alice")
    got: list[str] = []

    def wait(owner: str) -> None:
        pool.acquire(owner=owner)
        got.append(owner)

    assert pool.try_acquire("")
    for owner in ("alice", "alice", ""):
        threading.Thread(target=wait, args=(owner,), daemon=True).start()
    until(lambda: len(pool._waiting) == 3)
    pool.release("")
    until(lambda: got == [""])
    pool.release("alice")
    until(lambda: got == ["", "alice"])
    pool.release("")
    time.sleep(0.05)
    assert got == ["", "alice"], "it is left to others"
    assert pool.try_acquire("bob")


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
