from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from carrel.errors import LimitExceeded
from carrel.exchange import (
    AnswerDiscarder,
    AnswerSettler,
    Call,
    Failure,
    FailureKind,
    Request,
    Response,
    Verdict,
)
from carrel.fetch import HostRule, Pace
from support.fetch_harness import ARXIV, EVERY_METHOD, FetchHarness, MakeHarness, until
from support.upstream import Reply, Seen, SkippingClock, Upstream

CACHED = (HostRule(ARXIV, EVERY_METHOD, cache_seconds=60),)
FEED = Reply(body=b"<feed/>", headers=[("Content-Type", "application/atom+xml")])


def test_a_response_has_status_headers_text_and_size(
    harness: FetchHarness, upstream: Upstream
) -> None:
    headers = [("Content-Type", "text/plain"), ("X-Two", "1"), ("X-Two", "2"), ("Set-Cookie", "a")]
    upstream.on("/x", Reply(404, headers, body="nicht für dich".encode()))
    response = harness.answer("/x?q=1#part")
    assert response == Response(
        404,
        f"https://{ARXIV}/x?q=1",
        (("content-type", "text/plain"), ("x-two", "1"), ("x-two", "2")),
        "nicht für dich",
        15,
    )


def test_requests_have_the_hosts_identity_and_three_headers_of_the_guest(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", FEED)
    harness = make_harness(homepage="https://example.org/carrel")
    harness.answer("/a", headers=(("accept", "application/atom+xml"), ("accept-language", "en")))
    harness.answer("/b", method="POST", body="ids=1,2", headers=(("content-type", "text/plain"),))
    harness.answer("/c", method="HEAD", body="ignored")
    first, second, third = upstream.seen
    assert first.headers == {
        "host": ARXIV,
        "user-agent": first.headers["user-agent"],
        "accept": "application/atom+xml",
        "accept-language": "en",
        "accept-encoding": "gzip",
    }
    assert first.headers["user-agent"].startswith("carrel/")
    assert first.headers["user-agent"].endswith(" (+https://example.org/carrel)")
    assert (second.method, second.body, second.headers["content-type"]) == (
        "POST", b"ids=1,2", "text/plain",
    )  # fmt: skip
    assert (third.method, third.body) == ("HEAD", b"")


def test_outcomes_are_in_the_order_of_the_requests(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("*", lambda seen: Reply(body=seen.path.encode()))
    requests = [Request("GET", f"https://{ARXIV}/{number}") for number in range(40)]
    requests.insert(7, Request("GET", "https://evil.example/"))
    outcomes = harness.fetcher.fetch_all(requests, harness.call())
    assert isinstance(outcomes.pop(7), Failure)
    assert [getattr(outcome, "body", None) for outcome in outcomes] == [
        f"/{number}" for number in range(40)
    ]
    assert upstream.connections <= 8, "no more connections than the rule's concurrency"


def test_connections_are_reused_and_a_lost_one_is_replaced(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", FEED)
    upstream.on("/last", Reply(body=b"x", close=True))
    for path in ("/a", "/a", "/last", "/a"):
        harness.answer(path)
    assert [seen.connection for seen in upstream.seen] == [1, 1, 1, 2]


def test_a_fresh_answer_comes_from_the_cache_until_it_is_refreshed(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(body=b"old"), Reply(body=b"new"))
    harness = make_harness(rules=CACHED)
    assert [harness.answer("/a").cached for _ in range(3)] == [False, True, True]
    assert harness.answer("/a", refresh=True).body == "new"
    assert harness.answer("/a").body == "new"
    assert len(upstream.seen) == 2
    again = make_harness(rules=CACHED)
    assert again.answer("/a").cached, "another process finds it too"


def test_uncacheable_responses_are_fetched_again(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    page = [("Content-Type", "text/html")]
    upstream.on("/error", Reply(400, body=b"<feed/>"))
    upstream.on("/no-store", Reply(body=b"x", headers=[("Cache-Control", "private, no-store")]))
    upstream.on("/challenge", Reply(body=b"<html>", headers=page))
    harness = make_harness(rules=CACHED)
    for path in ("/error", "/no-store", "/challenge"):
        assert not harness.answer(path).cached
        assert not harness.answer(path).cached
    harness.answer("/challenge", headers=(("accept", "text/html"),))
    assert harness.answer("/challenge", headers=(("accept", "text/html"),)).cached


@pytest.mark.requirement("sandbox:hosts:cached-redirect")
def test_a_cached_redirect_is_refused_by_a_policy_that_would_not_follow_it(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    crossref = HostRule("api.crossref.org", EVERY_METHOD)
    upstream.on("/away", Reply(302, [("Location", "https://api.crossref.org/there")]))
    upstream.on("/there", Reply(body=b"there"))
    wide, narrow = make_harness(rules=(*CACHED, crossref)), make_harness(rules=CACHED)
    assert wide.answer("/away").body == "there"
    assert wide.answer("/away").cached
    assert narrow.failure("/away").reason == "host_not_declared"


def test_identical_requests_at_the_same_time_become_one(
    harness: FetchHarness, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "carrel.fetch")
    release = threading.Event()
    upstream.on("/a", Reply(body=b"once", hold=release))
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda: results.append(harness.answer("/a").body)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(upstream.seen) == 1)
    release.set()
    for thread in threads:
        thread.join()
    assert results == ["once"] * 6
    assert len(upstream.seen) == 1
    cache_states = [record.getMessage().partition("cache=")[2] for record in caplog.records]
    assert sorted(cache_states) == ["miss", *["shared"] * 5]


def test_a_cancelled_leader_does_not_fail_coalesced_requests(
    harness: FetchHarness, upstream: Upstream
) -> None:
    release = threading.Event()
    upstream.on("/a", Reply(body=b"for the others", hold=release))
    leading = harness.call()
    outcomes: dict[str, object] = {}
    leader = threading.Thread(
        target=lambda: outcomes.update(leader=harness.fetch("/a", call=leading))
    )
    leader.start()
    until(lambda: len(upstream.seen) == 1)
    progress: list[str] = []
    joined = harness.call(on_progress=lambda _done, _total, message: progress.append(message))
    follower = threading.Thread(
        target=lambda: outcomes.update(follower=harness.answer("/a", call=joined))
    )
    follower.start()
    until(lambda: bool(progress))
    assert progress[-1] == "waiting for the answer to the same request of another call"
    leading.cancel()
    leader.join()
    release.set()
    follower.join()
    assert isinstance(outcomes["leader"], Failure)
    assert isinstance(outcomes["follower"], Response)
    assert len(upstream.seen) == 1


@pytest.mark.requirement("serve:alive:cancel-while-fetching")
def test_cancelling_ends_the_wait_at_once(harness: FetchHarness, upstream: Upstream) -> None:
    upstream.on("*", Reply(silent=True))
    call = harness.call(60)

    def cancel() -> None:
        until(lambda: bool(upstream.seen))
        call.cancel()

    threading.Thread(target=cancel).start()
    started = time.monotonic()
    outcome = harness.fetch("/a", call=call)
    assert isinstance(outcome, Failure)
    assert "cancelled" in outcome.message
    assert time.monotonic() - started < 5
    assert isinstance(harness.fetch("/a", call=call), Failure), "and no new request is made"
    assert len(upstream.seen) == 1


@pytest.mark.requirement("sandbox:limits:fetches")
def test_one_request_too_many_ends_the_call(harness: FetchHarness, upstream: Upstream) -> None:
    upstream.on("*", FEED)
    call = harness.call(fetches=3)
    harness.fetch("/1", call=call)
    request = Request("GET", f"https://{ARXIV}/2")
    outcomes = harness.fetcher.fetch_all([request] * 3, call)
    assert len(outcomes) == 3
    assert isinstance(call.fatal, LimitExceeded)
    assert (call.fatal.limit, call.fatal.allowed) == ("fetches", 3)
    assert len(upstream.seen) == 1


@pytest.mark.requirement("sandbox:limits:response-bytes")
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "undeclared"])
def test_an_answer_over_the_cap_is_too_large(
    harness: FetchHarness, upstream: Upstream, declared: bool
) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    body = b"x" * 2000
    upstream.on("/a", Reply(body=body) if declared else Reply(raw=head + body))
    call = harness.call(response_bytes=1000)
    failure = harness.failure("/a", call=call)
    assert (failure.kind, failure.number) == (FailureKind.TOO_LARGE, 1000)
    assert call.fatal is None
    assert harness.answer("/a", call=harness.call(response_bytes=2000)).size == 2000


@pytest.mark.requirement("sandbox:limits:fetched-bytes")
@pytest.mark.parametrize("rules", [CACHED, (HostRule(ARXIV, EVERY_METHOD),)], ids=["cached", "not"])
def test_too_many_bytes_in_all_end_the_call(
    make_harness: MakeHarness, upstream: Upstream, rules: tuple[HostRule, ...]
) -> None:
    upstream.on("*", Reply(body=b"x" * 400))
    harness = make_harness(rules=rules)
    call = harness.call(fetched_bytes=1000)
    for path in ("/a", "/a", "/a"):
        assert call.fatal is None
        harness.fetch(path, call=call)
    assert isinstance(call.fatal, LimitExceeded)
    assert call.fatal.limit == "fetched_bytes"


@pytest.mark.requirement("sandbox:limits:wall")
def test_a_silent_upstream_ends_in_time_for_the_call_to_return(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("*", Reply(silent=True))
    call = harness.call(1.6)
    failure = harness.failure("/a", call=call)
    assert failure.kind is FailureKind.TIMEOUT
    assert 500 < failure.number <= 1200
    assert call.remaining > 0


@pytest.mark.requirement("sandbox:limits:slow-body")
def test_an_upstream_that_sends_a_byte_at_a_time_ends_in_time_too(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x" * 1000, drip=0.05))
    harness = make_harness(read_seconds=0.5)
    call = harness.call(1.6)
    assert harness.failure("/a", call=call).kind is FailureKind.TIMEOUT
    assert call.remaining > 0


def test_a_silent_upstream_times_out_and_is_retried_before_the_deadline(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("/once", Reply(silent=True), FEED)
    upstream.on("/never", Reply(silent=True))
    harness = make_harness(read_seconds=0.1, clock=SkippingClock())
    assert harness.answer("/once").body == "<feed/>"
    failure = harness.failure("/never")
    assert (failure.kind, failure.number) == (FailureKind.TIMEOUT, 100)
    assert len(upstream.seen) == 2 + 3


def test_two_thousand_heads_at_five_a_second_end_while_the_call_can_still_return(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", Reply())
    # One at a time, so that the clock does not advance during a request.
    rule = HostRule(ARXIV, EVERY_METHOD, pace=Pace(0.2), concurrency=1)
    harness = make_harness(rules=(rule,), clock=SkippingClock())
    call = harness.call(60, fetches=2000)
    call.deadline -= 10
    requests = [Request("HEAD", f"https://{ARXIV}/e-print/{number}") for number in range(2000)]
    outcomes = harness.fetcher.fetch_all(requests, call)
    left = call.deadline - harness.client.clock.monotonic()
    answered = [isinstance(outcome, Response) for outcome in outcomes]
    assert left >= 2
    assert 200 < answered.count(True) < 250
    assert answered == sorted(answered, reverse=True), "those that fit are the first ones"
    rest = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert {failure.kind for failure in rest} == {FailureKind.RATE_LIMITED}
    assert all(failure.seconds > 0 for failure in rest)


def test_a_wait_longer_than_the_call_is_refused_at_once_with_the_seconds(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", FEED)
    rule = HostRule(ARXIV, EVERY_METHOD, pace=Pace(3.0))
    harness = make_harness(rules=(rule,))
    harness.answer("/1")
    started = time.monotonic()
    failure = harness.failure("/2", call=harness.call(2.0))
    assert time.monotonic() - started < 0.5
    assert failure.kind is FailureKind.RATE_LIMITED
    assert 2.5 < failure.seconds <= 3.0
    assert failure.message.startswith(f"{ARXIV} asks for slower requests; try again in ")


def test_a_long_wait_reports_its_reason(make_harness: MakeHarness, upstream: Upstream) -> None:
    release = threading.Event()
    reports: list[tuple[float, float | None, str]] = []

    def listen(done: float, total: float | None, message: str) -> None:
        reports.append((done, total, message))
        if message.startswith("1 of 2"):
            release.set()

    upstream.on("/quick", FEED)
    upstream.on("/slow", Reply(body=b"x", hold=release))
    harness = make_harness(progress_seconds=0.01)
    call = harness.call(on_progress=listen)
    requests = [Request("GET", f"https://{ARXIV}{path}") for path in ("/quick", "/slow")]
    call.progress(2, 3, "asking")
    harness.fetcher.fetch_all(requests, call)
    # The numbers are the plugin's; waiting does not change them.
    assert {(done, total) for done, total, _ in reports} == {(2, 3)}
    message = reports[-1][2]
    assert message == f"1 of 2 fetched, waiting for {ARXIV} to answer"


def test_failed_requests_are_not_counted_as_fetched(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    release = threading.Event()
    messages: list[str] = []

    def listen(_done: float, _total: float | None, message: str) -> None:
        messages.append(message)
        if "1 failed" in message:
            release.set()

    upstream.on("/large", Reply(body=b"x" * 100))
    upstream.on("/slow", Reply(body=b"x", hold=release))
    harness = make_harness(progress_seconds=0.01)
    call = harness.call(on_progress=listen, response_bytes=10)
    requests = [Request("GET", f"https://{ARXIV}{path}") for path in ("/large", "/slow")]
    harness.fetcher.fetch_all(requests, call)
    assert messages[-1] == f"0 of 2 fetched, 1 failed, waiting for {ARXIV} to answer"


def test_the_call_keeps_a_trace_and_the_last_denial(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", FEED)
    call = harness.call()
    harness.fetch("/a", call=call)
    harness.fetch("https://evil.example/", call=call)
    (attempt,) = call.attempts
    assert attempt["host"] == ARXIV
    assert attempt["outcome"] == "status 200"
    assert call.denial is not None
    assert call.denial.reason == "host_not_declared"


def test_a_large_post_body_is_refused_and_an_unknown_method_denied(
    make_harness: MakeHarness,
) -> None:
    harness = make_harness(max_request_bytes=10)
    assert harness.failure("/a", method="POST", body="x" * 11).kind is FailureKind.TOO_LARGE
    assert harness.failure("/a", method="DELETE").reason == "method_not_allowed"


def test_many_threads_at_once_get_their_own_answers(
    harness: FetchHarness, upstream: Upstream
) -> None:
    def echo(seen: Seen) -> Reply:
        return Reply(body=seen.path.encode())

    upstream.on("*", echo)
    wrong: list[str] = []

    def work(worker: int) -> None:
        for turn in range(10):
            path = f"/{worker}/{turn}"
            if harness.answer(path).body != path:
                wrong.append(path)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(upstream.seen) == 80


def test_closing_ends_pending_requests(make_harness: MakeHarness, upstream: Upstream) -> None:
    upstream.on("*", Reply(silent=True))
    harness = make_harness()

    def close() -> None:
        until(lambda: bool(upstream.seen))
        harness.client.close()

    closer = threading.Thread(target=close)
    closer.start()
    assert isinstance(harness.fetch("/a"), Failure)
    closer.join()
    assert isinstance(harness.fetch("/b"), Failure)


def test_an_unwritable_cache_does_not_fail_requests(
    make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    upstream.on("*", FEED)
    harness = make_harness(
        rules=CACHED,
        cache_path=tmp_path / "file" / "cache.sqlite3",
        pace_path=tmp_path / "file" / "pace.sqlite3",
    )
    assert [harness.answer("/a").cached for _ in range(2)] == [False, False]


def test_a_call_that_is_over_makes_no_request(harness: FetchHarness, upstream: Upstream) -> None:
    call = Call("arxiv", "query", deadline=time.monotonic() - 1)
    assert harness.failure("/a", call=call).kind is FailureKind.TIMEOUT
    assert upstream.dialled == []


def discard(harness: FetchHarness, call: Call, request: Request) -> None:
    assert isinstance(harness.fetcher, AnswerDiscarder)
    harness.fetcher.discard(call, request)


def settle(harness: FetchHarness, call: Call, verdict: Verdict) -> None:
    assert isinstance(harness.fetcher, AnswerSettler)
    harness.fetcher.settle(call, verdict)


class TestDiscard:
    def ask(self, harness: FetchHarness, call: Call, path: str) -> Request:
        """Makes a call request a URL; the test decides the response."""
        request = Request("GET", f"https://{ARXIV}{path}")
        (outcome,) = harness.fetcher.fetch_all([request], call)
        assert isinstance(outcome, Response)
        return request

    @pytest.mark.requirement("result:typed:discarded-is-not-kept")
    def test_only_discarded_responses_of_a_call_are_not_cached(
        self, make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        path = tmp_path / "answers.sqlite"
        harness = make_harness(rules=CACHED, cache_path=path)
        call = harness.call()
        discard(harness, call, self.ask(harness, call, "/bad"))
        self.ask(harness, call, "/good")
        settle(harness, call, Verdict.READ)
        assert len(upstream.seen) == 2
        for other in (harness, make_harness(rules=CACHED, cache_path=path)):
            before = len(upstream.seen)
            other.answer("/good")
            assert len(upstream.seen) == before
        other.answer("/bad")
        assert len(upstream.seen) == before + 1

    def test_a_readable_response_after_a_discarded_one_is_cached(
        self, make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        harness = make_harness(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        call = harness.call()
        discard(harness, call, self.ask(harness, call, "/a"))
        self.ask(harness, call, "/a")
        settle(harness, call, Verdict.READ)
        harness.answer("/a")
        assert len(upstream.seen) == 2

    def test_a_response_cached_before_the_call_is_discarded_too(
        self, make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        harness = make_harness(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        harness.answer("/a")
        call = harness.call()
        request = self.ask(harness, call, "/a")
        assert len(call.cache_hits) == 1
        discard(harness, call, request)
        assert call.cache_hits == [], "so the call's result is not kept for the next one"
        harness.answer("/a")
        assert len(upstream.seen) == 2

    @pytest.mark.requirement("sandbox:apart:discard")
    def test_a_call_cannot_discard_a_response_it_did_not_get(
        self, make_harness: MakeHarness, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        harness = make_harness(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        harness.answer("/a")
        pending = harness.call()
        self.ask(harness, pending, "/b")
        other = harness.call()
        self.ask(harness, other, "/c")
        for path in ("/a", "/b", "/c?other", "//evil.example/"):
            discard(harness, other, Request("GET", f"https://{ARXIV}{path}"))
        discard(harness, other, Request("HEAD", f"https://{ARXIV}/c"))
        settle(harness, pending, Verdict.READ)
        settle(harness, other, Verdict.READ)
        for path in ("/a", "/b", "/c"):
            harness.answer(path)
        assert len(upstream.seen) == 3
