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
from support.desk import ARXIV, EVERY_METHOD, Desk, MakeDesk, until
from support.upstream import Reply, Seen, SkippingClock, Upstream

CACHED = (HostRule(ARXIV, EVERY_METHOD, cache_seconds=60),)
FEED = Reply(body=b"<feed/>", headers=[("Content-Type", "application/atom+xml")])


def test_an_answer_comes_with_status_headers_text_and_size(desk: Desk, upstream: Upstream) -> None:
    headers = [("Content-Type", "text/plain"), ("X-Two", "1"), ("X-Two", "2"), ("Set-Cookie", "a")]
    upstream.on("/x", Reply(404, headers, body="nicht für dich".encode()))
    response = desk.answer("/x?q=1#part")
    assert response == Response(
        404,
        f"https://{ARXIV}/x?q=1",
        (("content-type", "text/plain"), ("x-two", "1"), ("x-two", "2")),
        "nicht für dich",
        15,
    )


def test_what_goes_out_is_the_hosts_own_identity_and_the_guests_three_headers(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("*", FEED)
    desk = make_desk(homepage="https://example.org/carrel")
    desk.answer("/a", headers=(("accept", "application/atom+xml"), ("accept-language", "en")))
    desk.answer("/b", method="POST", body="ids=1,2", headers=(("content-type", "text/plain"),))
    desk.answer("/c", method="HEAD", body="ignored")
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


def test_outcomes_come_in_the_order_of_the_requests(desk: Desk, upstream: Upstream) -> None:
    upstream.on("*", lambda seen: Reply(body=seen.path.encode()))
    requests = [Request("GET", f"https://{ARXIV}/{number}") for number in range(40)]
    requests.insert(7, Request("GET", "https://evil.example/"))
    outcomes = desk.fetcher.fetch_all(requests, desk.call())
    assert isinstance(outcomes.pop(7), Failure)
    assert [getattr(outcome, "body", None) for outcome in outcomes] == [
        f"/{number}" for number in range(40)
    ]
    assert upstream.connections <= 8, "no more connections than the rule's concurrency"


def test_connections_are_kept_and_a_lost_one_is_replaced_without_a_failure(
    desk: Desk, upstream: Upstream
) -> None:
    upstream.on("/a", FEED)
    upstream.on("/last", Reply(body=b"x", close=True))
    for path in ("/a", "/a", "/last", "/a"):
        desk.answer(path)
    assert [seen.connection for seen in upstream.seen] == [1, 1, 1, 2]


def test_a_fresh_answer_comes_from_the_cache_until_it_is_refreshed(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(body=b"old"), Reply(body=b"new"))
    desk = make_desk(rules=CACHED)
    assert [desk.answer("/a").cached for _ in range(3)] == [False, True, True]
    assert desk.answer("/a", refresh=True).body == "new"
    assert desk.answer("/a").body == "new"
    assert len(upstream.seen) == 2
    again = make_desk(rules=CACHED)
    assert again.answer("/a").cached, "another process finds it too"


def test_what_should_not_be_kept_is_asked_for_again(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    page = [("Content-Type", "text/html")]
    upstream.on("/error", Reply(400, body=b"<feed/>"))
    upstream.on("/no-store", Reply(body=b"x", headers=[("Cache-Control", "private, no-store")]))
    upstream.on("/challenge", Reply(body=b"<html>", headers=page))
    desk = make_desk(rules=CACHED)
    for path in ("/error", "/no-store", "/challenge"):
        assert not desk.answer(path).cached
        assert not desk.answer(path).cached
    desk.answer("/challenge", headers=(("accept", "text/html"),))
    assert desk.answer("/challenge", headers=(("accept", "text/html"),)).cached


@pytest.mark.requirement("sandbox:hosts:cached-redirect")
def test_a_cached_redirect_is_not_given_to_a_policy_that_would_not_follow_it(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    crossref = HostRule("api.crossref.org", EVERY_METHOD)
    upstream.on("/away", Reply(302, [("Location", "https://api.crossref.org/there")]))
    upstream.on("/there", Reply(body=b"there"))
    wide, narrow = make_desk(rules=(*CACHED, crossref)), make_desk(rules=CACHED)
    assert wide.answer("/away").body == "there"
    assert wide.answer("/away").cached
    assert narrow.failure("/away").reason == "host_not_declared"


def test_identical_requests_at_the_same_time_become_one(
    desk: Desk, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "carrel.fetch")
    release = threading.Event()
    upstream.on("/a", Reply(body=b"once", hold=release))
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda: results.append(desk.answer("/a").body)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(upstream.seen) == 1)
    release.set()
    for thread in threads:
        thread.join()
    assert results == ["once"] * 6
    assert len(upstream.seen) == 1
    said = [record.getMessage().partition("cache=")[2] for record in caplog.records]
    assert sorted(said) == ["miss", *["shared"] * 5]


def test_a_cancelled_leader_does_not_fail_those_who_joined(desk: Desk, upstream: Upstream) -> None:
    release = threading.Event()
    upstream.on("/a", Reply(body=b"for the others", hold=release))
    leading = desk.call()
    outcomes: dict[str, object] = {}
    leader = threading.Thread(target=lambda: outcomes.update(leader=desk.fetch("/a", call=leading)))
    leader.start()
    until(lambda: len(upstream.seen) == 1)
    progress: list[str] = []
    joined = desk.call(on_progress=lambda _done, _total, message: progress.append(message))
    follower = threading.Thread(
        target=lambda: outcomes.update(follower=desk.answer("/a", call=joined))
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
def test_cancelling_ends_the_wait_at_once(desk: Desk, upstream: Upstream) -> None:
    upstream.on("*", Reply(silent=True))
    call = desk.call(60)

    def cancel() -> None:
        until(lambda: bool(upstream.seen))
        call.cancel()

    threading.Thread(target=cancel).start()
    started = time.monotonic()
    outcome = desk.fetch("/a", call=call)
    assert isinstance(outcome, Failure)
    assert "cancelled" in outcome.message
    assert time.monotonic() - started < 5
    assert isinstance(desk.fetch("/a", call=call), Failure), "and no new request is made"
    assert len(upstream.seen) == 1


@pytest.mark.requirement("sandbox:limits:fetches")
def test_one_request_too_many_ends_the_call(desk: Desk, upstream: Upstream) -> None:
    upstream.on("*", FEED)
    call = desk.call(fetches=3)
    desk.fetch("/1", call=call)
    request = Request("GET", f"https://{ARXIV}/2")
    outcomes = desk.fetcher.fetch_all([request] * 3, call)
    assert len(outcomes) == 3
    assert isinstance(call.fatal, LimitExceeded)
    assert (call.fatal.limit, call.fatal.allowed) == ("fetches", 3)
    assert len(upstream.seen) == 1


@pytest.mark.requirement("sandbox:limits:response-bytes")
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "undeclared"])
def test_an_answer_over_the_cap_is_too_large(
    desk: Desk, upstream: Upstream, declared: bool
) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    body = b"x" * 2000
    upstream.on("/a", Reply(body=body) if declared else Reply(raw=head + body))
    call = desk.call(response_bytes=1000)
    failure = desk.failure("/a", call=call)
    assert (failure.kind, failure.number) == (FailureKind.TOO_LARGE, 1000)
    assert call.fatal is None
    assert desk.answer("/a", call=desk.call(response_bytes=2000)).size == 2000


@pytest.mark.requirement("sandbox:limits:fetched-bytes")
@pytest.mark.parametrize("rules", [CACHED, (HostRule(ARXIV, EVERY_METHOD),)], ids=["cached", "not"])
def test_too_many_bytes_in_all_end_the_call(
    make_desk: MakeDesk, upstream: Upstream, rules: tuple[HostRule, ...]
) -> None:
    upstream.on("*", Reply(body=b"x" * 400))
    desk = make_desk(rules=rules)
    call = desk.call(fetched_bytes=1000)
    for path in ("/a", "/a", "/a"):
        assert call.fatal is None
        desk.fetch(path, call=call)
    assert isinstance(call.fatal, LimitExceeded)
    assert call.fatal.limit == "fetched_bytes"


@pytest.mark.requirement("sandbox:limits:wall")
def test_an_upstream_that_never_answers_ends_in_time_for_the_call_to_return(
    desk: Desk, upstream: Upstream
) -> None:
    upstream.on("*", Reply(silent=True))
    call = desk.call(1.6)
    failure = desk.failure("/a", call=call)
    assert failure.kind is FailureKind.TIMEOUT
    assert 500 < failure.number <= 1200
    assert call.remaining > 0


@pytest.mark.requirement("sandbox:limits:slow-body")
def test_an_upstream_that_sends_a_byte_at_a_time_ends_in_time_too(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x" * 1000, drip=0.05))
    desk = make_desk(read_seconds=0.5)
    call = desk.call(1.6)
    assert desk.failure("/a", call=call).kind is FailureKind.TIMEOUT
    assert call.remaining > 0


def test_a_silent_upstream_is_given_up_and_tried_again_before_the_deadline(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("/once", Reply(silent=True), FEED)
    upstream.on("/never", Reply(silent=True))
    desk = make_desk(read_seconds=0.1, clock=SkippingClock())
    assert desk.answer("/once").body == "<feed/>"
    failure = desk.failure("/never")
    assert (failure.kind, failure.number) == (FailureKind.TIMEOUT, 100)
    assert len(upstream.seen) == 2 + 3


def test_two_thousand_heads_at_five_a_second_end_while_the_call_can_still_return(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("*", Reply())
    # One at a time, so that no time is skipped while a request is under way.
    rule = HostRule(ARXIV, EVERY_METHOD, pace=Pace(0.2), concurrency=1)
    desk = make_desk(rules=(rule,), clock=SkippingClock())
    call = desk.call(60, fetches=2000)
    call.deadline -= 10
    requests = [Request("HEAD", f"https://{ARXIV}/e-print/{number}") for number in range(2000)]
    outcomes = desk.fetcher.fetch_all(requests, call)
    left = call.deadline - desk.client.clock.monotonic()
    answered = [isinstance(outcome, Response) for outcome in outcomes]
    assert left >= 2
    assert 200 < answered.count(True) < 250
    assert answered == sorted(answered, reverse=True), "those that fit are the first ones"
    rest = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    assert {failure.kind for failure in rest} == {FailureKind.RATE_LIMITED}
    assert all(failure.seconds > 0 for failure in rest)


def test_a_wait_longer_than_the_call_is_refused_at_once_with_the_seconds(
    make_desk: MakeDesk, upstream: Upstream
) -> None:
    upstream.on("*", FEED)
    rule = HostRule(ARXIV, EVERY_METHOD, pace=Pace(3.0))
    desk = make_desk(rules=(rule,))
    desk.answer("/1")
    started = time.monotonic()
    failure = desk.failure("/2", call=desk.call(2.0))
    assert time.monotonic() - started < 0.5
    assert failure.kind is FailureKind.RATE_LIMITED
    assert 2.5 < failure.seconds <= 3.0
    assert failure.message.startswith(f"{ARXIV} asks for slower requests; try again in ")


def test_a_long_wait_says_what_it_waits_for(make_desk: MakeDesk, upstream: Upstream) -> None:
    release = threading.Event()
    said: list[tuple[float, float | None, str]] = []

    def listen(done: float, total: float | None, message: str) -> None:
        said.append((done, total, message))
        if message.startswith("1 of 2"):
            release.set()

    upstream.on("/quick", FEED)
    upstream.on("/slow", Reply(body=b"x", hold=release))
    desk = make_desk(progress_seconds=0.01)
    call = desk.call(on_progress=listen)
    requests = [Request("GET", f"https://{ARXIV}{path}") for path in ("/quick", "/slow")]
    call.progress(2, 3, "asking")
    desk.fetcher.fetch_all(requests, call)
    # The numbers are the plugin's: waiting adds nothing to them.
    assert {(done, total) for done, total, _ in said} == {(2, 3)}
    message = said[-1][2]
    assert message == f"1 of 2 fetched, waiting for {ARXIV} to answer"


def test_what_failed_is_not_counted_as_fetched(make_desk: MakeDesk, upstream: Upstream) -> None:
    release = threading.Event()
    said: list[str] = []

    def listen(_done: float, _total: float | None, message: str) -> None:
        said.append(message)
        if "1 failed" in message:
            release.set()

    upstream.on("/large", Reply(body=b"x" * 100))
    upstream.on("/slow", Reply(body=b"x", hold=release))
    desk = make_desk(progress_seconds=0.01)
    call = desk.call(on_progress=listen, response_bytes=10)
    requests = [Request("GET", f"https://{ARXIV}{path}") for path in ("/large", "/slow")]
    desk.fetcher.fetch_all(requests, call)
    assert said[-1] == f"0 of 2 fetched, 1 failed, waiting for {ARXIV} to answer"


def test_the_call_keeps_a_trace_and_the_last_denial(desk: Desk, upstream: Upstream) -> None:
    upstream.on("/a", FEED)
    call = desk.call()
    desk.fetch("/a", call=call)
    desk.fetch("https://evil.example/", call=call)
    (attempt,) = call.attempts
    assert attempt["host"] == ARXIV
    assert attempt["outcome"] == "status 200"
    assert call.denial is not None
    assert call.denial.reason == "host_not_declared"


def test_a_large_post_body_is_refused_and_an_unknown_method_denied(make_desk: MakeDesk) -> None:
    desk = make_desk(max_request_bytes=10)
    assert desk.failure("/a", method="POST", body="x" * 11).kind is FailureKind.TOO_LARGE
    assert desk.failure("/a", method="DELETE").reason == "method_not_allowed"


def test_many_threads_at_once_get_their_own_answers(desk: Desk, upstream: Upstream) -> None:
    def echo(seen: Seen) -> Reply:
        return Reply(body=seen.path.encode())

    upstream.on("*", echo)
    wrong: list[str] = []

    def work(worker: int) -> None:
        for turn in range(10):
            path = f"/{worker}/{turn}"
            if desk.answer(path).body != path:
                wrong.append(path)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(upstream.seen) == 80


def test_closing_ends_what_is_under_way(make_desk: MakeDesk, upstream: Upstream) -> None:
    upstream.on("*", Reply(silent=True))
    desk = make_desk()

    def close() -> None:
        until(lambda: bool(upstream.seen))
        desk.client.close()

    closer = threading.Thread(target=close)
    closer.start()
    assert isinstance(desk.fetch("/a"), Failure)
    closer.join()
    assert isinstance(desk.fetch("/b"), Failure)


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_cache(
    make_desk: MakeDesk, upstream: Upstream, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    upstream.on("*", FEED)
    desk = make_desk(
        rules=CACHED,
        cache_path=tmp_path / "file" / "cache.sqlite3",
        pace_path=tmp_path / "file" / "pace.sqlite3",
    )
    assert [desk.answer("/a").cached for _ in range(2)] == [False, False]


def test_a_call_that_is_over_makes_no_request(desk: Desk, upstream: Upstream) -> None:
    call = Call("arxiv", "query", deadline=time.monotonic() - 1)
    assert desk.failure("/a", call=call).kind is FailureKind.TIMEOUT
    assert upstream.dialled == []


def discard(desk: Desk, call: Call, request: Request) -> None:
    assert isinstance(desk.fetcher, AnswerDiscarder)
    desk.fetcher.discard(call, request)


def settle(desk: Desk, call: Call, verdict: Verdict) -> None:
    assert isinstance(desk.fetcher, AnswerSettler)
    desk.fetcher.settle(call, verdict)


class TestDiscard:
    def ask(self, desk: Desk, call: Call, path: str) -> Request:
        """Has a call make a request, whose answer is settled by the test."""
        request = Request("GET", f"https://{ARXIV}{path}")
        (outcome,) = desk.fetcher.fetch_all([request], call)
        assert isinstance(outcome, Response)
        return request

    @pytest.mark.requirement("result:typed:discarded-is-not-kept")
    def test_a_discarded_answer_is_not_kept_and_the_others_of_the_call_are(
        self, make_desk: MakeDesk, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        path = tmp_path / "answers.sqlite"
        desk = make_desk(rules=CACHED, cache_path=path)
        call = desk.call()
        discard(desk, call, self.ask(desk, call, "/bad"))
        self.ask(desk, call, "/good")
        settle(desk, call, Verdict.READ)
        assert len(upstream.seen) == 2
        for other in (desk, make_desk(rules=CACHED, cache_path=path)):
            before = len(upstream.seen)
            other.answer("/good")
            assert len(upstream.seen) == before
        other.answer("/bad")
        assert len(upstream.seen) == before + 1

    def test_a_better_answer_that_the_same_call_gets_later_is_kept(
        self, make_desk: MakeDesk, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        desk = make_desk(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        call = desk.call()
        discard(desk, call, self.ask(desk, call, "/a"))
        self.ask(desk, call, "/a")
        settle(desk, call, Verdict.READ)
        desk.answer("/a")
        assert len(upstream.seen) == 2

    def test_an_answer_that_was_kept_before_the_call_is_forgotten_too(
        self, make_desk: MakeDesk, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        desk = make_desk(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        desk.answer("/a")
        call = desk.call()
        request = self.ask(desk, call, "/a")
        assert len(call.cache_hits) == 1
        discard(desk, call, request)
        assert call.cache_hits == [], "so the call's result is not kept for the next one"
        desk.answer("/a")
        assert len(upstream.seen) == 2

    @pytest.mark.requirement("sandbox:apart:discard")
    def test_what_a_call_has_not_asked_it_cannot_discard(
        self, make_desk: MakeDesk, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on("*", FEED)
        desk = make_desk(rules=CACHED, cache_path=tmp_path / "answers.sqlite")
        desk.answer("/a")
        pending = desk.call()
        self.ask(desk, pending, "/b")
        other = desk.call()
        self.ask(desk, other, "/c")
        for path in ("/a", "/b", "/c?other", "//evil.example/"):
            discard(desk, other, Request("GET", f"https://{ARXIV}{path}"))
        discard(desk, other, Request("HEAD", f"https://{ARXIV}/c"))
        settle(desk, pending, Verdict.READ)
        settle(desk, other, Verdict.READ)
        for path in ("/a", "/b", "/c"):
            desk.answer(path)
        assert len(upstream.seen) == 3
