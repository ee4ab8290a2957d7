"""Tests the circuit breaker that replicas share, over a store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from carrel.errors import StateError
from carrel.fetch.shared_breaker import SharedBreaker
from carrel.fetch.token_buckets import Slot
from support.upstream import SkippingClock


class StillClock(SkippingClock):
    """A clock that only tests advance."""

    def monotonic(self) -> float:
        return self.skipped


class Inline(Executor):
    """Runs work at once, on the calling thread."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*args, **kwargs))
        return done


class RecordingStore:
    """A store that records the outcomes reported to it."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.probe_wait = 0.0
        self.gone = False

    def report(self, _upstream: str, outcome: str, _seconds: float = 0.0) -> float:
        if self.gone:
            raise StateError("redis://h", "gone", retry_after_seconds=1.0)
        self.outcomes.append(outcome)
        return self.probe_wait if outcome == "probe" else 0.0


def make(store: RecordingStore, clock: StillClock) -> SharedBreaker:
    return SharedBreaker(
        "a", store, Inline(), failures=2, seconds=60.0, clock=clock, jitter=lambda: 0.5
    )


def consult(breaker: SharedBreaker, **slot: Any) -> float:
    return asyncio.run(breaker.consult(Slot(0.0, **slot)))


def test_a_circuit_that_another_replica_opened_is_open_here() -> None:
    clock, store = StillClock(), RecordingStore()
    breaker = make(store, clock)
    assert breaker.wait == 0
    assert consult(breaker, circuit_seconds=30.0, failures=2) == 30.0
    assert breaker.wait == 30.0
    clock.skipped = 31.0
    assert breaker.wait == 0
    assert store.outcomes == []


def test_an_ordinary_request_reports_nothing() -> None:
    store = RecordingStore()
    breaker = make(store, StillClock())
    for _ in range(3):
        assert consult(breaker) == 0
        assert breaker.admit() == 0
        breaker.succeeded()
    assert store.outcomes == []


def test_failures_are_shared_and_a_success_resets_them() -> None:
    store = RecordingStore()
    breaker = make(store, StillClock())
    breaker.failed()
    assert consult(breaker, failures=1) == 0
    breaker.succeeded()
    consult(breaker, failures=1)
    breaker.succeeded()
    assert store.outcomes == ["failed", "succeeded", "succeeded"]


def test_one_replica_probes_after_the_pause() -> None:
    store = RecordingStore()
    breaker = make(store, StillClock())
    assert consult(breaker, failures=2) == 0
    breaker.abandoned()
    breaker.abandoned()
    store.probe_wait = 20.0
    assert consult(breaker, failures=2) == 20.0
    breaker.abandoned()
    assert store.outcomes == ["probe", "abandoned", "probe"]


def test_an_outcome_is_reported_with_the_next_request_after_a_store_failure() -> None:
    store = RecordingStore()
    breaker = make(store, StillClock())
    assert consult(breaker, failures=2) == 0
    store.gone = True
    breaker.abandoned()
    store.gone = False
    assert consult(breaker, failures=2, circuit_seconds=50.0) == 0, "the probe was its own"
    assert store.outcomes == ["probe", "abandoned", "probe"]


def test_without_the_store_the_breaker_is_the_process_s_own() -> None:
    clock, store = StillClock(), RecordingStore()
    store.gone = True
    breaker = make(store, clock)
    for _ in range(2):
        assert consult(breaker, failures=2) == 0
        assert breaker.admit() == 0
        breaker.failed()
    assert breaker.wait == 60.0
    clock.skipped = 61.0
    assert breaker.admit() == 0
    breaker.succeeded()
    assert breaker.wait == 0
