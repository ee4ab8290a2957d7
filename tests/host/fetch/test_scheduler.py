"""Tests the scheduler: the order of plugins' steps, and a plugin's share of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from carrel.fetch import Policy
from carrel.fetch.scheduler import (
    BURST_SECONDS,
    MOST_SECONDS,
    SHARE,
    STEP_SECONDS,
    FairScheduler,
    partition_of,
)
from carrel.principal import LOCAL, Principal, acting_as
from support.fetch_harness import RULES, FetchHarness, MakeHarness
from support.upstream import Reply, Upstream


class Clock:
    """A clock that only work advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with asyncio.timeout(10):
            await work()

    asyncio.run(whole())


class TestCoroutines:
    def test_results_faults_and_cancellation_pass_through(self) -> None:
        async def whole() -> None:
            scheduler = FairScheduler()

            async def sum_of(*numbers: int) -> int:
                await asyncio.sleep(0)
                return sum(numbers)

            async def fail() -> None:
                await asyncio.sleep(0)
                raise LookupError

            ended = asyncio.Event()

            async def wait() -> None:
                try:
                    await asyncio.sleep(60)
                finally:
                    await asyncio.sleep(0)
                    ended.set()

            for partition in ("", "a"):
                assert await scheduler.run(partition, sum_of(1, 2)) == 3
                with pytest.raises(LookupError):
                    await scheduler.run(partition, fail())
                ended.clear()
                waiting = asyncio.create_task(scheduler.run(partition, wait()))
                await asyncio.sleep(0.01)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                assert ended.is_set()

        run(whole)

    def test_a_timeout_ends_the_wait(self) -> None:
        async def whole() -> None:
            async def slow() -> str:
                try:
                    async with asyncio.timeout(0.01):
                        await asyncio.sleep(60)
                except TimeoutError:
                    return "timed out"
                return "slept"

            assert await FairScheduler().run("a", slow()) == "timed out"

        run(whole)

    def test_a_cancelled_queued_step_does_not_delay_others(self) -> None:
        async def whole() -> None:
            scheduler = FairScheduler()

            async def step() -> None:
                await asyncio.sleep(0)

            tasks = [asyncio.create_task(scheduler.run(f"p{n}", step())) for n in range(8)]
            await asyncio.sleep(0)
            for task in tasks[1:7]:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert [isinstance(one, asyncio.CancelledError) for one in done] == (
                [False] + [True] * 6 + [False]
            )

        run(whole)

    def test_a_cancelled_step_does_not_delay_the_next_one(self) -> None:
        async def whole() -> None:
            scheduler = FairScheduler()

            async def step() -> None:
                pass

            first, cancelled, last = (
                asyncio.create_task(scheduler.run(name, step())) for name in ("a", "b", "c")
            )
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.gather(first, last)

        run(whole)

    def test_a_cancellation_does_not_wait_for_a_step(self) -> None:
        async def whole() -> None:
            scheduler = FairScheduler()
            waiting = asyncio.create_task(scheduler.run("a", asyncio.sleep(60)))
            await asyncio.sleep(0.01)
            assert scheduler.charge("a", 10) > 60, "the next turn is minutes away"
            waiting.cancel()
            await asyncio.wait([waiting], timeout=5)
            assert waiting.cancelled()

        run(whole)

    def test_the_first_step_runs_at_once_when_no_other_is_due(self) -> None:
        async def whole() -> None:
            async def step() -> None:
                pass

            only = asyncio.create_task(FairScheduler().run("a", step()))
            await asyncio.sleep(0)
            assert only.done()

        run(whole)


class TestCheckpoint:
    def test_a_step_ends_at_the_first_checkpoint_after_its_time(self) -> None:
        async def whole() -> None:
            worked = Clock()
            scheduler = FairScheduler(lambda: 0.0, worked)
            ended: list[bool] = []

            async def work() -> None:
                for seconds in (0.6, 0.6, 0.6, 0.6, 0.6):
                    worked.now += seconds * STEP_SECONDS
                    before = iterations
                    await scheduler.checkpoint()
                    ended.append(iterations > before)

            iterations = 0
            task = asyncio.create_task(scheduler.run("", work()))
            while not task.done():
                await asyncio.sleep(0)
                iterations += 1
            assert ended == [False, True, False, True, False]

        run(whole)


