"""Tests of the grant of the public web: any host with a public name, under every other check."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.exchange import Failure, FailureKind, FileFetcher, Response
from carrel.fetch import FetchClient, FetchSettings, Policy
from carrel.fetch.policy.public_web import PublicWeb
from carrel.fetch.policy.rules import HostRule
from carrel.fetch.url import Target
from support.fetch_harness import ARXIV, FetchHarness
from support.ssrf_cases import NO_LIST, Case, listed_cases, own_cases
from support.upstream import PUBLIC, Names, Reply, Seen, Upstream

pytestmark = pytest.mark.requirement("sandbox:hosts:public-web")

HOSTS = ("example.org", "www.example.org", "news.example.com", "evil.example", "arxiv.org", ARXIV)

#: Cases that are refused only because their host is not listed; under the public web, the host is
#: one like any other.
UNLISTED_ONLY = frozenset({
    "host-list-001", "host-list-002", "host-list-004", "host-list-006", "host-list-007",
    "idn-004", "parser-008", "redirect-004", "unlisted-0", "unlisted-1", "unlisted-2", "unlisted-3",
    "unlisted-4", "unlisted-5", "redirect-1", "redirect-3",
})  # fmt: skip
#: An http URL, which is upgraded.
UPGRADED = frozenset({"scheme-and-port-0"})


@pytest.fixture
def everything(authority: trustme.CA) -> Iterator[Upstream]:
    names = {case.id: case for case in [*own_cases(), *listed_cases()]}
    hosts = {*HOSTS, "xn--export-rxiv-0nj.org", "example.com", "notncbi.nlm.nih.gov"}
    hosts |= {"ncbi.nlm.nih.gov", "nih.gov", "a.b.ncbi.nlm.nih.gov", f"x{ARXIV}"}
    hosts |= {f"evil.{ARXIV}", f"{ARXIV}.evil.example", "eutils.ncbi.nlm.nih.gov"}
    hosts |= {"api.crossref.org"}
    assert names, "there are cases"
    with Upstream(*sorted(hosts), authority=authority) as server:
        yield server


Make = Callable[..., FetchHarness]


@pytest.fixture
def make(everything: Upstream, tmp_path: Path) -> Iterator[Make]:
    clients: list[FetchClient] = []

    def make(granted: object = ("public-web",), **changes: Any) -> FetchHarness:
        settings = FetchSettings(ca_bundle=everything.write_authority(tmp_path), retries=0)
        client = FetchClient(settings, resolver=everything.names, dialer=everything.dial)
        clients.append(client)
        rule = PublicWeb(**{"robots": False, "interval": 0.0, "burst": 100, **changes})
        policy = Policy("reader", [], granted, partition="reader", public_web=rule)  # type: ignore[arg-type]
        return FetchHarness.of(client, policy)

    yield make
    for client in clients:
        client.close()


class TestGrant:
    def test_any_public_host_is_reached_with_the_grant(
        self, make: Make, everything: Upstream
    ) -> None:
        everything.on("*", Reply(body=b"reached"))
        for host in ("example.org", "news.example.com"):
            assert make().answer(f"https://{host}/page").body == "reached"

    @pytest.mark.parametrize("granted", [None, [], ["example.org"]])
    def test_no_other_grant_allows_the_public_web(
        self, make: Make, everything: Upstream, granted: list[str] | None
    ) -> None:
        refusal = make(granted).failure("https://news.example.com/page")
        assert refusal.reason == "host_not_granted"
        assert refusal.grant == 'plugins.reader.runtime_config.allowed_hosts += "public-web"'
        assert everything.names.lookups == []

    def test_a_manifest_that_does_not_ask_never_gets_the_public_web(self) -> None:
        rules = [HostRule("api.example.org", frozenset({"GET"}))]
        policy = Policy("sample", rules, ["public-web", "api.example.org"])
        refusal = policy.check("GET", Target("other.example.org", "/"))
        assert isinstance(refusal, Failure)
        assert refusal.reason == "host_not_declared"

    def test_a_listed_host_keeps_its_own_rule(self) -> None:
        rule = HostRule("api.example.org", frozenset({"GET", "POST"}), paths=("/v1",))
        policy = Policy("sample", [rule], ["public-web", "api.example.org"], public_web=PublicWeb())
        assert policy.check("POST", Target("api.example.org", "/v1/x")) == rule
        other = policy.check("GET", Target("www.example.org", "/v1/x"))
        assert isinstance(other, HostRule)
        assert other.robots

    def test_only_the_methods_that_are_asked_for_are_allowed(self, make: Make) -> None:
        refusal = make().failure("https://example.org/form", method="POST")
        assert refusal.reason == "method_not_allowed"

    @pytest.mark.parametrize("url", ["http://example.org/a?b=1", "HTTP://example.org:80/a?b=1"])
    def test_an_http_url_is_requested_over_https(
        self, make: Make, everything: Upstream, url: str
    ) -> None:
        everything.on("*", Reply(body=b"reached"))
        assert make().answer(url).url == "https://example.org/a?b=1"
        assert [seen.path for seen in everything.seen] == ["/a?b=1"]

    @pytest.mark.parametrize(
        "url",
        ["http://example.org:443/", "http://example.org:8080/", "https://example.org:80/",
         "https://example.org:8443/"],
    )  # fmt: skip
    def test_another_port_is_refused(self, make: Make, url: str) -> None:
        assert make().failure(url).reason == "port_not_allowed"

    def test_a_redirect_to_http_is_refused(self, make: Make, everything: Upstream) -> None:
        everything.on("*", Reply(302, [("Location", "http://www.example.org/")]))
        assert make().failure("https://example.org/").reason == "insecure_scheme"
        assert len(everything.seen) == 1

    @pytest.mark.parametrize(
        "host",
        ["localhost", "intranet", "metadata.google.internal", "printer.local", "router.home.arpa",
         "kubernetes.default.svc", "public-web", "x.onion"],
    )  # fmt: skip
    def test_a_name_of_a_local_network_is_refused_before_it_is_resolved(
        self, make: Make, everything: Upstream, host: str
    ) -> None:
        assert make().failure(f"https://{host}/").reason == "local_name"
        assert everything.names.lookups == []


class TestBlockList:
    @pytest.mark.parametrize(
        ("entry", "host", "blocked"),
        [
            ("example.org", "example.org", True),
            ("example.org", "www.example.org", True),
            ("example.org", "notexample.org", False),
            ("*.example.org", "www.example.org", True),
            ("*.example.org", "example.org", False),
        ],
    )
    def test_an_entry_covers_a_host_and_the_names_below_it(
        self, entry: str, host: str, blocked: bool
    ) -> None:
        found = PublicWeb(blocked=(entry,)).check("reader", "GET", Target(host, "/"))
        assert isinstance(found, Failure) == blocked
        if isinstance(found, Failure):
            assert found.reason == "host_blocked"
            assert found.grant == f'web.blocked_hosts -= "{entry}"'

    def test_a_redirect_to_a_blocked_host_is_refused(
        self, make: Make, everything: Upstream
    ) -> None:
        everything.on("*", Reply(302, [("Location", "https://news.example.com/")]))
        harness = make(blocked=("example.com",))
        assert harness.failure("https://example.org/").reason == "host_blocked"
        assert len(everything.seen) == 1


class TestLimits:
    def test_each_host_has_its_own_pace(self, make: Make) -> None:
        one = PublicWeb().check("reader", "GET", Target("example.org", "/"))
        other = PublicWeb().check("reader", "GET", Target("www.example.org", "/"))
        assert isinstance(one, HostRule)
        assert isinstance(other, HostRule)
        policy = Policy("reader", [], ["public-web"], partition="p", public_web=PublicWeb())
        assert policy.bucket(one) == "plugin/p/example.org"
        assert policy.bucket(other) == "plugin/p/www.example.org"

    def test_the_rule_of_a_builtin_source_applies_too(self) -> None:
        known = HostRule("arxiv.org", frozenset({"GET"}), concurrency=1)
        policy = Policy(
            "reader", [], ["public-web"], partition="p", upstream_rules=[known],
            public_web=PublicWeb(),
        )  # fmt: skip
        assert policy.shared_rule("arxiv.org") == known

    def test_no_cookie_is_kept_or_sent(self, make: Make, everything: Upstream) -> None:
        everything.on("*", Reply(headers=[("Set-Cookie", "id=1; Path=/")], body=b"reached"))
        harness = make()
        first = harness.answer("https://example.org/a")
        harness.answer("https://example.org/b")
        assert "set-cookie" not in dict(first.headers)
        assert all("cookie" not in seen.headers for seen in everything.seen)

    def test_a_response_beyond_the_cap_is_refused(self, make: Make, everything: Upstream) -> None:
        everything.on("*", Reply(body=b"x" * 5000))
        harness = make()
        call = harness.call(response_bytes=1000)
        assert harness.failure("https://example.org/", call=call).kind is FailureKind.TOO_LARGE


def check(case: Case, everything: Upstream, make: Make) -> None:
    everything.names = Names()
    everything.names.otherwise = case.answers.get("*", [[PUBLIC]])[0]
    everything.names.table = {host: turns for host, turns in case.answers.items() if host != "*"}
    replies = [Reply(body=b"reached")]
    if case.redirect is not None:
        replies.insert(0, Reply(302, [("Location", case.redirect)]))
    everything.on("*", *replies)
    harness = make()
    assert isinstance(harness.fetcher, FileFetcher)
    outcome = harness.fetch(case.url)
    hops = 1 if case.redirect is None else 2
    if case.allowed:
        assert isinstance(outcome, Response), outcome
        assert len(everything.names.lookups) == hops, "one lookup a hop"
    else:
        assert isinstance(outcome, Failure), outcome
        assert outcome.kind in {FailureKind.DENIED, FailureKind.UNREACHABLE}
        assert len(everything.seen) == hops - 1
        assert len(everything.dialled) == hops - 1
    allowed = {address for turns in case.answers.values() for address in turns[0]} | {PUBLIC}
    assert set(everything.dialled) <= allowed


def as_public(case: Case) -> Case:
    """Returns a case with the verdict of the public web."""
    if case.id.startswith("local-name"):
        case = dataclasses.replace(case, answers={"*": [["127.0.0.1"]]})
    return dataclasses.replace(case, allowed=case.allowed or case.id in UNLISTED_ONLY | UPGRADED)


OWN = [as_public(case) for case in own_cases()]
LISTED = [as_public(case) for case in listed_cases()]


@pytest.mark.requirement("sandbox:hosts:ssrf-public-web")
@pytest.mark.parametrize("case", OWN, ids=[case.id for case in OWN])
def test_a_trick_gets_its_verdict(case: Case, everything: Upstream, make: Make) -> None:
    check(case, everything, make)


@pytest.mark.requirement("sandbox:hosts:ssrf-public-web")
@pytest.mark.skipif(not LISTED, reason=NO_LIST)
@pytest.mark.parametrize("case", LISTED, ids=[case.id for case in LISTED])
def test_a_listed_trick_gets_its_verdict(case: Case, everything: Upstream, make: Make) -> None:
    check(case, everything, make)


class TestRobots:
    """`robots.txt`, as RFC 9309 says."""

    def serve(self, everything: Upstream, *replies: Reply) -> None:
        waiting = list(replies)

        def answer(seen: Seen) -> Reply:
            if seen.path == "/robots.txt":
                return waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return Reply(body=b"reached")

        everything.on("*", answer)

    def test_a_disallowed_address_is_not_requested(self, make: Make, everything: Upstream) -> None:
        self.serve(everything, Reply(body=b"User-agent: *\nDisallow: /private\n"))
        harness = make(robots=True)
        refusal = harness.failure("https://example.org/private/x")
        assert refusal.reason == "robots_disallowed"
        assert harness.answer("https://example.org/public").body == "reached"
        assert [seen.path for seen in everything.seen] == ["/robots.txt", "/public"]

    def test_each_host_of_a_redirect_is_asked(self, make: Make, everything: Upstream) -> None:
        def answer(seen: Seen) -> Reply:
            if seen.path == "/robots.txt":
                forbidden = seen.host == "news.example.com"
                return Reply(body=b"User-agent: carrel\nDisallow: /\n" if forbidden else b"")
            return Reply(302, [("Location", "https://news.example.com/")])

        everything.on("*", answer)
        refusal = make(robots=True).failure("https://example.org/")
        assert refusal.reason == "robots_disallowed"
        assert "news.example.com" in refusal.message

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
    def test_a_file_that_is_unavailable_allows_everything(
        self, make: Make, everything: Upstream, status: int
    ) -> None:
        self.serve(everything, Reply(status, body=b"User-agent: *\nDisallow: /\n"))
        assert make(robots=True).answer("https://example.org/x").body == "reached"

    @pytest.mark.parametrize(
        "reply", [Reply(500), Reply(503, body=b"User-agent: *\nAllow: /\n"), Reply(raw=b"?")]
    )
    def test_a_file_that_is_unreachable_allows_nothing(
        self, make: Make, everything: Upstream, reply: Reply
    ) -> None:
        self.serve(everything, reply)
        failure = make(robots=True).failure("https://example.org/x")
        assert failure.kind is FailureKind.UNREACHABLE
        assert "robots.txt" in failure.message
        assert {seen.path for seen in everything.seen} == {"/robots.txt"}

    def test_too_many_redirects_of_the_file_allow_everything(
        self, make: Make, everything: Upstream
    ) -> None:
        self.serve(everything, Reply(302, [("Location", "/robots.txt")]))
        assert make(robots=True).answer("https://example.org/x").body == "reached"

    def test_a_redirected_file_counts_for_the_first_host(
        self, make: Make, everything: Upstream
    ) -> None:
        def answer(seen: Seen) -> Reply:
            if seen.path != "/robots.txt":
                return Reply(body=b"reached")
            if seen.host == "example.org":
                return Reply(301, [("Location", "https://www.example.org/robots.txt")])
            return Reply(body=b"User-agent: *\nDisallow: /x\n")

        everything.on("*", answer)
        refusal = make(robots=True).failure("https://example.org/x")
        assert refusal.reason == "robots_disallowed"

    def test_of_a_long_file_the_first_500_kib_count(self, make: Make, everything: Upstream) -> None:
        begin = b"User-agent: *\nDisallow: /early\n"
        filler = b"# " + b"x" * 97 + b"\n"
        body = begin + filler * 6000 + b"Disallow: /late\n"
        self.serve(everything, Reply(body=body))
        harness = make(robots=True)
        assert harness.failure("https://example.org/early").reason == "robots_disallowed"
        assert harness.answer("https://example.org/late").body == "reached"

    def test_the_file_is_requested_once(self, make: Make, everything: Upstream) -> None:
        self.serve(everything, Reply(body=b""))
        harness = make(robots=True)
        for number in range(5):
            harness.answer(f"https://example.org/{number}")
        paths = [seen.path for seen in everything.seen]
        assert paths.count("/robots.txt") == 1

    def test_a_single_request_of_a_person_asks_for_no_file(
        self, make: Make, everything: Upstream
    ) -> None:
        self.serve(everything, Reply(body=b"User-agent: *\nDisallow: /\n"))
        assert make(robots=False).answer("https://example.org/x").body == "reached"
        assert [seen.path for seen in everything.seen] == ["/x"]

    def test_a_file_at_a_private_address_is_not_requested(
        self, make: Make, everything: Upstream
    ) -> None:
        everything.names.otherwise = ["10.0.0.1"]
        refusal = make(robots=True).failure("https://example.org/x")
        assert refusal.reason == "private_address"
        assert everything.dialled == []
