"""Tests the handling of upstreams' faults."""

from __future__ import annotations

import asyncio
import gzip
import time
from email.utils import formatdate

import pytest
import trustme

from carrel.exchange import Failure, FailureKind
from carrel.fetch import FetchClient, FetchSettings, HostRule, Pace, Policy
from carrel.fetch.resolve import system_resolver
from support.fetch_harness import ARXIV, EVERY_METHOD, FetchHarness, MakeHarness
from support.upstream import PUBLIC, Reply, SkippingClock, Upstream

GOOD = Reply(body=b"good", headers=[("Content-Type", "text/plain")])
SECOND = "151.101.3.42"


@pytest.fixture
def clock() -> SkippingClock:
    return SkippingClock()


@pytest.fixture
def quick(make_harness: MakeHarness, clock: SkippingClock) -> FetchHarness:
    """Returns an upstream whose waits end immediately."""
    return make_harness(clock=clock)


@pytest.mark.parametrize("bad", [Reply(500), Reply(503), Reply(429), Reply(body=b"x" * 99, cut=9)])
def test_a_temporary_failure_is_retried(
    quick: FetchHarness, upstream: Upstream, bad: Reply
) -> None:
    upstream.on("/a", bad, bad, GOOD)
    assert quick.answer("/a").body == "good"
    assert len(upstream.seen) == 3


READS = (HostRule(ARXIV, EVERY_METHOD, cache_seconds=60),)
AFTER = Reply(503, [("Retry-After", "1")])


class TestPosts:
    """A POST is retried only if it cannot be processed twice (RFC 9110, section 9.2.2)."""

    @pytest.mark.parametrize(
        "bad", [Reply(500), Reply(502), Reply(503), Reply(504), Reply(body=b"x" * 99, cut=9)]
    )
    def test_a_post_that_may_have_been_processed_is_not_retried(
        self, quick: FetchHarness, upstream: Upstream, bad: Reply
    ) -> None:
        upstream.on("/a", bad, GOOD)
        failure = quick.failure("/a", method="POST", body="a=1")
        assert failure.kind is FailureKind.UNREACHABLE
        assert len(upstream.seen) == 1

    @pytest.mark.parametrize("bad", [Reply(429), AFTER], ids=["429", "retry-after"])
    def test_a_post_with_a_retry_status_is_retried(
        self, quick: FetchHarness, upstream: Upstream, bad: Reply
    ) -> None:
        upstream.on("/a", bad, GOOD)
        assert quick.answer("/a", method="POST", body="a=1").body == "good"
        assert len(upstream.seen) == 2

    @pytest.mark.parametrize("bad", [Reply(500), Reply(503), Reply(body=b"x" * 99, cut=9)])
    def test_a_cacheable_post_counts_as_a_read_and_is_retried(
        self, make_harness: MakeHarness, clock: SkippingClock, upstream: Upstream, bad: Reply
    ) -> None:
        upstream.on("/a", bad, bad, GOOD)
        harness = make_harness(rules=READS, clock=clock)
        assert harness.answer("/a", method="POST", body="a=1").body == "good"
        assert len(upstream.seen) == 3


@pytest.mark.parametrize("status", [400, 403, 404, 501, 505])
def test_a_status_that_will_not_pass_is_an_answer(
    quick: FetchHarness, upstream: Upstream, status: int
) -> None:
    upstream.on("/a", Reply(status, body=b"<e/>", headers=[("Content-Type", "text/xml")]), GOOD)
    assert quick.answer("/a").status == status