@pytest.mark.requirement("serve:alive:fair-steps")
class TestOrder:
    def test_one_step_for_plugins_in_each_iteration_of_the_loop(self) -> None:
        """Thirty ready tasks of plugins run one by one; a built-in one's runs in each iteration."""

        async def whole() -> None:
            scheduler = FairScheduler()
            iteration = 0
            steps: list[int] = []
            own: list[int] = []

            async def work(noted: list[int]) -> None:
                for _ in range(5):
                    noted.append(iteration)
                    await asyncio.sleep(0)

            tasks = [
                asyncio.create_task(scheduler.run(f"p{n % 6}", work(steps))) for n in range(30)
            ]
            tasks.append(asyncio.create_task(scheduler.run("", work(own))))
            while not all(task.done() for task in tasks):
                iteration += 1
                await asyncio.sleep(0)
            assert len(steps) == 150
            assert len(set(steps)) == len(steps), "two steps of plugins in one iteration"
            assert own[-1] - own[0] == 4, "the built-in plugin waited for others"

        run(whole)

    def test_steps_are_in_inverse_proportion_to_their_length(self) -> None:
        """A partition with steps four times as long gets a quarter as many of them."""

        async def whole() -> None:
            clock = Clock()
            scheduler = FairScheduler(lambda: 0.0, clock)
            order: list[str] = []

            async def work(name: str, seconds: float, steps: int) -> None:
                for _ in range(steps):
                    order.append(name)
                    clock.now += seconds
                    await asyncio.sleep(0)

            async def own() -> None:
                while not all(task.done() for task in modest):
                    clock.now += 1e-3
                    await asyncio.sleep(0)

            def start(name: str, seconds: float) -> list[asyncio.Task[None]]:
                return [
                    asyncio.create_task(scheduler.run(name, work(name, seconds, 20)))
                    for _ in range(4)
                ]

            greedy = start("greedy", 4e-5)
            await asyncio.sleep(0)
            modest = start("modest", 1e-5)
            built_in = asyncio.create_task(scheduler.run("", own()))
            await asyncio.gather(*modest)
            assert order.count("modest") == 80
            assert order.count("greedy") in range(15, 30), "in the order of their coming it is 80"
            await asyncio.gather(*greedy, built_in)

        run(whole)

    def test_an_idle_partition_gains_no_credit(self) -> None:
        async def whole() -> None:
            clock = Clock()
            scheduler = FairScheduler(lambda: 0.0, clock)
            order: list[str] = []

            async def work(name: str, steps: int) -> None:
                for _ in range(steps):
                    order.append(name)
                    clock.now += 1e-5
                    await asyncio.sleep(0)

            await scheduler.run("late", work("late", 1))
            steady = asyncio.create_task(scheduler.run("steady", work("steady", 400)))
            for _ in range(200):
                await asyncio.sleep(0)
            late = asyncio.create_task(scheduler.run("late", work("late", 10)))
            new = asyncio.create_task(scheduler.run("new", work("new", 10)))
            del order[:]
            await asyncio.gather(late, new)
            assert order.count("steady") in range(8, 13), "each of the three has every third step"
            await steady

        run(whole)

    def test_steps_of_one_partition_run_in_the_order_in_which_they_fell_due(self) -> None:
        async def whole() -> None:
            scheduler = FairScheduler(lambda: 0.0, lambda: 0.0)
            order: list[int] = []

            async def note(number: int) -> None:
                order.append(number)

            await asyncio.gather(*(scheduler.run("a", note(number)) for number in range(6)))
            assert order == [0, 1, 2, 3, 4, 5]

        run(whole)


