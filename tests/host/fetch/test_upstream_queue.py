from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from carrel.fetch.policy.rules import HostRule, Pace
from carrel.fetch.token_buckets import TokenBuckets
from carrel.fetch.upstream_queue import GrantedSlot, PaceExceededError, UpstreamQueue
from support.upstream import SkippingClock

GET = frozenset({"GET"})


@pytest.fixture
def clock() -> SkippingClock:
    return SkippingClock()


@pytest.fixture
def make_queue(clock: SkippingClock) -> Iterator[Callable[..., UpstreamQueue]]:
    executor = ThreadPoolExecutor(1)

    def make(interval: float = 0.0, burst: int = 1, concurrency: int = 8) -> UpstreamQueue:
        queue = UpstreamQueue("arxiv", TokenBuckets(None, clock), executor, clock)
        queue.adopt(HostRule("arxiv.org", GET, pace=Pace(interval, burst), concurrency=concurrency))
        return queue

    yield make
    executor.shutdown()


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await work()

    asyncio.run(bounded())


def test_calls_alternate_regardless_of_their_number_of_requests(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    order: list[str] = []
    queue = make_queue(1.0)

    async def ask(who: str, number: int) -> None:
        async with queue.slot(who, clock.monotonic() + 1000):
            order.append(f"{who}{number}")

    async def work() -> None:
        greedy = [asyncio.create_task(ask("a", number)) for number in range(50)]
        await asyncio.sleep(0)
        await ask("b", 0)
        assert len(order) <= 4
        await asyncio.gather(*greedy)

    run(work)
    assert [who for who in order if who[0] == "a"] == [f"a{number}" for number in range(50)]


def test_principals_alternate_regardless_of_their_number_of_calls(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    order: list[str] = []
    queue = make_queue(1.0)

    async def ask(caller: str, owner: str) -> None:
        async with queue.slot(caller, clock.monotonic() + 1000, owner=owner):
            order.append(owner)

    async def work() -> None:
        greedy = [asyncio.create_task(ask(f"call{number}", "alice")) for number in range(50)]
        await asyncio.sleep(0)
        await ask("own", "bob")
        assert len(order) <= 4
        await asyncio.gather(*greedy)

    run(work)
    assert order.count("alice") == 50


def test_one_principal_has_three_quarters_of_the_requests_in_flight(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(concurrency=8)
    held: list[str] = []

    async def work() -> None:
        ended = asyncio.Event()

        async def ask(caller: str, owner: str) -> None:
            async with queue.slot(caller, clock.monotonic() + 1000, owner=owner):
                held.append(owner)
                await ended.wait()

        tasks = [asyncio.create_task(ask(f"call{number}", "alice")) for number in range(20)]
        await asyncio.sleep(0.5)
        assert held == ["alice"] * 6
        tasks += [asyncio.create_task(ask(f"own{number}", "bob")) for number in range(3)]
        await asyncio.sleep(0.5)
        assert held[6:] == ["bob", "bob"]
        ended.set()
        await asyncio.gather(*tasks)

    run(work)
    assert len(held) == 23
    assert not queue._owned
    assert not len(queue._queue)


def test_a_request_that_cannot_be_served_in_time_is_refused_at_once_with_the_seconds(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(2.0)
    refused: list[float] = []
    served = 0

    async def ask() -> None:
        nonlocal served
        try:
            async with queue.slot("call", clock.monotonic() + 10.5):
                served += 1
        except PaceExceededError as fault:
            refused.append(fault.seconds)

    async def work() -> None:
        tasks = [asyncio.create_task(ask()) for _ in range(20)]
        await asyncio.sleep(0)
        assert len(refused) == 14, "known before any slot was waited for"
        await asyncio.gather(*tasks)

    run(work)
    assert served == 6
    assert all(10.5 < seconds <= 40 for seconds in refused)


def test_no_more_than_the_concurrency_is_in_flight(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(concurrency=3)
    now = most = 0

    async def ask() -> None:
        nonlocal now, most
        async with queue.slot("call", clock.monotonic() + 100):
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.005)
            now -= 1

    async def work() -> None:
        await asyncio.gather(*(ask() for _ in range(12)))

    run(work)
    assert most == 3


def test_a_cancelled_requests_slot_is_used_by_the_next(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(5.0)

    async def ask() -> None:
        async with queue.slot("call", clock.monotonic() + 1000):
            pass

    async def work() -> None:
        await ask()
        tasks = [asyncio.create_task(ask()) for _ in range(200)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await ask()

    run(work)
    assert clock.skipped <= 10.1, "two hundred cancelled requests cost at most one slot"


def test_a_penalty_delays_requests_that_already_wait(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(1.0)

    async def ask(patience: float) -> float:
        async with queue.slot("call", clock.monotonic() + patience):
            return clock.skipped

    async def work() -> None:
        await ask(10)
        await queue.penalise(30.0)
        with pytest.raises(PaceExceededError) as refusal:
            await ask(10)
        assert 20 < refusal.value.seconds <= 31
        assert await ask(100) >= 29

    run(work)


def test_the_slowest_of_several_rules_holds_and_an_upstream_can_slow_it_further(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(3.0)
    queue.adopt(HostRule("arxiv.org", GET, pace=Pace(0.0, 100)))
    queue.slow_to(1.0)
    queue.slow_to(4.0)

    async def ask() -> None:
        async with queue.slot("call", clock.monotonic() + 1000):
            pass

    async def work() -> None:
        for _ in range(3):
            await ask()

    run(work)
    assert clock.skipped == pytest.approx(8.0, abs=0.5)


def test_a_request_that_missed_its_slot_waits_again_after_others(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(3.0)

    async def work() -> None:
        patient, hasty = clock.monotonic() + 100, clock.monotonic() + 5
        async with queue.slot("a", patient) as late, queue.slot("b", patient) as other:
            clock.skipped += 1
            await queue.leave(other)
            before = clock.skipped
            await queue.leave(late)
            assert clock.skipped - before == pytest.approx(3.0, abs=0.1)
        async with queue.slot("a", patient) as prompt:
            before = clock.skipped
            await queue.leave(prompt)
            assert clock.skipped == before
        async with queue.slot("a", patient) as late, queue.slot("b", patient):
            with pytest.raises(PaceExceededError):
                await queue.leave(GrantedSlot(late.slot, late.since, hasty))

    run(work)


def test_a_returned_slot_is_used_by_the_next_request(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(3.0)

    async def work() -> None:
        late = clock.monotonic() + 100
        async with queue.slot("a", late) as unused:
            await queue.give_back(unused)
        before = clock.skipped
        async with queue.slot("a", clock.monotonic() + 1) as used:
            assert clock.skipped == before
        async with queue.slot("b", late):
            assert clock.skipped - before == pytest.approx(3.0, abs=0.1)
            await queue.give_back(used)  # another slot was taken in between, so the pace applies
        before = clock.skipped
        async with queue.slot("a", late):
            assert clock.skipped - before == pytest.approx(3.0, abs=0.1)

    run(work)


@pytest.mark.parametrize(
    ("interval", "concurrency", "description"),
    [
        (3.0, 1, "waiting for a slot at arXiv (1 request in 3 s)"),
        (0.1, 5, "waiting for a slot at arXiv (10 requests in 1 s)"),
        (0.334, 5, "waiting for a slot at arXiv (3 requests in 1 s)"),
        (0.4, 5, "waiting for a slot at arXiv (1 request in 0.4 s)"),
        (0.0, 5, "waiting for a slot at arXiv"),
    ],
)
def test_a_rate_limit_wait_is_reported(
    make_queue: Callable[..., UpstreamQueue], interval: float, concurrency: int, description: str
) -> None:
    assert make_queue(interval, concurrency=concurrency).describe("arXiv") == description


def test_a_request_that_waits_for_concurrency_reports_it(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock
) -> None:
    queue = make_queue(3.0, concurrency=1)

    async def work() -> None:
        async with queue.slot("a", clock.monotonic() + 10):
            assert queue.describe("arXiv") == "waiting for a slot at arXiv (1 request at once)"

    run(work)


@pytest.mark.parametrize(
    ("asked", "description"),
    [
        (True, "NCBI asked to wait 5 s"),
        (False, "NCBI asked for slower requests; waiting 5 s"),
    ],
)
def test_a_pause_is_reported_while_it_lasts(
    make_queue: Callable[..., UpstreamQueue], clock: SkippingClock, asked: bool, description: str
) -> None:
    queue = make_queue(1.0)

    async def work() -> None:
        await queue.penalise(4.2, asked=asked)
        assert queue.describe("NCBI") == description
        await clock.sleep(4.3)
        assert queue.describe("NCBI") == "waiting for a slot at NCBI (1 request in 1 s)"

    run(work)
