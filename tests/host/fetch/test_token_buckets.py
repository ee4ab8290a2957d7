from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.fetch.token_buckets import TokenBuckets
from support.upstream import SkippingClock


class StillClock(SkippingClock):
    """A wall clock that only tests advance or set."""

    now = 1_000_000.0

    def wall(self) -> float:
        return self.now


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(params=["file", "memory"])
def buckets(
    request: pytest.FixtureRequest, tmp_path: Path, clock: StillClock
) -> Iterator[TokenBuckets]:
    made = TokenBuckets(tmp_path / "pace.sqlite3" if request.param == "file" else None, clock)
    yield made
    made.close()


def waits(
    buckets: TokenBuckets, clock: StillClock, interval: float, burst: int, count: int
) -> list[float]:
    """Returns the waits of a client that takes `count` slots in sequence, each when it is
    due.
    """
    waited = []
    for _ in range(count):
        wait = buckets.take("a", interval, burst).wait
        waited.append(round(wait, 6))
        if wait:
            clock.now += wait
            assert buckets.take("a", interval, burst).wait == 0
    return waited


def test_slots_are_an_interval_apart_and_the_first_is_free(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    assert waits(buckets, clock, 3.0, 1, 3) == [0, 3, 3]
    assert buckets.take("crossref", 3.0, 1).wait == 0


def test_a_rest_fills_the_bucket_up_to_its_burst(buckets: TokenBuckets, clock: StillClock) -> None:
    assert waits(buckets, clock, 1.0, 3, 5) == [0, 0, 0, 1, 1]
    clock.now += 100
    assert waits(buckets, clock, 1.0, 3, 4) == [0, 0, 0, 1]


def test_a_slot_cannot_be_taken_before_it_is_due(buckets: TokenBuckets, clock: StillClock) -> None:
    assert buckets.take("a", 10.0, 1).wait == 0
    assert [buckets.take("a", 10.0, 1).wait for _ in range(3)] == [10, 10, 10]
    clock.now += 10
    assert buckets.take("a", 10.0, 1).wait == 0


def test_a_request_that_leaves_late_moves_its_slot(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    slot = buckets.take("a", 3.0, 1)
    clock.now += 0.5
    assert buckets.keep("a", 3.0, 1, slot).wait == 0
    assert buckets.take("a", 3.0, 1).wait == 3.0
    clock.now += 100
    assert buckets.keep("a", 3.0, 1, slot).wait == 0, "nobody went by in a bucket that is full"
    assert buckets.take("a", 3.0, 1).wait == 3.0


def test_a_request_that_others_overtook_gets_a_new_slot(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    slot = buckets.take("a", 3.0, 1)
    clock.now += 3
    other = buckets.take("a", 3.0, 1)
    clock.now += 1
    assert buckets.keep("a", 3.0, 1, slot).wait == 2.0
    assert buckets.keep("a", 3.0, 1, other).wait == 0
    assert buckets.take("a", 3.0, 1).wait == 3.0


def test_a_penalty_pushes_the_next_slot_and_leaves_no_burst_after_it(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    buckets.penalise("a", 1.0, 3, 30.0)
    buckets.penalise("a", 1.0, 3, 2.0)
    assert waits(buckets, clock, 1.0, 3, 3) == [30, 1, 1]


def test_a_clock_that_jumps_back_keeps_the_remaining_wait(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    buckets.take("a", 3.0, 1)
    clock.now -= 86_400
    assert buckets.take("a", 3.0, 1).wait == pytest.approx(3)


def test_a_wait_ends_although_the_clock_has_jumped_back(
    buckets: TokenBuckets, clock: StillClock
) -> None:
    buckets.take("a", 3.0, 1)
    clock.now -= 86_400
    for left in (3.0, 2.0, 1.0):
        assert buckets.take("a", 3.0, 1).wait == pytest.approx(left)
        clock.now += 1.0
    assert buckets.take("a", 3.0, 1).wait == 0


def test_a_clock_that_jumps_ahead_ends_the_wait(buckets: TokenBuckets, clock: StillClock) -> None:
    buckets.penalise("a", 3.0, 1, 600.0)
    clock.now += 86_400
    assert buckets.take("a", 3.0, 1).wait == 0


def test_two_owners_of_one_file_share_a_bucket_across_restarts(
    tmp_path: Path, clock: StillClock
) -> None:
    for turn in range(4):
        buckets = TokenBuckets(tmp_path / "pace.sqlite3", clock)
        assert waits(buckets, clock, 1.0, 1, 1) == [1 if turn else 0]
        buckets.close()


def test_a_bucket_state_from_the_future_is_ignored(tmp_path: Path, clock: StillClock) -> None:
    first = TokenBuckets(tmp_path / "pace.sqlite3", clock)
    first.take("a", 1.0, 1)
    first.close()
    connection = sqlite3.connect(tmp_path / "pace.sqlite3")
    with connection:
        connection.execute("UPDATE bucket_v1 SET full_at = full_at + 3e7")
    connection.close()
    buckets = TokenBuckets(tmp_path / "pace.sqlite3", clock)
    assert 0 < buckets.take("a", 1.0, 1).wait <= 7200
    buckets.close()


@pytest.mark.parametrize("damage", ["not a database at all" * 300, ""])
def test_a_damaged_file_is_replaced(tmp_path: Path, clock: StillClock, damage: str) -> None:
    path = tmp_path / "pace.sqlite3"
    path.write_text(damage)
    buckets = TokenBuckets(path, clock)
    assert [buckets.take("a", 1.0, 1).wait for _ in range(2)] == [0, 1]
    buckets.close()
    again = TokenBuckets(path, clock)
    assert again.take("a", 1.0, 1).wait == 1
    again.close()


def test_an_unusable_folder_paces_in_this_process_and_warns_once(
    tmp_path: Path, clock: StillClock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    with caplog.at_level(logging.WARNING, "carrel.fetch"):
        buckets = TokenBuckets(tmp_path / "file" / "pace.sqlite3", clock)
        assert [buckets.take("a", 1.0, 1).wait for _ in range(3)] == [0, 1, 1]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "pace shared by processes" in caplog.text


_HOLD_THE_LOCK = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE bucket_v1 SET full_at = full_at + 1000")
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.requirement("sandbox:limits:pace-after-kill")
def test_a_process_killed_with_the_lock_blocks_no_other(tmp_path: Path) -> None:
    path = tmp_path / "pace.sqlite3"
    buckets = TokenBuckets(path, SkippingClock())
    buckets.take("a", 0.5, 1)
    child = subprocess.Popen(
        [sys.executable, "-c", _HOLD_THE_LOCK, str(path)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    child.kill()
    child.wait()
    child.stdout.close()
    started = time.monotonic()
    wait = buckets.take("a", 0.5, 1).wait
    assert wait <= 0.5, "the dead process's unfinished write must not count"
    assert time.monotonic() - started < 1.5
    buckets.close()


def test_buckets_of_removed_plugin_versions_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "pace.sqlite3"
    clock = SkippingClock()
    first = TokenBuckets(path, clock)
    for upstream in ("plugin/old@1/api.example.org", "arxiv.org"):
        first.take(upstream, 1.0, 1)
    first.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE bucket_v1 SET full_at = full_at - 2 * 86400")
    connection.close()
    second = TokenBuckets(path, clock)
    second.take("plugin/new@2/api.example.org", 1.0, 1)
    second.close()
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT upstream FROM bucket_v1")}
    connection.close()
    assert names == {"arxiv.org", "plugin/new@2/api.example.org"}
