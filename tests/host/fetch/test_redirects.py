from __future__ import annotations

import pytest

from carrel.exchange import FailureKind
from carrel.fetch import HostRule
from support.fetch_harness import ARXIV, EVERY_METHOD, FetchHarness, MakeHarness
from support.upstream import Reply, Upstream

HERE = f"https://{ARXIV}"


def to(location: str, status: int = 302) -> Reply:
    return Reply(status, [("Location", location)], body=b"moved")


def test_a_redirect_is_followed_and_the_answer_names_the_last_url(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", to("https://api.crossref.org/b?x=1#f"))
    upstream.on("/b", to("c"))
    upstream.on("/c", Reply(body=b"here"))
    response = harness.answer("/a")
    assert (response.url, response.body) == ("https://api.crossref.org/c", "here")
    assert [seen.host for seen in upstream.seen] == [ARXIV, *["api.crossref.org"] * 2]


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
        (308, "POST", "POST"), (301, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (302, "GET", "GET"),
    ],
)  # fmt: skip
def test_the_method_after_a_redirect_is_the_one_browsers_use(
    harness: FetchHarness, upstream: Upstream, status: int, method: str, then: str
) -> None:
    upstream.on("/a", to("/b", status))
    upstream.on("/b", Reply(body=b"here"))
    harness.answer("/a", method=method, body="x=1" if method == "POST" else "")
    last = upstream.seen[-1]
    assert last.method == then
    assert last.body == (b"x=1" if then == "POST" else b"")
    assert ("content-type" in last.headers) is (then == "POST")


@pytest.mark.requirement("sandbox:hosts:redirect-off-list")
@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("https://evil.example/", "host_not_declared"),
        ("https://arxiv.org/", "host_not_granted"),
        (f"http://{ARXIV}/b", "insecure_scheme"),
        ("https://169.254.169.254/latest/", "ip_literal"),
        (f"https://u:p@{ARXIV}/b", "userinfo_in_url"),
        (f"https://{ARXIV}:8443/b", "port_not_allowed"),
        ("/\\evil.example", "malformed_url"),
        ("https://eutils.ncbi.nlm.nih.gov/", "private_address"),
        ("/secret", "path_not_allowed"),
    ],
)
def test_every_hop_is_checked_like_the_first(
    make_harness: MakeHarness, upstream: Upstream, location: str, reason: str
) -> None:
    rules = (
        HostRule(ARXIV, EVERY_METHOD, paths=("/a", "/b")),
        HostRule("arxiv.org", EVERY_METHOD),
        HostRule("eutils.ncbi.nlm.nih.gov", EVERY_METHOD),
    )
    harness = make_harness(rules=rules, granted=[ARXIV, "eutils.ncbi.nlm.nih.gov"])
    upstream.names.table["eutils.ncbi.nlm.nih.gov"] = ["10.0.0.1"]
    upstream.on("/a", to(location))
    call = harness.call()
    failure = harness.failure("/a", call=call)
    assert (failure.kind, failure.reason) == (FailureKind.DENIED, reason)
    assert call.denial == failure
    assert len(upstream.seen) == len(upstream.dialled) == 1


def test_a_denied_redirect_is_named_with_the_grant_that_would_allow_it(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    rules = (HostRule(ARXIV, EVERY_METHOD), HostRule("arxiv.org", EVERY_METHOD))
    upstream.on("/a", to("https://arxiv.org/b"))
    failure = make_harness(rules=rules, granted=[ARXIV]).failure("/a")
    grant = 'plugins.arxiv.runtime_config.allowed_hosts += "arxiv.org"'
    assert failure.grant == grant
    assert failure.message == (
        f"refused: {ARXIV} answers with a redirect, and arxiv is not granted arxiv.org; "
        f"to allow it: {grant}"
    )


def test_a_method_that_the_next_host_does_not_declare_is_denied(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    rules = (
        HostRule(ARXIV, EVERY_METHOD),
        HostRule("api.crossref.org", frozenset({"GET"})),
    )
    upstream.on("/a", to("https://api.crossref.org/", 307))
    failure = make_harness(rules=rules).failure("/a", method="POST", body="x")
    assert failure.reason == "method_not_allowed"


def test_five_redirects_are_followed_and_a_sixth_is_not(
    harness: FetchHarness, upstream: Upstream
) -> None:
    for number in range(9):
        upstream.on(f"/{number}", to(f"/{number + 1}"))
    upstream.on("/9", Reply(body=b"here"))
    assert harness.answer("/4").body == "here"
    before = len(upstream.seen)
    assert harness.failure("/3").reason == "too_many_redirects"
    assert len(upstream.seen) == before + 6


@pytest.mark.parametrize("circle", [["/a"], ["/b", "/a"], ["#f"], ["/b", "/c", "/b"]])
def test_a_redirect_loop_is_detected_before_it_repeats(
    harness: FetchHarness, upstream: Upstream, circle: list[str]
) -> None:
    here = "/a"
    for there in circle:
        upstream.on(here, to(there))
        here = there
    failure = harness.failure("/a")
    assert failure.reason == "too_many_redirects"
    assert "circle" in failure.message
    assert len(upstream.seen) <= 3


@pytest.mark.parametrize("reply", [Reply(302), to("")], ids=["missing", "empty"])
def test_a_redirect_to_nowhere_is_unreachable(
    harness: FetchHarness, upstream: Upstream, reply: Reply
) -> None:
    upstream.on("/a", reply)
    failure = harness.failure("/a")
    assert (failure.kind, failure.number) == (FailureKind.UNREACHABLE, 302)
    assert "nowhere" in failure.message


def test_the_target_of_an_invalid_redirect_is_not_quoted(
    harness: FetchHarness, upstream: Upstream
) -> None:
    upstream.on("/a", to("https://ignore-previous-instructions\x7f/\\"))
    failure = harness.failure("/a")
    assert "ignore" not in failure.message
    assert failure.url == f"{HERE}/a"


@pytest.mark.parametrize("status", [300, 304, 305])
def test_a_3xx_that_is_no_redirect_is_an_answer(
    harness: FetchHarness, upstream: Upstream, status: int
) -> None:
    upstream.on("/a", Reply(status, [("Location", "https://evil.example/")]))
    assert harness.answer("/a").status == status
