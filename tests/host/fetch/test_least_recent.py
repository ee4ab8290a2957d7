"""Tests that state for hosts is bounded, and that none which still counts is lost."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from carrel.fetch.connect import Connections
from carrel.fetch.least_recent import LeastRecent
from carrel.fetch.policy.public_web import PublicWeb
from carrel.fetch.policy.rules import HostRule, Policy
from carrel.fetch.settings import FetchSettings
from carrel.fetch.token_buckets import TokenBuckets
from carrel.fetch.upstream import Admission, Upstreams
from carrel.fetch.url import Target
from support.upstream import SkippingClock

pytestmark = pytest.mark.requirement("sandbox:hosts:public-web")

HOSTS = 10_000


class Thing:
    def __init__(self, *, removable: bool = True) -> None:
        self.removable = removable


def table(most: int = 3) -> LeastRecent[Thing]:
    return LeastRecent(most, lambda one: one.removable)


class TestTable:
    def test_the_least_recently_used_are_removed(self) -> None:
        things = table()
        for name in "abc":
            things.put(name, Thing())
        things.get("a")
        things.put("d", Thing())
        gc.collect()
        assert things.get("b") is None
        assert things.get("a") is not None

    def test_an_entry_in_use_is_not_removed(self) -> None:
        things = table()
        things.put("kept", Thing(removable=False))
        for number in range(1000):
            things.put(str(number), Thing())
        gc.collect()
        assert things.get("kept") is not None
        assert len(things) <= 4

    def test_entries_in_use_may_exceed_the_limit(self) -> None:
        things = table()
        busy = [Thing(removable=False) for _ in range(50)]
        for number, thing in enumerate(busy):
            things.put(str(number), thing)
        assert len(things) == 50
        for thing in busy:
            thing.removable = True
        for number in range(100):
            things.put(f"new {number}", Thing())
        assert len(things) <= 4

    def test_a_referenced_entry_is_found(self) -> None:
        things = table()
        held = Thing()
        things.put("held", held)
        for number in range(100):
            things.put(str(number), Thing())
        assert things.get("held") is held


def policy(interval: float) -> Policy:
    rule = PublicWeb(interval=interval)
    return Policy("web", [], ["public-web"], partition="web", public_web=rule)


class World:
    """The upstreams of a process, without connections."""

    def __init__(self) -> None:
        self.clock = SkippingClock()
        self.buckets = TokenBuckets(None, self.clock)
        self.executor = ThreadPoolExecutor(1)
        settings = FetchSettings()
        self.upstreams = Upstreams(
            settings,
            Connections(settings, None, None),
            self.buckets,
            executor=self.executor,
            clock=self.clock,
            jitter=lambda: 0.5,
        )
        self.policy = policy(1.0)

    def admission(self, host: str) -> Admission:
        rule = self.policy.check("GET", Target(host, "/"))
        assert isinstance(rule, HostRule)
        return self.upstreams.admission(self.policy, rule, host)

    def visit_many(self) -> None:
        for number in range(HOSTS):
            self.admission(f"host{number}.example.org")
        gc.collect()

    @property
    def size(self) -> int:
        return max(len(self.upstreams._queues), len(self.upstreams._breakers))


@pytest.fixture
def in_world() -> Callable[[Callable[[World], Coroutine[Any, Any, None]]], None]:
    def run(test: Callable[[World], Coroutine[Any, Any, None]]) -> None:
        async def inside() -> None:
            world = World()
            try:
                await test(world)
            finally:
                world.executor.shutdown()

        asyncio.run(inside())

    return run


class TestUpstreams:
    def test_ten_thousand_hosts_leave_a_bounded_number_of_queues(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            world.visit_many()
            assert world.size <= 1026

        in_world(test)

    def test_a_queue_that_waits_for_its_next_slot_is_not_lost(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            admission = world.admission("slow.example.org")
            await admission.own.penalise(600.0)
            queue = id(admission.own)
            del admission
            world.visit_many()
            own = world.admission("slow.example.org").own
            assert id(own) == queue
            assert "asked to wait 600 s" in own.describe("slow")

        in_world(test)

    def test_the_pace_of_a_queue_that_was_removed_is_that_of_its_bucket(
        self, in_world: Any
    ) -> None:
        async def test(world: World) -> None:
            world.policy = policy(60.0)
            for _ in range(4):
                async with world.admission("busy.example.org").own.slot("x", float("inf")):
                    pass
            world.visit_many()
            async with world.admission("busy.example.org").own.slot("x", float("inf")):
                pass
            # A burst of four, then one a minute: the fifth waited, although the queue is new.
            assert sum(world.clock.waits) > 40

        in_world(test)

    def test_a_pace_that_the_upstream_declared_is_kept_for_an_hour(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            world.admission("slow.example.org").own.slow_to(7.0)
            world.visit_many()
            own = world.admission("slow.example.org").own
            assert own.describe("slow").endswith("(1 request in 7 s)")
            del own
            world.clock.skipped += 3700.0
            world.visit_many()
            own = world.admission("slow.example.org").own
            assert own.describe("slow").endswith("(1 request in 1 s)")

        in_world(test)

    def test_an_open_breaker_is_not_lost(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            for _ in range(5):
                world.admission("dead.example.org").breaker.failed()
            world.visit_many()
            assert world.admission("dead.example.org").breaker.wait > 50

        in_world(test)

    def test_failures_are_counted_on_while_others_are_visited(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            for _ in range(4):
                world.admission("dead.example.org").breaker.failed()
            world.visit_many()
            breaker = world.admission("dead.example.org").breaker
            breaker.failed()
            assert breaker.wait > 0

        in_world(test)

    def test_hosts_that_failed_once_are_forgotten_later(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            for number in range(3000):
                world.admission(f"dead{number}.example.org").breaker.failed()
            assert world.size == 3000
            world.clock.skipped += 700.0
            world.visit_many()
            assert world.size <= 1026

        in_world(test)

    def test_copies_of_full_buckets_are_removed(self, in_world: Any) -> None:
        async def test(world: World) -> None:
            for number in range(HOSTS):
                world.buckets.take(f"host{number}", 0.000001, 1)
            world.buckets.penalise("slow", 1.0, 1, 600.0)
            for number in range(HOSTS):
                world.buckets.take(f"other{number}", 0.000001, 1)
            assert len(world.buckets._memory) <= 1025
            assert world.buckets.take("slow", 1.0, 1).wait > 500

        in_world(test)