@pytest.mark.requirement("serve:alive:fair-steps")
class TestShare:
    def test_plugins_have_a_part_of_the_loop_in_equal_parts(self) -> None:
        async def whole() -> None:
            now = 0.0
            scheduler = FairScheduler(lambda: now)
            assert scheduler.charge("a", 0) == 0
            assert scheduler.charge("a", BURST_SECONDS) == 0, "a few milliseconds are free"
            assert scheduler.charge("a", 0.001) == pytest.approx(0.001 / SHARE)
            now += 0.001 / SHARE
            assert scheduler.charge("a", 0) == pytest.approx(0)

            async def beside() -> None:
                assert scheduler.charge("a", 0.001) == pytest.approx(0.002 / SHARE)

            await scheduler.run("b", beside())
            now += 1000
            assert scheduler.charge("a", BURST_SECONDS) == 0

            async def alone() -> None:
                assert scheduler.charge("a", 0.001) == pytest.approx(0.001 / SHARE)

            built_in = scheduler.run("", scheduler.run("a", alone()))
            await built_in
            now += 1000
            assert scheduler.charge("a", BURST_SECONDS) == 0
            assert scheduler.charge("a", 0.001) == pytest.approx(0.001 / SHARE), "nothing is saved"

        run(whole)

    def test_work_beyond_the_free_share_is_followed_by_a_pause(self) -> None:
        """A plugin that works without pause gets exactly its share of the time."""

        async def whole() -> None:
            worked = Clock()
            scheduler = FairScheduler(processor=worked)

            async def work(seconds: float) -> None:
                loop = asyncio.get_running_loop()
                end = loop.time() + seconds
                while loop.time() < end:
                    worked.now += 0.2e-3
                    await asyncio.sleep(0)

            await scheduler.run("a", work(0.5))
            assert worked.now <= BURST_SECONDS + 0.5 * SHARE + 0.02
            worked.now = 0.0
            await scheduler.run("", work(0.1))
            assert worked.now > 0.1, "the built-in plugins never rest"

        run(whole)

    def test_a_long_step_is_charged_up_to_a_cap(self) -> None:
        """Python's garbage collector runs in the step in which it is due, of any plugin."""

        async def whole() -> None:
            worked = Clock()
            scheduler = FairScheduler(lambda: 0.0, worked)

            async def work() -> None:
                worked.now += 10.0

            await scheduler.run("a", work())
            assert scheduler.charge("a", BURST_SECONDS - MOST_SECONDS) == 0
            assert scheduler.charge("a", 0.001) > 0

        run(whole)

    def test_only_work_above_the_free_share_is_charged(self) -> None:
        async def whole() -> None:
            worked = Clock()
            scheduler = FairScheduler(lambda: 0.0, worked)
            scheduler.charge("a", BURST_SECONDS)
            owed: list[float] = []

            async def work() -> None:
                for seconds in (0.0015, 0.0007, 0.0001):
                    worked.now += seconds
                    await asyncio.sleep(0)
                    owed.append(scheduler.charge("a", 0) * SHARE)

            await scheduler.run("a", work(), free=0.002)
            assert owed == pytest.approx([0, 0.0002, 0.0003])

        run(whole)


class TestPrincipals:
    def test_a_debt_of_one_principal_does_not_delay_another_s_use_of_the_plugin(self) -> None:
        scheduler = FairScheduler()
        assert scheduler.charge(partition_of("p@1", "alice"), 10) > 60
        assert scheduler.charge(partition_of("p@1", "bob"), 0) == 0

    @pytest.mark.parametrize(
        ("plugin", "owner", "apart"), [("p@1", "alice", True), ("p@1", "", False), ("", "a", False)]
    )
    def test_requests_of_a_principal_are_a_partition(
        self,
        monkeypatch: pytest.MonkeyPatch,
        make_harness: MakeHarness,
        upstream: Upstream,
        *,
        plugin: str,
        owner: str,
        apart: bool,
    ) -> None:
        seen: list[str] = []
        run = FairScheduler.run

        def spied(self: FairScheduler, partition: str, work: Any, free: float = 0.0) -> Any:
            seen.append(partition)
            return run(self, partition, work, free)

        monkeypatch.setattr(FairScheduler, "run", spied)
        upstream.on("/a", Reply(body=b"x"))
        client = make_harness().client
        harness = FetchHarness.of(client, Policy("p", RULES, partition=plugin))
        with acting_as(Principal(owner) if owner else LOCAL):
            harness.answer("/a")
        assert seen == [partition_of(plugin, owner)]
        assert (seen[0] != plugin) == apart

    def test_principals_that_owe_nothing_are_forgotten(self) -> None:
        async def whole() -> None:
            clock = Clock()
            scheduler = FairScheduler(clock, lambda: 0.0)

            async def step() -> None:
                pass

            scheduler.charge(partition_of("p", "debtor"), 1000)
            for number in range(3000):
                clock.now += 1
                await scheduler.run(partition_of("p", f"principal-{number}"), step())
            assert len(scheduler) < 1100
            assert scheduler.charge(partition_of("p", "debtor"), 0) > 0

        run(whole)
