"""Tests that only port 443 is reached, and others where the operator lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.exchange import Failure
from carrel.fetch import FetchClient, FetchSettings, Policy
from carrel.fetch.policy.public_web import PublicWeb
from carrel.fetch.policy.rules import HostRule
from carrel.fetch.url import Target, UrlFault, parse_url, resolve_redirect
from support.fetch_harness import FetchHarness
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.requirement("sandbox:hosts:public-web")

Make = Callable[..., FetchHarness]


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream("example.org", "www.example.org", authority=authority) as upstream:
        yield upstream


@pytest.fixture
def dialled() -> list[int]:
    return []


@pytest.fixture
def make(server: Upstream, dialled: list[int], tmp_path: Path) -> Iterator[Make]:
    clients: list[FetchClient] = []

    def dial(address: str, port: int) -> tuple[str, int]:
        dialled.append(port)
        return server.dial(address, 443)

    def make(*ports: str, **changes: Any) -> FetchHarness:
        settings = FetchSettings(ca_bundle=server.write_authority(tmp_path), retries=0)
        client = FetchClient(settings, resolver=server.names, dialer=dial)
        clients.append(client)
        rule = PublicWeb(
            **{"robots": False, "interval": 0.0, "burst": 9, "ports": frozenset(ports), **changes}
        )
        policy = Policy("reader", [], ["public-web"], partition="reader", public_web=rule)
        return FetchHarness.of(client, policy)

    yield make
    for client in clients:
        client.close()


def test_a_listed_port_is_reached_and_named_in_the_host_header(
    make: Make, server: Upstream, dialled: list[int]
) -> None:
    server.on("*", Reply(body=b"reached"))
    answer = make("example.org:8443").answer("https://example.org:8443/a")
    assert (answer.body, answer.url) == ("reached", "https://example.org:8443/a")
    assert server.seen[0].host == "example.org:8443"
    assert dialled == [8443]


@pytest.mark.parametrize(
    "url", ["https://example.org:8444/", "https://www.example.org:8443/", "https://example.org:22/"]
)
def test_another_port_is_refused_with_the_setting_that_allows_it(
    make: Make, dialled: list[int], url: str
) -> None:
    refusal = make("example.org:8443").failure(url)
    assert refusal.reason == "port_not_allowed"
    assert refusal.grant.startswith('web.ports += "')
    assert dialled == []


@pytest.mark.parametrize(
    "url",
    ["https://example.org:08443/", "https://example.org:0/", "https://example.org:99999/",
     "http://example.org:8443/", "https://example.org:8443x/", "https://example.org:/"],
)  # fmt: skip
def test_a_port_has_one_spelling(make: Make, dialled: list[int], url: str) -> None:
    assert make("example.org:8443").failure(url).reason in {"port_not_allowed", "malformed_url"}
    assert dialled == []


def test_a_redirect_to_a_port_is_checked_like_a_request(
    make: Make, server: Upstream, dialled: list[int]
) -> None:
    server.on("/a", Reply(302, [("Location", "https://example.org:8443/b")]))
    server.on("/b", Reply(302, [("Location", "/c")]))
    server.on("/c", Reply(302, [("Location", "https://example.org:22/")]))
    refusal = make("example.org:8443").failure("https://example.org/a")
    assert refusal.reason == "port_not_allowed"
    assert set(dialled) == {443, 8443}
    assert [seen.host for seen in server.seen] == ["example.org", *["example.org:8443"] * 2]


def test_connections_of_two_ports_are_not_shared(
    make: Make, server: Upstream, dialled: list[int]
) -> None:
    server.on("*", Reply(body=b"x"))
    harness = make("example.org:8443")
    for url in ("https://example.org/", "https://example.org:8443/", "https://example.org/1"):
        harness.answer(url)
    assert dialled == [443, 8443]


def test_robots_rules_are_those_of_the_port(make: Make, server: Upstream) -> None:
    server.on("*", Reply(body=b"page"))
    server.on("/robots.txt", Reply(body=b"User-agent: *\nDisallow: /\n"))
    refusal = make("example.org:8443", robots=True).failure("https://example.org:8443/")
    assert refusal.reason == "robots_disallowed"
    assert server.seen[0].host == "example.org:8443"


def test_a_declared_host_is_never_reached_on_another_port() -> None:
    rule = HostRule("api.example.org", frozenset({"GET"}))
    policy = Policy("sample", [rule], ["public-web", "api.example.org"], public_web=PublicWeb())
    refusal = policy.check("GET", Target("api.example.org", "/", port=8443))
    assert isinstance(refusal, Failure)
    assert refusal.reason == "port_not_allowed"


def test_ports_are_read_only_where_a_policy_decides_on_them() -> None:
    assert isinstance(parse_url("https://example.org:8443/"), UrlFault)
    base = Target("example.org", "/", port=8443)
    assert resolve_redirect(base, "/x") == Target("example.org", "/x", None, 8443)
    assert isinstance(resolve_redirect(base, "//example.org:8443/x"), UrlFault)
    found = resolve_redirect(base, "//example.org:8443/x", any_port=True)
    assert found == Target("example.org", "/x", None, 8443)
