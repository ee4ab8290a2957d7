"""Tests fetch layers that share a Redis server, as replicas do."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from carrel.exchange import Call, Failure, FailureKind, Request, Response
from carrel.fetch import FetchClient, HostRule, Pace, Policy
from carrel.state.redis_server import RedisServer
from carrel.state.redis_settings import RedisSettings
from support.fetch_harness import ARXIV, FetchHarness, until
from support.loopback_client import loopback_client
from support.redis_process import RedisProcess
from support.upstream import Reply, Seen, Upstream

pytestmark = pytest.mark.long("replicas")

MakeReplica = Callable[..., FetchHarness]

GET = frozenset({"GET"})


@pytest.fixture
def make_replica(upstream: Upstream, tmp_path: Path) -> Iterator[MakeReplica]:
    """Makes the fetch layer of one replica; each has its own connections to Redis."""
    clients: list[FetchClient] = []

    def make(
        settings: RedisSettings, *, interval: float = 0.0, burst: int = 1, cache: float = 0.0,
        partition: str = "", **changes: Any,
    ) -> FetchHarness:  # fmt: skip
        client = loopback_client(upstream, tmp_path, redis=settings, retries=0, **changes)
        # Not shared by this process's other replicas.
        client._server = RedisServer(settings)
        clients.append(client)
        rule = HostRule(ARXIV, GET, pace=Pace(interval, burst), cache_seconds=cache)
        return FetchHarness.of(client, Policy("arxiv", [rule], partition=partition))

    yield make
    for client in clients:
        client.close()
        assert client._server is not None
        client._server.close()


def most_in(seconds: float, seen: Sequence[Seen]) -> int:
    """Counts the requests of the fullest window."""
    times = sorted(one.at for one in seen)
    return max(sum(start <= at < start + seconds for at in times) for start in times)


def flood(replicas: Sequence[FetchHarness], seconds: float) -> list[object]:
    """Makes requests as fast as the replicas allow; returns the outcomes."""
    end = time.monotonic() + seconds

    def work(replica: FetchHarness) -> list[object]:
        outcomes: list[object] = []
        while time.monotonic() < end:
            outcomes.append(replica.fetch(f"/{len(outcomes)}", call=replica.call(20.0)))
        return outcomes

    with ThreadPoolExecutor(len(replicas)) as pool:
        return [outcome for each in pool.map(work, replicas) for outcome in each]


@pytest.mark.alone
@pytest.mark.requirement("sandbox:limits:pace-replicas")
def test_ten_replicas_together_send_ten_requests_a_second(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x"))
    replicas = [make_replica(redis_settings, interval=0.1) for _ in range(10)]
    outcomes = flood(replicas, 3.0)
    assert all(isinstance(one, Response) for one in outcomes)
    # Arrivals may be late on a loaded machine, and then closer to the next; slots never are.
    assert most_in(1.0, upstream.seen) <= 11
    assert len(outcomes) >= 20


def test_a_request_takes_one_round_trip_to_redis(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("*", Reply(body=b"x"))
    with RedisProcess(tmp_path / "redis") as process:
        replica = make_replica(process.settings())
        replica.answer("/a")
        process.command("CONFIG", "RESETSTAT")
        for number in range(5):
            replica.answer(f"/{number}")
        commands = process.command("INFO", "commandstats")
    scripts = sum(commands[f"cmdstat_{name}"]["calls"] for name in ("evalsha",))
    assert scripts == 5
    assert "cmdstat_eval" not in commands


def test_a_pause_applies_to_all_replicas(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    one, other = make_replica(redis_settings), make_replica(redis_settings)
    upstream.on("/a", Reply(429, [("retry-after", "300")]))
    upstream.on("/b", Reply(body=b"x"))
    assert one.failure("/a").kind is FailureKind.RATE_LIMITED
    refused = other.failure("/b", call=other.call(5.0))
    assert refused.kind is FailureKind.RATE_LIMITED
    assert 290 < (refused.seconds or 0) <= 300
    assert len(upstream.seen) == 1


def test_each_partition_has_its_own_pace(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(429, [("retry-after", "300")]))
    upstream.on("/b", Reply(body=b"x"))
    make_replica(redis_settings, partition="p@1").failure("/a")
    assert make_replica(redis_settings, partition="p@2").answer("/b").body == "x"
    assert make_replica(redis_settings).answer("/b").body == "x"


def test_replicas_share_answers_and_partitions_do_not(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x"))
    one, other = (make_replica(redis_settings, cache=60.0) for _ in range(2))
    assert not one.answer("/a").cached
    assert other.answer("/a").cached
    third = make_replica(redis_settings, cache=60.0, partition="p@1")
    assert not third.answer("/a").cached
    assert len(upstream.seen) == 2


def test_a_circuit_that_one_replica_opens_is_open_for_all(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    upstream.on("*", Reply(503))
    one, other = (make_replica(redis_settings, breaker_failures=3) for _ in range(2))
    for number in range(3):
        one.fetch(f"/{number}")
    server = RedisServer(redis_settings)
    circuit = server.key("pace", "circuit", ARXIV)
    until(lambda: server.command("HGET", circuit, "open_until") is not None)
    server.close()
    assert "circuit open" in other.failure("/x").message
    assert len(upstream.seen) == 3, "the other replica has sent nothing"


def test_a_probe_that_was_not_sent_leaves_its_place_to_another(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("/bad", Reply(503))
    upstream.on("/good", Reply(body=b"x"))
    with RedisProcess(tmp_path / "redis") as process:
        replica = make_replica(
            process.settings(), interval=0.2, breaker_failures=1, breaker_seconds=0.5
        )
        resolve, broken = upstream.names, threading.Event()

        async def slowly(host: str) -> Sequence[str]:
            if broken.is_set():
                # The request is then late for its slot, which Redis must move.
                process.kill()
                await asyncio.sleep(0.1)
            return await resolve(host)

        replica.client._resolver = slowly
        replica.fetch("/bad")
        time.sleep(0.7)
        broken.set()
        failure = replica.failure("/good")
        assert "cannot be read now" in failure.message
        broken.clear()
        process.start()
        until(lambda: isinstance(replica.fetch("/good"), Response), 20)


def test_a_replica_that_pauses_while_it_probes_delays_the_others_for_its_lease_only(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    held = threading.Event()
    upstream.on("/bad", Reply(503))
    upstream.on("/held", Reply(503, hold=held))
    upstream.on("/good", Reply(body=b"x"))
    with RedisProcess(tmp_path / "redis") as process, ThreadPoolExecutor(1) as pool:
        first, paused, early, late = (
            make_replica(process.settings(), breaker_failures=2) for _ in range(4)
        )
        for _ in range(2):
            first.fetch("/bad")
        [circuit] = process.command("KEYS", "*:circuit:*")
        until(lambda: process.command("HGET", circuit, "open_until"))
        process.command("HSET", circuit, "open_until", "1")  # it was opened long ago
        probe = pool.submit(paused.fetch, "/held")
        until(lambda: any(one.path == "/held" for one in upstream.seen))
        assert "circuit open" in early.failure("/good").message, "one probes at a time"
        process.command("HSET", circuit, "probe_until", "1")  # the lease has passed
        assert late.answer("/good").body == "x"
        held.set()
        assert isinstance(probe.result(), Response | Failure)
        # What the late probe found counts as one failure, and opens nothing.
        assert late.answer("/good?2").body == "x"


def test_failures_of_all_replicas_count_together(
    make_replica: MakeReplica, redis_settings: RedisSettings, upstream: Upstream
) -> None:
    upstream.on("*", Reply(503))
    replicas = [make_replica(redis_settings, breaker_failures=3) for _ in range(3)]
    for replica in replicas:
        replica.fetch("/a")
    until(lambda: "circuit open" in replicas[0].failure("/b").message)
    assert len(upstream.seen) <= 4


def test_without_redis_nothing_is_sent_and_the_failure_says_why(
    make_replica: MakeReplica, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x"))
    replica = make_replica(RedisSettings("127.0.0.1", 1), cache=60.0)
    started = time.monotonic()
    failure = replica.failure("/a")
    assert time.monotonic() - started < 6
    assert failure.kind is FailureKind.RATE_LIMITED
    assert failure.message.startswith("the rate limits that servers share cannot be read now")
    assert "127.0.0.1" not in failure.message, "a plugin does not learn the address"
    assert 0 < (failure.seconds or 0) <= 5
    assert upstream.seen == []


def test_many_waiting_requests_fail_together_and_not_one_after_another(
    make_replica: MakeReplica, upstream: Upstream
) -> None:
    replica = make_replica(RedisSettings("127.0.0.1", 1))
    started = time.monotonic()
    call = Call("arxiv", "query", deadline=started + 60)
    requests = [Request("GET", f"https://{ARXIV}/{number}") for number in range(30)]
    outcomes = replica.fetcher.fetch_all(requests, call)
    assert time.monotonic() - started < 10
    assert all(isinstance(one, Failure) for one in outcomes)
    assert upstream.seen == []


def test_a_short_outage_is_waited_for(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("*", Reply(body=b"x"))
    with RedisProcess(tmp_path / "redis") as process:
        replica = make_replica(process.settings())
        replica.answer("/a")
        process.kill()
        timer = threading.Timer(0.4, process.start)
        timer.start()
        assert replica.answer("/b").body == "x"
        timer.join()


@pytest.mark.alone
@pytest.mark.long("kills")
@pytest.mark.requirement("sandbox:limits:pace-replicas")
def test_the_pace_holds_while_redis_is_killed_frozen_and_emptied(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("*", Reply(body=b"x"))
    with RedisProcess(tmp_path / "redis") as process:
        settings = process.settings(timeout_seconds=0.3)
        replicas = [make_replica(settings, interval=0.1) for _ in range(4)]

        def disturb() -> None:
            for disturbance in (process.kill, process.freeze, process.kill):
                time.sleep(0.7)
                disturbance()
                time.sleep(0.5)
                process.thaw() if disturbance == process.freeze else process.start()
            time.sleep(0.5)
            process.command("FLUSHALL")

        thread = threading.Thread(target=disturb)
        thread.start()
        outcomes = flood(replicas, 5.5)
        thread.join()
    served = sum(isinstance(one, Response) for one in outcomes)
    assert served >= 10
    assert most_in(1.0, upstream.seen) <= 11
    assert all(
        isinstance(one, Response) or (isinstance(one, Failure) and one.seconds is not None)
        for one in outcomes
    )


def test_a_pause_is_reported_after_the_store_returns(
    make_replica: MakeReplica, upstream: Upstream, tmp_path: Path
) -> None:
    with RedisProcess(tmp_path / "redis") as process:
        one, other = make_replica(process.settings()), make_replica(process.settings())

        def reply(_: Seen) -> Reply:
            process.kill()
            return Reply(429, [("retry-after", "300")])

        upstream.on("/a", reply)
        upstream.on("/b", Reply(body=b"x"))
        assert one.failure("/a").kind is FailureKind.RATE_LIMITED
        process.start()
        bucket = f"carrel:pace:bucket:{ARXIV}"
        until(lambda: int(process.command("HGET", bucket, "full_at")) / 1e6 > time.time() + 200)
        assert (one.failure("/b", call=one.call(5.0)).seconds or 0) > 200
        assert (other.failure("/b", call=other.call(5.0)).seconds or 0) > 200
        assert len(upstream.seen) == 1
