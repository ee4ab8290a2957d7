from __future__ import annotations

import pytest

from carrel.fetch.retry import (
    backoff,
    budget_reset,
    declared_interval,
    is_retried,
    retry_after,
)

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("7", 7.0), (" 120 ", 120.0), ("999999999999", 3600.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0), ("Tue, 14 Nov 2023 22:13:00 GMT", 0.0),
        ("Tue, 14 Nov 2033 22:13:00 GMT", 3600.0), ("Tue, 14 Nov 2023 22:13:50", 30.0),
        ("-5", None), ("soon", None), ("", None), ("1.5", None), ("\u0664", None),
        ("Tue, 99 Nov 2023 99:99:99 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_date_and_clamped(
    value: str, seconds: float | None
) -> None:
    assert retry_after([("Retry-After", value)], NOW, 3600.0) == seconds


@pytest.mark.parametrize(
    ("remaining", "reset", "seconds"),
    [("0", "3600", 3600.0), ("0.0", " 60 ", 60.0), ("0", str(NOW + 90), 90.0), ("1", "60", None),
     ("0", str(NOW - 5), None), ("0", "0", None), ("0", "", None), ("", "60", None),
     ("0", "nan", None), ("nan", "60", None), ("0", "inf", None)],
)  # fmt: skip
def test_a_spent_budget_says_when_it_is_renewed(
    remaining: str, reset: str, seconds: float | None
) -> None:
    headers = [("X-RateLimit-Remaining", remaining), ("x-ratelimit-reset", reset)]
    assert budget_reset(headers, NOW) == seconds


def test_without_a_header_there_is_no_retry_after() -> None:
    assert retry_after([("date", "x")], NOW, 3600.0) is None


def test_only_statuses_that_pass_are_retried() -> None:
    assert {status for status in range(100, 600) if is_retried(status)} == {429} | (
        set(range(500, 600)) - {501, 505}
    )


def test_backoff_grows_and_is_bounded_and_a_429_waits_longer() -> None:
    assert backoff(1, 1.0) < backoff(2, 1.0) < backoff(3, 1.0)
    assert backoff(50, 1.0) == backoff(60, 1.0)
    assert backoff(1, 0.0) > 0
    assert backoff(1, 0.0, status=429) > backoff(1, 1.0)


@pytest.mark.parametrize(
    ("limit", "interval", "seconds"),
    [("50", "1s", 0.02), ("1", "3", 3.0), ("0", "1s", None), ("x", "1s", None), ("50", "", None),
     ("1", "99999s", 60.0)],
)  # fmt: skip
def test_a_declared_rate_becomes_an_interval(
    limit: str, interval: str, seconds: float | None
) -> None:
    headers = [("X-Rate-Limit-Limit", limit), ("X-Rate-Limit-Interval", interval)]
    assert declared_interval(headers) == seconds
