from __future__ import annotations

from carrel.fetch.retry import Breaker
from support.upstream import SkippingClock


class StillClock(SkippingClock):
    """A clock that only tests advance."""

    def monotonic(self) -> float:
        return self.skipped


def test_five_consecutive_failures_open_the_circuit_for_a_minute_with_jitter() -> None:
    clock = StillClock()
    breaker = Breaker(5, 60.0, clock, jitter=lambda: 0.5)
    for _ in range(5):
        assert breaker.admit() == 0
        breaker.failed()
    assert breaker.admit() == breaker.wait == 60.0
    early = Breaker(1, 60.0, clock, jitter=lambda: 0.0)
    late = Breaker(1, 60.0, clock, jitter=lambda: 1.0)
    early.failed()
    late.failed()
    assert early.wait < 60.0 < late.wait


def test_a_success_resets_the_failure_count() -> None:
    breaker = Breaker(2, 60.0, StillClock())
    breaker.failed()
    breaker.succeeded()
    breaker.failed()
    assert breaker.admit() == 0


def test_after_the_pause_one_probe_decides() -> None:
    clock = StillClock()
    breaker = Breaker(1, 60.0, clock, jitter=lambda: 0.5)
    breaker.failed()
    clock.skipped = 61.0
    assert breaker.admit() == 0
    assert breaker.admit() > 0
    breaker.failed()
    assert breaker.wait == 60.0
    clock.skipped = 122.0
    assert breaker.admit() == 0
    breaker.succeeded()
    assert breaker.admit() == breaker.admit() == 0


def test_an_abandoned_probe_allows_another() -> None:
    clock = StillClock()
    breaker = Breaker(1, 60.0, clock)
    breaker.failed()
    clock.skipped = 100.0
    assert breaker.admit() == 0
    breaker.abandoned()
    assert breaker.admit() == 0
