"""Tests the token buckets in Redis; the same promises as those of the buckets in a file."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from carrel.errors import StateError
from carrel.fetch.redis_buckets import RedisTokenBuckets
from carrel.state.redis_server import RedisServer
from carrel.state.redis_settings import RedisSettings
from support.redis_process import RedisProcess

pytestmark = pytest.mark.long("replicas")


@pytest.fixture
def buckets(redis_server: RedisServer) -> RedisTokenBuckets:
    """Returns buckets of a server that has been in use for a long time."""
    made = RedisTokenBuckets(redis_server, 3)
    redis_server.command("SET", redis_server.key("born"), "1000000")
    return made


def test_slots_are_an_interval_apart_and_the_first_is_free(buckets: RedisTokenBuckets) -> None:
    assert buckets.take("a", 60.0, 1).wait == 0
    waits = [buckets.take("a", 60.0, 1).wait for _ in range(3)]
    assert all(59 < wait <= 60 for wait in waits), "an attempt too early takes nothing"
    assert buckets.take("b", 60.0, 1).wait == 0


def test_a_slot_is_free_when_it_is_due(buckets: RedisTokenBuckets) -> None:
    assert buckets.take("a", 0.1, 1).wait == 0
    wait = buckets.take("a", 0.1, 1).wait
    time.sleep(wait)
    assert buckets.take("a", 0.1, 1).wait == 0


def test_a_rest_fills_the_bucket_up_to_its_burst(buckets: RedisTokenBuckets) -> None:
    waits = [buckets.take("a", 30.0, 3).wait for _ in range(5)]
    assert [round(wait, -1) for wait in waits] == [0, 0, 0, 30, 30]


def test_a_wait_ends_although_the_server_s_clock_has_jumped_back(
    buckets: RedisTokenBuckets, redis_server: RedisServer
) -> None:
    buckets.take("a", 0.2, 1)
    every = redis_server.command("KEYS", redis_server.key("*"))
    every = [one for one in every if b"born" not in one]
    [key] = [one for one in every if redis_server.command("HEXISTS", one, "touched")]
    for field in ("full_at", "touched"):
        redis_server.command("HINCRBY", key, field, str(3600 * 10**6))
    wait = buckets.take("a", 0.2, 1).wait
    assert 0.15 < wait <= 0.2
    time.sleep(wait)
    assert buckets.take("a", 0.2, 1).wait == 0


def test_a_late_request_moves_its_slot(buckets: RedisTokenBuckets) -> None:
    slot = buckets.take("a", 1.0, 1)
    time.sleep(0.2)
    moved = buckets.keep("a", 1.0, 1, slot)
    assert moved.wait == 0
    assert 0.15 < moved.full_at - slot.full_at < 0.9
    assert buckets.take("a", 1.0, 1).wait > 0.9


def test_a_late_request_takes_a_new_slot_if_another_passed(buckets: RedisTokenBuckets) -> None:
    slot = buckets.take("a", 0.1, 1)
    time.sleep(0.11)
    assert buckets.take("a", 0.1, 1).wait == 0
    assert buckets.keep("a", 0.1, 1, slot).wait > 0


def test_a_returned_slot_is_free_again(buckets: RedisTokenBuckets) -> None:
    slot = buckets.take("a", 60.0, 1)
    buckets.give_back("a", 60.0, slot)
    assert buckets.take("a", 60.0, 1).wait == 0


def test_a_slot_is_not_returned_after_another_was_taken(buckets: RedisTokenBuckets) -> None:
    slot = buckets.take("a", 60.0, 2)
    buckets.take("a", 60.0, 2)
    buckets.give_back("a", 60.0, slot)
    assert buckets.take("a", 60.0, 2).wait > 50


def test_a_pause_applies_to_all_and_ends_without_a_burst(
    buckets: RedisTokenBuckets, redis_settings: RedisSettings
) -> None:
    server = RedisServer(redis_settings)
    other = RedisTokenBuckets(server, 3)
    buckets.penalise("a", 10.0, 3, 100.0)
    assert 99 < other.take("a", 10.0, 3).wait <= 100
    buckets.penalise("a", 10.0, 3, 5.0)
    assert 99 < other.take("a", 10.0, 3).wait <= 100, "a shorter pause ends no longer one"
    server.close()


def test_a_pause_holds_up_an_upstream_without_a_pace(buckets: RedisTokenBuckets) -> None:
    assert [buckets.take("a", 0.0, 5).wait for _ in range(20)] == [0] * 20
    buckets.penalise("a", 0.0, 5, 50.0)
    assert 49 < buckets.take("a", 0.0, 5).wait <= 50


def test_ten_replicas_together_keep_the_pace_of_one(redis_settings: RedisSettings) -> None:
    """Each replica has its own connections, and tries as often as it can."""
    server = RedisServer(redis_settings)
    server.begin()
    ended = threading.Event()

    def work(_: int) -> list[float]:
        own = RedisServer(redis_settings)
        buckets = RedisTokenBuckets(own, 3)
        slots = []
        while not ended.is_set():
            slot = buckets.take("ncbi", 0.05, 1)
            if slot.wait == 0:
                slots.append(slot.full_at)
        own.close()
        return slots

    with ThreadPoolExecutor(10) as pool:
        work_done = [pool.submit(work, number) for number in range(10)]
        time.sleep(1.5)
        ended.set()
        slots = sorted(at for one in work_done for at in one.result())
    gaps = [later - earlier for earlier, later in itertools.pairwise(slots)]
    assert len(slots) > 10
    # The server calls a slot due a millisecond early, as the file does.
    assert min(gaps) >= 0.05 - 0.001, "two replicas took one slot"
    server.close()


def test_a_server_that_lost_its_data_gives_no_slot_twice(
    buckets: RedisTokenBuckets, redis_process: RedisProcess, redis_server: RedisServer
) -> None:
    prefix = redis_server.settings.prefix
    assert [buckets.take("a", 60.0, 3).wait for _ in range(3)] == [0, 0, 0]
    for key in redis_process.command("KEYS", f"{prefix}:*"):
        redis_process.command("DEL", key.decode())
    assert 59 < buckets.take("a", 60.0, 3).wait <= 60
    assert 59 < buckets.take("never used", 60.0, 3).wait <= 60


def test_a_clock_that_went_back_does_not_lengthen_a_wait(
    buckets: RedisTokenBuckets, redis_server: RedisServer, redis_process: RedisProcess
) -> None:
    buckets.take("a", 10.0, 1)
    key = redis_server.key("pace", "bucket", "a")
    full_at, touched = redis_process.command("HMGET", key, "full_at", "touched")
    ahead = 3600 * 10**6
    redis_process.command(
        "HSET", key, "full_at", str(int(full_at) + ahead), "touched", str(int(touched) + ahead)
    )
    assert 9 < buckets.take("a", 10.0, 1).wait <= 10
    redis_process.command("HSET", key, "full_at", str(10**18), "touched", touched.decode())
    assert buckets.take("a", 10.0, 1).wait <= 7200


def test_a_used_bucket_is_forgotten_when_it_is_full(
    buckets: RedisTokenBuckets, redis_server: RedisServer, redis_process: RedisProcess
) -> None:
    buckets.take("a", 30.0, 1)
    left = redis_process.command("PTTL", redis_server.key("pace", "bucket", "a"))
    assert 85_000 < int(left) <= 90_000


def test_without_the_server_no_slot_is_taken() -> None:
    server = RedisServer(RedisSettings("127.0.0.1", 1))
    buckets = RedisTokenBuckets(server, 3)
    for _ in range(3):
        with pytest.raises(StateError):
            buckets.take("a", 0.0, 5)
    server.close()


def test_a_full_server_still_paces(tmp_path: Path) -> None:
    with RedisProcess(tmp_path, options={"maxmemory": "3mb"}) as process:
        server = RedisServer(process.settings())

        def fill(size: int) -> None:
            for number in range(100_000):
                server.command("SET", f"filler{size}-{number}", b"x" * size)

        for size in (10_000, 10):
            with pytest.raises(StateError, match="memory is full"):
                fill(size)
        buckets = RedisTokenBuckets(server, 3)
        assert 29 < buckets.take("a", 30.0, 1).wait <= 30, "the server has just begun"
        buckets.penalise("b", 0.0, 1, 30.0)
        assert 29 < buckets.take("b", 0.0, 1).wait <= 30
        for _ in range(3):
            buckets.report("c", "failed", 60.0)
        assert buckets.take("c", 0.0, 1).circuit_seconds > 0
        server.close()


@pytest.mark.requirement("sandbox:apart:redis-keys")
def test_names_of_buckets_do_not_collide(
    buckets: RedisTokenBuckets, redis_server: RedisServer
) -> None:
    """A manifest chooses the last part of a plugin's bucket."""
    assert buckets.take("eutils.ncbi.nlm.nih.gov", 60.0, 1).wait == 0
    for name in ("plugin/p@1/x:born", "plugin/p@1/../../eutils.ncbi.nlm.nih.gov", "x" * 5000, "é"):
        assert buckets.take(name, 60.0, 1).wait == 0
        assert buckets.take(name, 60.0, 1).wait > 59
    assert buckets.take("x" * 4999, 60.0, 1).wait == 0
    assert redis_server.command("GET", redis_server.key("born")) == b"1000000"


def test_the_circuit_comes_with_the_slot(buckets: RedisTokenBuckets) -> None:
    for _ in range(2):
        buckets.report("a", "failed", 60.0)
    slot = buckets.take("a", 0.0, 1)
    assert (slot.failures, slot.circuit_seconds) == (2, 0)
    buckets.report("a", "failed", 60.0)
    slot = buckets.take("a", 0.0, 1)
    assert slot.failures == 3
    assert 59 < slot.circuit_seconds <= 60
    assert 59 < buckets.report("a", "probe", 60.0) <= 60
    assert buckets.take("b", 0.0, 1).circuit_seconds == 0
    buckets.report("a", "succeeded")
    slot = buckets.take("a", 0.0, 1)
    assert (slot.failures, slot.circuit_seconds) == (0, 0)


def test_one_probe_goes_when_a_circuit_half_opens(buckets: RedisTokenBuckets) -> None:
    for _ in range(3):
        buckets.report("a", "failed", 0.05)
    time.sleep(0.06)
    assert buckets.report("a", "probe", 60.0) == 0
    assert 59 < buckets.report("a", "probe", 60.0) <= 60
    buckets.report("a", "abandoned")
    assert buckets.report("a", "probe", 60.0) == 0
