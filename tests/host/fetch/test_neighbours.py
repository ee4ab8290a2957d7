"""Tests how far one plugin can affect others through shared state of the fetch layer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.errors import LimitExceeded
from carrel.exchange import Failure, FailureKind, Request, Response
from carrel.fetch import FetchClient
from support.fetch_harness import ARXIV, until
from support.loopback_client import loopback_client
from support.neighbours import API, EVIL, OTHER, PluginGroup
from support.upstream import Reply, SkippingClock, Upstream

pytestmark = pytest.mark.alone

FEED = Reply(body=b"<feed/>", headers=[("Content-Type", "application/atom+xml")])
ARXIV_API = f"https://{ARXIV}{API}"
KEEP = [("Content-Length", "4")]


def forged(body: bytes = b"evil") -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.fixture
def upstream(authority: trustme.CA) -> Iterator[Upstream]:
    hosts = (ARXIV, "arxiv.org", EVIL, OTHER, "*.evil.example.com")
    with Upstream(*hosts, authority=authority) as server:
        server.on(API, FEED)
        server.on("*", lambda seen: Reply(body=f"{seen.host}{seen.path}".encode()))
        yield server


@pytest.fixture
def clock() -> SkippingClock:
    return SkippingClock()


Open = Callable[..., PluginGroup]


@pytest.fixture
def open_group(upstream: Upstream, tmp_path: Path) -> Iterator[Open]:
    """Opens a client over the same files each time, as a new process would."""
    clients: list[FetchClient] = []

    def make(clock: SkippingClock | None = None, **settings: Any) -> PluginGroup:
        defaults: dict[str, Any] = {
            "cache_path": tmp_path / "answers.sqlite",
            "pace_path": tmp_path / "pace.sqlite",
        }
        client = loopback_client(upstream, tmp_path, clock=clock, **(defaults | settings))
        clients.append(client)
        return PluginGroup(tmp_path, client)

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def quick(open_group: Open, clock: SkippingClock) -> PluginGroup:
    """Returns plugins whose waits end immediately."""
    return open_group(clock)


CACHED = {"host": ARXIV, "cache_seconds": 3600}
SQUATTER = {"host": EVIL, "pace": {"interval_ms": 600_000, "upstream": ARXIV}}


class TestPace:
    @pytest.mark.requirement("sandbox:apart:bucket-name")
    def test_a_bucket_named_in_a_manifest_is_the_plugins_own(
        self, quick: PluginGroup, clock: SkippingClock
    ) -> None:
        evil, arxiv = quick.stranger("evil", SQUATTER), quick.arxiv()
        evil.answer(f"https://{EVIL}/")
        assert arxiv.answer(ARXIV_API).body == "<feed/>"
        assert clock.skipped < 1

    @pytest.mark.requirement("sandbox:apart:retry-after")
    def test_a_429_slows_only_its_plugin_in_new_processes_too(
        self, open_group: Open, upstream: Upstream, clock: SkippingClock
    ) -> None:
        upstream.on("/busy", Reply(429, [("Retry-After", "3600")]))
        first = open_group(clock)
        assert first.stranger("evil", SQUATTER).failure(f"https://{EVIL}/busy").seconds == 3600
        second = open_group(clock)
        assert second.arxiv().answer(ARXIV_API).body == "<feed/>"
        assert clock.skipped < 1
        again = second.stranger("evil", SQUATTER).failure(f"https://{EVIL}/")
        assert again.kind is FailureKind.RATE_LIMITED, "its own next request waits"

    @pytest.mark.requirement("sandbox:apart:retry-after")
    def test_a_429_of_a_shared_host_slows_only_the_plugin_that_got_it(
        self, quick: PluginGroup, upstream: Upstream, clock: SkippingClock
    ) -> None:
        upstream.on("/busy", Reply(429, [("Retry-After", "3600")]))
        guest = quick.stranger("guest", {"host": ARXIV})
        assert guest.failure(f"https://{ARXIV}/busy").seconds == 3600
        assert quick.arxiv().answer(ARXIV_API).body == "<feed/>"
        assert clock.skipped <= 3.1, "arXiv's own three seconds, and no more"

    @pytest.mark.requirement("sandbox:apart:rate-headers")
    def test_rate_headers_affect_only_the_plugin_that_got_them(
        self, quick: PluginGroup, upstream: Upstream, clock: SkippingClock
    ) -> None:
        rate = [("X-Rate-Limit-Limit", "1"), ("X-Rate-Limit-Interval", "60s")]
        upstream.on("/slow", Reply(body=b"x", headers=rate))
        quick.stranger("evil", SQUATTER).answer(f"https://{EVIL}/slow")
        quick.stranger("guest", {"host": ARXIV}).answer(f"https://{ARXIV}/slow")
        arxiv = quick.arxiv()
        before = clock.skipped
        for number in range(3):
            arxiv.answer(f"{ARXIV_API}?n={number}")
        assert clock.skipped - before <= 9.2

    @pytest.mark.requirement("sandbox:apart:circuit")
    def test_a_plugins_failures_open_only_its_own_circuit(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        upstream.on("/broken", Reply(raw=b"not HTTP\r\n\r\n"))
        evil = quick.stranger("evil", {"host": EVIL}, {"host": ARXIV})
        for host in (EVIL, ARXIV):
            for _ in range(3):
                evil.fetch(f"https://{host}/broken")
        assert quick.arxiv().answer(ARXIV_API).body == "<feed/>"
        assert "circuit open" in evil.failure(f"https://{ARXIV}/").message

    @pytest.mark.requirement("sandbox:apart:shared-pace")
    def test_another_plugin_at_a_host_shares_the_built_in_plugins_rate_limit(
        self, quick: PluginGroup, upstream: Upstream, clock: SkippingClock
    ) -> None:
        hasty = quick.stranger("hasty", {"host": ARXIV, "pace": {"interval_ms": 0, "burst": 50}})
        other = quick.stranger("other", {"host": ARXIV})
        hasty.answer(f"https://{ARXIV}/1")
        quick.arxiv().answer(ARXIV_API)
        other.answer(f"https://{ARXIV}/2")
        hasty.answer(f"https://{ARXIV}/3")
        assert clock.skipped >= 8.5, "four requests at one in three seconds"

    @pytest.mark.requirement("sandbox:apart:turns")
    def test_a_flood_at_a_rate_limited_host_delays_another_plugin_by_one_slot(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        release = threading.Event()
        upstream.on("/0", Reply(body=b"x", hold=release))
        flood = quick.stranger("flood", {"host": ARXIV, "concurrency": 64})
        requests = [Request("GET", f"https://{ARXIV}/{number}") for number in range(30)]
        threads = [
            threading.Thread(target=flood.fetcher.fetch_all, args=(requests, flood.call(1000)))
            for _ in range(3)
        ]
        threads.append(threading.Thread(target=quick.arxiv().answer, args=(ARXIV_API,)))
        for thread in threads:
            thread.start()
            until(lambda: bool(upstream.seen))
        time.sleep(0.3)  # all are queued: arXiv gets one request at a time
        assert len(upstream.seen) == 1
        release.set()
        until(lambda: len(upstream.seen) > 6)
        assert API in [seen.path for seen in upstream.seen][:3]
        quick.client.close()
        for thread in threads:
            thread.join()


class TestConnections:
    @pytest.mark.requirement("sandbox:apart:connections")
    def test_a_connection_carries_requests_of_one_plugin_only(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        one = quick.stranger("one", {"host": ARXIV})
        two = quick.stranger("two", {"host": ARXIV})
        for harness in (one, two, quick.arxiv()):
            harness.answer(ARXIV_API)
        one.answer(f"https://{ARXIV}/again")
        assert [seen.connection for seen in upstream.seen] == [1, 2, 3, 1]

    def test_another_version_of_a_plugin_is_another_plugin(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        for digest in "0", "1":
            quick.stranger("one", {"host": EVIL}, digest=digest).answer(f"https://{EVIL}/")
        assert [seen.connection for seen in upstream.seen] == [1, 2]

    @pytest.mark.requirement("sandbox:apart:leftovers")
    @pytest.mark.parametrize(
        ("method", "reply"),
        [
            ("GET", Reply(body=b"good", more=forged())),
            ("HEAD", Reply(headers=KEEP, more=b"evil")),
            ("HEAD", Reply(headers=KEEP, more=forged())),
            ("GET", Reply(raw=b"HTTP/1.1 204 No Content\r\n\r\n", more=forged())),
            ("GET", Reply(raw=b"HTTP/1.1 304 Not Modified\r\n\r\n", more=forged())),
            ("GET", Reply(raw=forged(b"good"), more=b"\r\n" + forged())),
            ("GET", Reply(body=b"good", more=b"x" * 100_000)),
        ],
        ids=["second", "head-body", "head-second", "204", "304", "blank-line", "long"],
    )
    def test_bytes_after_a_complete_response_are_never_the_next_response(
        self, quick: PluginGroup, upstream: Upstream, method: str, reply: Reply
    ) -> None:
        upstream.on("/trap", reply)
        harness = quick.stranger("one", {"host": EVIL})
        harness.answer(f"https://{EVIL}/trap", method=method)
        assert harness.answer(f"https://{EVIL}/next").body == f"{EVIL}/next"
        # Bytes that arrive late are found when the connection is used again: then it is sent twice.
        assert [seen.connection for seen in upstream.seen] in ([1, 2], [1, 1, 2])

    @pytest.mark.requirement("sandbox:apart:leftovers")
    def test_bytes_on_an_idle_connection_are_never_the_next_response(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        harness = quick.stranger("one", {"host": EVIL})
        harness.answer(f"https://{EVIL}/first")
        upstream.push(forged())
        assert harness.answer(f"https://{EVIL}/next").body == f"{EVIL}/next"
        assert [seen.connection for seen in upstream.seen] == [1, 2]

    @pytest.mark.requirement("sandbox:apart:post-once")
    def test_a_post_over_a_connection_with_stray_bytes_is_sent_once(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        upstream.on("/trap", Reply(body=b"good", more=b"stray"))
        upstream.on("/post", Reply(body=b"done"))
        harness = quick.stranger("one", {"host": EVIL})
        harness.answer(f"https://{EVIL}/trap")
        assert harness.answer(f"https://{EVIL}/post", method="POST", body="a=1").body == "done"
        assert [seen.path for seen in upstream.seen].count("/post") == 1

    @pytest.mark.requirement("sandbox:apart:post-once")
    @pytest.mark.parametrize("kept", [False, True], ids=["new", "kept"])
    @pytest.mark.parametrize(
        "reply", [Reply(raw=b""), Reply(body=b"x" * 99, cut=9), Reply(raw=b"no HTTP\r\n\r\n")],
        ids=["closed", "cut", "garbage"],
    )  # fmt: skip
    def test_a_post_that_may_have_arrived_is_not_retried(
        self, quick: PluginGroup, upstream: Upstream, reply: Reply, kept: bool
    ) -> None:
        upstream.on("/post", reply)
        harness = quick.stranger("one", {"host": EVIL})
        if kept:
            harness.answer(f"https://{EVIL}/first")
        failure = harness.failure(f"https://{EVIL}/post", method="POST", body="a=1")
        assert failure.kind is FailureKind.UNREACHABLE
        assert "not repeated" in failure.message
        assert [seen.path for seen in upstream.seen].count("/post") == 1

    def test_a_post_that_could_not_be_sent_is_sent_later(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        upstream.on("/last", Reply(body=b"x", close=True))
        upstream.on("/post", Reply(body=b"done"))
        harness = quick.stranger("one", {"host": EVIL})
        harness.answer(f"https://{EVIL}/last")
        time.sleep(0.05)  # the end of the connection must arrive
        assert harness.answer(f"https://{EVIL}/post", method="POST", body="a=1").body == "done"

    @pytest.mark.requirement("sandbox:apart:idle-connections")
    def test_idle_connections_of_a_plugin_are_limited_over_all_hosts(
        self, open_group: Open, upstream: Upstream
    ) -> None:
        near = open_group(keepalive_seconds=0.5)
        harness = near.stranger("many", {"host": "*.evil.example.com"})
        for number in range(40):
            harness.answer(f"https://n{number}.evil.example.com/")
        until(lambda: upstream.open_connections <= 16)
        until(lambda: upstream.open_connections == 0)


class TestCache:
    @pytest.mark.requirement("sandbox:apart:cache")
    def test_a_response_is_cached_for_its_plugin_only(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        upstream.on(API, Reply(body=b"forged"), FEED)
        evil = quick.stranger("evil", CACHED)
        assert evil.answer(ARXIV_API).body == "forged"
        assert evil.answer(ARXIV_API).cached
        assert quick.arxiv().answer(ARXIV_API).body == "<feed/>"
        other = quick.stranger("other", CACHED)
        assert not other.answer(ARXIV_API).cached
        newer = quick.stranger("evil", CACHED, digest="1")
        assert not newer.answer(ARXIV_API).cached
        assert quick.stranger("evil", CACHED).answer(ARXIV_API).body == "forged"

    @pytest.mark.requirement("sandbox:apart:cache-room")
    def test_a_flood_of_answers_evicts_no_other_plugins_answers(
        self, open_group: Open, upstream: Upstream
    ) -> None:
        near = open_group(cache_max_bytes=2**20, clock=SkippingClock())
        arxiv = near.arxiv()
        arxiv.answer(ARXIV_API)
        upstream.on("*", Reply(body=b"x" * 10_000))
        evil = near.stranger("evil", {"host": EVIL, "cache_seconds": 3600})
        for number in range(200):
            evil.answer(f"https://{EVIL}/{number}")
        assert arxiv.answer(ARXIV_API).cached
        assert evil.answer(f"https://{EVIL}/199").cached

    @pytest.mark.requirement("sandbox:apart:coalescing")
    def test_the_same_request_of_two_plugins_at_once_is_made_twice(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        release = threading.Event()
        upstream.on("/a", Reply(body=b"x", hold=release))
        harnesses = [quick.stranger(name, {"host": EVIL}) for name in ("one", "two")]
        threads = [
            threading.Thread(target=harness.answer, args=(f"https://{EVIL}/a",))
            for harness in harnesses
        ]
        for thread in threads:
            thread.start()
        until(lambda: len(upstream.seen) == 2)
        release.set()
        for thread in threads:
            thread.join()


class TestBytes:
    @pytest.mark.requirement("sandbox:limits:fetched-bytes-as-they-come")
    def test_endless_responses_are_charged_while_they_arrive(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        size = 2 * 2**20
        upstream.on("*", Reply(body=b"x" * size, headers=[("Content-Length", str(size + 1))],
                               more=b""))  # fmt: skip
        harness = quick.stranger("evil", {"host": EVIL, "concurrency": 64})
        call = harness.call(60, fetched_bytes=8 * 2**20)
        requests = [Request("GET", f"https://{EVIL}/{number}") for number in range(32)]
        started = time.monotonic()
        harness.fetcher.fetch_all(requests, call)
        assert isinstance(call.fatal, LimitExceeded)
        assert call.fatal.limit == "fetched_bytes"
        assert call.fetched_bytes <= 8 * 2**20 + 16 * 128 * 2**10
        assert time.monotonic() - started < 20

    @pytest.mark.requirement("sandbox:apart:bytes")
    def test_the_byte_budget_of_a_plugin_covers_all_its_calls(
        self, open_group: Open, upstream: Upstream
    ) -> None:
        near = open_group(plugin_bytes=3 * 2**20)
        release = threading.Event()
        upstream.on("/big", Reply(body=b"x" * 2**20))
        upstream.on("/held", Reply(body=b"x", hold=release))
        evil, other = (near.stranger(name, {"host": EVIL}) for name in ("evil", "other"))
        outcomes: list[list[object]] = []

        def ask(*paths: str) -> None:
            requests = [Request("GET", f"https://{EVIL}/{path}") for path in paths]
            outcomes.append([*evil.fetcher.fetch_all(requests, evil.call())])

        # Each call has its first response and waits for the second.
        threads = [threading.Thread(target=ask, args=(f"big?{n}", "held")) for n in range(3)]
        for thread in threads:
            thread.start()
        held = near.client.held_bytes("evil@0")
        until(lambda: held.held >= 3 * 2**20)
        ask("big?3")
        assert other.answer(f"https://{EVIL}/big").size == 2**20, "another plugin has its own"
        release.set()
        for thread in threads:
            thread.join()
        failures = [one[0] for one in outcomes if isinstance(one[0], Failure)]
        assert [failure.kind for failure in failures] == [FailureKind.TOO_LARGE]
        assert "evil" in failures[0].message
        assert evil.answer(f"https://{EVIL}/big").size == 2**20, "and they are given back"

    @pytest.mark.requirement("sandbox:limits:fetched-bytes")
    def test_cached_responses_are_not_read_beyond_the_budget(
        self, quick: PluginGroup, upstream: Upstream
    ) -> None:
        upstream.on("*", Reply(body=b"x" * 1000))
        harness = quick.stranger("evil", {"host": EVIL, "cache_seconds": 3600})
        harness.answer(f"https://{EVIL}/a")
        call = harness.call(fetched_bytes=2500)
        outcomes = harness.fetcher.fetch_all([Request("GET", f"https://{EVIL}/a")] * 10, call)
        assert sum(isinstance(one, Response) for one in outcomes) == 2
        assert call.fetched_bytes == 3000

    @pytest.mark.requirement("sandbox:apart:concurrency")
    def test_a_manifest_gets_no_more_requests_in_flight_than_the_host_allows(
        self, open_group: Open, upstream: Upstream
    ) -> None:
        near = open_group()
        release = threading.Event()
        upstream.on("*", Reply(body=b"x", hold=release))
        evil = near.stranger("evil", {"host": EVIL, "concurrency": 64})
        requests = [Request("GET", f"https://{EVIL}/{number}") for number in range(64)]
        thread = threading.Thread(target=evil.fetcher.fetch_all, args=(requests, evil.call()))
        thread.start()
        until(lambda: len(upstream.seen) == 16)
        time.sleep(0.1)
        assert len(upstream.seen) == 16
        near.client.close()
        release.set()
        thread.join()


class TestLocalFaults:
    @pytest.mark.requirement("sandbox:apart:local-faults")
    @pytest.mark.parametrize("value", ["text/xml ", " text/xml", "text/xml\t"])
    def test_an_invalid_rate_header_is_ignored(self, quick: PluginGroup, value: str) -> None:
        harness = quick.stranger("one", {"host": EVIL})
        for _ in range(8):
            failure = harness.failure(f"https://{EVIL}/", headers=(("accept", value),))
            assert failure.reason == "header_not_allowed"
        assert harness.answer(f"https://{EVIL}/x").body == f"{EVIL}/x", (
            "its own circuit is closed too"
        )


class TestLookups:
    @pytest.mark.requirement("sandbox:apart:lookups")
    def test_lookups_that_hang_are_bounded_for_each_plugin(
        self, open_group: Open, upstream: Upstream
    ) -> None:
        near = open_group(clock=SkippingClock(), connect_seconds=0.05, retries=0)
        evil = near.stranger("evil", {"host": "*.evil.example.com", "concurrency": 64})
        upstream.names.hanging = True
        requests = [Request("GET", f"https://n{number}.evil.example.com/") for number in range(60)]
        outcomes = evil.fetcher.fetch_all(requests, evil.call())
        assert all(isinstance(outcome, Failure) for outcome in outcomes)
        assert len(upstream.names.lookups) == 16, "no thread more, while they hang"
        upstream.names.hanging = False
        assert near.arxiv().answer(ARXIV_API).body == "<feed/>"