def test_an_unrequested_record_is_ignored(quick: FetchHarness, upstream: Upstream) -> None:
    upstream.on("/a", Reply(206, [("Content-Range", "bytes 0-3/9")], body=b"part"))
    failure = quick.failure("/a")
    assert (failure.kind, failure.number) == (FailureKind.UNREACHABLE, 206)
    assert len(upstream.seen) == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /b\r\nLocation: /c\r\nContent-Length: 0\r\n\r\n",
    ],
    ids=["version", "two-framings", "two-locations"],
)
def test_an_answer_that_can_be_read_in_two_ways_is_refused(
    quick: FetchHarness, upstream: Upstream, raw: bytes
) -> None:
    upstream.on("/a", Reply(raw=raw))
    upstream.on("*", GOOD)
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "HTTP's rules" in failure.message
    assert {seen.path for seen in upstream.seen} == {"/a"}


def test_a_server_error_that_lasts_is_unreachable_with_its_status(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(502, body=b"<html>Bad gateway"))
    failure = quick.failure("/a")
    assert (failure.kind, failure.number) == (FailureKind.UNREACHABLE, 502)
    assert "gateway" not in failure.message
    assert len(upstream.seen) == 3


def test_an_api_error_body_with_status_500_reaches_the_plugin(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(500, body=b'{"e": 1}', headers=[("Content-Type", "application/json")]))
    assert quick.answer("/a").status == 500
    assert len(upstream.seen) == 3


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_waited_for_when_it_fits(
    quick: FetchHarness, upstream: Upstream, clock: SkippingClock, form: str
) -> None:
    value = "7" if form == "seconds" else formatdate(time.time() + 7.5, usegmt=True)
    upstream.on("/a", Reply(429, [("Retry-After", value)]), GOOD)
    assert quick.answer("/a").body == "good"
    assert 6 <= clock.skipped <= 8


@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_after_that_does_not_fit_is_rate_limited_with_its_seconds(
    quick: FetchHarness, upstream: Upstream, clock: SkippingClock, status: int
) -> None:
    upstream.on("*", Reply(status, [("Retry-After", "120")]))
    failure = quick.failure("/a")
    assert (failure.kind, failure.seconds) == (FailureKind.RATE_LIMITED, 120)
    assert clock.skipped < 1
    other = quick.failure("/b")
    assert other.kind is FailureKind.RATE_LIMITED
    assert 110 < other.seconds <= 120, "and nobody else asks meanwhile"
    assert len(upstream.seen) == 1


def test_a_spent_budget_is_rate_limited_until_its_reset_without_delaying_others(
    quick: FetchHarness, upstream: Upstream, clock: SkippingClock
) -> None:
    spent = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "40000")]
    upstream.on("/search", Reply(429, spent))
    upstream.on("/free", GOOD)
    failure = quick.failure("/search")
    assert (failure.kind, failure.seconds) == (FailureKind.RATE_LIMITED, 40000)
    assert quick.answer("/free").body == "good"
    assert (len(upstream.seen), clock.skipped < 1) == (2, True)


def test_a_429_that_lasts_is_rate_limited(quick: FetchHarness, upstream: Upstream) -> None:
    upstream.on("/a", Reply(429))
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.RATE_LIMITED
    assert failure.seconds > 0
    assert len(upstream.seen) == 3


@pytest.mark.parametrize(
    "bad",
    [
        Reply(body=b"x" * 5000, cut=100),
        Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
        Reply(raw=b""),
        Reply(raw=b"<html>this is not HTTP\r\n\r\n"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        Reply(raw=b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"),
    ],
    ids=["cut", "cut-chunk", "nothing", "not-http", "two-lengths", "endless-header"],
)
def test_a_broken_response_is_retried_then_unreachable(
    quick: FetchHarness, upstream: Upstream, bad: Reply
) -> None:
    upstream.on("/a", bad)
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert ARXIV in failure.message
    assert "html" not in failure.message
    assert len(upstream.seen) == 3


def test_five_broken_responses_open_the_circuit_until_a_probe_succeeds(
    quick: FetchHarness, upstream: Upstream, clock: SkippingClock
) -> None:
    upstream.on("*", *[Reply(raw=b"")] * 6, GOOD)
    for _ in range(2):
        quick.failure("/a")
    seen = len(upstream.seen)
    assert seen == 5
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "circuit open" in failure.message
    assert len(upstream.seen) == seen
    clock.skipped += 61
    assert isinstance(quick.fetch("/a"), Failure), "the probe fails, and it was only one"
    assert len(upstream.seen) == seen + 1
    clock.skipped += 61
    assert quick.answer("/a").body == "good"
    assert quick.answer("/a").body == "good"


@pytest.mark.requirement("sandbox:limits:decompression-bomb")
def test_a_compressed_body_that_expands_without_end_is_too_large(
    quick: FetchHarness, upstream: Upstream
) -> None:
    bomb = gzip.compress(bytes(64 * 2**20))
    upstream.on("/a", Reply(body=bomb, headers=[("Content-Encoding", "gzip")]))
    failure = quick.failure("/a", call=quick.call(response_bytes=2**20))
    assert (failure.kind, failure.number) == (FailureKind.TOO_LARGE, 2**20)
    assert len(upstream.seen) == 1, "trying again would not help"


@pytest.mark.parametrize(
    ("headers", "body", "says"),
    [
        (
            [("Content-Encoding", "gzip, gzip")],
            gzip.compress(gzip.compress(b"x", mtime=0), mtime=0),
            "several",
        ),
        ([("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")], b"", "several"),
        ([("Content-Encoding", "br")], b"\x0b\x02\x80x\x03", "not asked"),
        ([("Content-Encoding", "gzip")], b"plain text", "broken"),
        ([("Content-Encoding", "gzip")], gzip.compress(b"feed" * 99, mtime=0)[:-5], "cut"),
        ([("Content-Type", "text/xml; charset=utf-8")], b"caf\xe9", "byte 3 of 4"),
        ([("Content-Type", "text/xml; charset=klingon")], b"x", "charset"),
    ],
)
def test_a_body_in_another_encoding_than_declared_is_undecodable(
    quick: FetchHarness, upstream: Upstream, headers: list[tuple[str, str]], body: bytes, says: str
) -> None:
    upstream.on("/a", Reply(body=body, headers=headers))
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNDECODABLE
    assert says in failure.message
    assert len(upstream.seen) == 1


def test_a_compressed_answer_arrives_as_text(quick: FetchHarness, upstream: Upstream) -> None:
    text = "<feed>ü</feed>" * 100_000
    upstream.on(
        "/a", Reply(body=gzip.compress(text.encode()), headers=[("Content-Encoding", "gzip")])
    )
    response = quick.answer("/a")
    assert response.body == text
    assert response.size == len(text.encode())
    assert "content-encoding" not in dict(response.headers)


def test_the_next_address_is_tried_if_one_does_not_connect(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.names.table[ARXIV] = [PUBLIC, SECOND]
    upstream.refusing = {PUBLIC}
    upstream.on("/a", GOOD)
    assert quick.answer("/a").body == "good"
    assert upstream.dialled == [PUBLIC, SECOND]


def test_no_connection_at_all_is_unreachable(quick: FetchHarness, upstream: Upstream) -> None:
    upstream.refusing = {PUBLIC}
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "no connection" in failure.message


def test_a_name_without_address_fails_and_a_failed_dns_lookup_is_retried(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.names.table[ARXIV] = []
    assert "no address" in quick.failure("/a").message
    assert len(upstream.names.lookups) == 1
    upstream.names.failing = True
    failure = quick.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "looked up" in failure.message
    assert len(upstream.names.lookups) == 1 + 3


@pytest.mark.requirement("sandbox:hosts:one-lookup")
def test_a_name_is_resolved_once_for_all_attempts_of_a_hop(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.names.table[ARXIV] = [[PUBLIC], ["127.0.0.1"]]
    upstream.on("/a", Reply(raw=b""), Reply(503), GOOD)
    assert quick.answer("/a").body == "good"
    assert upstream.names.lookups == [ARXIV]
    assert set(upstream.dialled) == {PUBLIC}


@pytest.mark.requirement("sandbox:hosts:kept-connection")
def test_an_idle_connection_is_not_reused_after_the_address_changed(
    quick: FetchHarness, upstream: Upstream
) -> None:
    upstream.names.table[ARXIV] = [[PUBLIC], [SECOND], ["10.0.0.1"]]
    upstream.on("*", GOOD)
    quick.answer("/a")
    quick.answer("/b")
    assert quick.failure("/c").reason == "private_address"
    assert upstream.dialled == [PUBLIC, SECOND]


@pytest.mark.requirement("sandbox:hosts:tls")
def test_a_certificate_for_another_name_or_of_an_unknown_authority_is_refused(
    upstream: Upstream, make_harness: MakeHarness
) -> None:
    rules = (HostRule("www.ncbi.nlm.nih.gov", EVERY_METHOD),)
    upstream.on("*", GOOD)
    failure = make_harness(rules=rules).failure("https://www.ncbi.nlm.nih.gov/")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "certificate" in failure.message
    failure = make_harness(ca_bundle=None).failure("/a")
    assert "certificate" in failure.message
    with Upstream(ARXIV, authority=trustme.CA()) as impostor:
        impostor.on("*", GOOD)
        client = FetchClient(
            FetchSettings(), resolver=impostor.names, dialer=impostor.dial, jitter=lambda: 0.0
        )
        with client:
            harness = FetchHarness.of(client, Policy("arxiv", [HostRule(ARXIV, EVERY_METHOD)]), ())
            assert "certificate" in harness.failure("/a").message
        assert impostor.seen == []
    assert upstream.seen == []


def test_rate_headers_of_an_upstream_lower_its_rate(
    quick: FetchHarness, upstream: Upstream, clock: SkippingClock
) -> None:
    rate = [("X-Rate-Limit-Limit", "1"), ("X-Rate-Limit-Interval", "2s")]
    upstream.on("*", Reply(body=b"x", headers=rate))
    for path in ("/1", "/2", "/3", "/4"):
        quick.answer(path)
    assert 3.5 < clock.skipped < 6.5


def test_redirects_and_retries_are_rate_limited(
    make_harness: MakeHarness, upstream: Upstream, clock: SkippingClock
) -> None:
    harness = make_harness(rules=(HostRule(ARXIV, EVERY_METHOD, pace=Pace(3.0)),), clock=clock)
    upstream.on("/a", Reply(302, [("Location", "/b")]))
    upstream.on("/b", Reply(500), GOOD)
    assert harness.answer("/a").body == "good"
    assert len(upstream.seen) == 3
    assert clock.skipped >= 5.9


def test_a_hanging_lookup_is_abandoned(make_harness: MakeHarness, upstream: Upstream) -> None:
    upstream.names.hanging = True
    harness = make_harness(connect_seconds=0.05, clock=SkippingClock())
    failure = harness.failure("/a")
    assert failure.kind is FailureKind.UNREACHABLE
    assert "looked up" in failure.message
    assert len(upstream.names.lookups) == 3


def test_the_system_resolver_resolves_names_and_reports_unknown_ones() -> None:
    assert set(asyncio.run(system_resolver("localhost"))) <= {"127.0.0.1", "::1"}
    try:
        assert asyncio.run(system_resolver("no-such-name.invalid")) == []
    except OSError:
        pass  # without a network this cannot be found out


def test_a_request_without_an_address_takes_no_slot_of_the_pace(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("/a", GOOD)
    clock = SkippingClock()
    harness = make_harness(rules=(HostRule(ARXIV, EVERY_METHOD, pace=Pace(3.0)),), clock=clock)
    for addresses in ([], ["127.0.0.1"]):
        upstream.names.table[ARXIV] = addresses
        harness.failure("/a")
    del upstream.names.table[ARXIV]
    assert harness.answer("/a").body == "good"
    assert clock.skipped == 0
