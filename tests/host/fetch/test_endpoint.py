"""A server of the operator's own: the only way to plain http, to a port, to a private address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.exchange import Call, Failure, FailureKind, Outcome, Request, Response
from carrel.fetch import FetchClient, FetchSettings, HostRule, Policy
from carrel.fetch.policy.endpoint import ENDPOINT, Endpoint, parse_endpoint
from carrel.fetch.policy.hosts import parse_host_entry
from carrel.fetch.policy.manifest import read_policy
from support.upstream import PUBLIC, Names, Reply, Upstream

RULES = (
    HostRule(ENDPOINT, frozenset({"GET"}), paths=("/search",)),
    HostRule("api.example.org", frozenset({"GET"})),
)
NAME = "search.example.org"


class TestParsing:
    @pytest.mark.parametrize(
        ("url", "private", "endpoint"),
        [
            (
                "https://Search.example.org/searx/",
                False,
                Endpoint("https", NAME, 443, "/searx"),
            ),
            ("https://search.example.org:8443", False, Endpoint("https", NAME, 8443)),
            ("http://127.0.0.1:8080/", True, Endpoint("http", "127.0.0.1", 8080, private=True)),
            ("http://localhost", True, Endpoint("http", "localhost", 80, private=True)),
            ("http://[fd00::1]:8080", True, Endpoint("http", "fd00::1", 8080, private=True)),
            ("https://192.168.1.5", True, Endpoint("https", "192.168.1.5", 443, private=True)),
            ("https://8.8.8.8", False, Endpoint("https", "8.8.8.8", 443)),
        ],
    )
    def test_a_url_is_read(self, url: str, private: bool, endpoint: Endpoint) -> None:
        assert parse_endpoint(url, private=private) == endpoint
        assert parse_endpoint(endpoint.url, private=private) == endpoint

    @pytest.mark.parametrize(
        ("url", "private", "word"),
        [
            ("http://search.example.org", False, "private = true"),
            ("https://127.0.0.1", False, "loopback; private = true allows it"),
            ("https://10.0.0.1", False, "private"),
            ("https://169.254.169.254", True, "link-local"),
            ("http://8.8.8.8", True, "needs https"),
            ("https://0.0.0.0", True, "this network"),
            ("https://user:pw@search.example.org", False, "user name or password"),
            ("https://search.example.org/?x=1", False, "without query"),
            ("https://search.example.org/a/../b", False, "path"),
            ("https://search.example.org:99999", False, "expected a URL"),
            ("https://search.example.org:0", False, "no port"),
            ("ftp://search.example.org", False, "http or https"),
            ("search.example.org", False, "http or https"),
            ("https://", False, "http or https"),
            ("https://exa mple.org", False, "ASCII"),
            ("https://2130706433", True, "IP address"),
        ],
    )
    def test_a_url_that_is_refused_says_why(self, url: str, private: bool, word: str) -> None:
        with pytest.raises(ValueError, match=word):
            parse_endpoint(url, private=private)

    @pytest.mark.parametrize(
        ("url", "private", "answers", "refused"),
        [
            ("https://search.example.org", False, [PUBLIC], False),
            ("https://search.example.org", False, ["10.0.0.1"], True),
            ("https://search.example.org", True, ["10.0.0.1", "fd00::1", "100.64.0.1"], False),
            ("https://search.example.org", True, [PUBLIC, "169.254.169.254"], True),
            ("https://search.example.org", True, ["168.63.129.16"], True),
            ("http://search.example.org", True, ["10.0.0.1"], False),
            ("http://search.example.org", True, [PUBLIC], True),
            ("http://search.example.org", True, ["10.0.0.1", PUBLIC], True),
            ("http://search.example.org", True, ["not an address"], True),
        ],
    )
    def test_every_address_of_its_name_is_checked(
        self, url: str, private: bool, answers: list[str], refused: bool
    ) -> None:
        endpoint = parse_endpoint(url, private=private)
        assert (endpoint.refusal(answers) is not None) == refused


class TestPolicy:
    def check(self, policy: Policy, path: str = "/search", host: str = ENDPOINT) -> Any:
        from carrel.fetch.url import Target

        return policy.check("GET", Target(host, path))

    def test_without_an_endpoint_the_setting_is_named(self) -> None:
        refused = self.check(Policy("searxng", RULES))
        assert isinstance(refused, Failure)
        assert "plugins.searxng.runtime_config.endpoint" in refused.message + refused.grant

    def test_an_endpoint_grants_what_is_declared_and_nothing_else(self) -> None:
        policy = Policy("searxng", RULES, [], endpoint=parse_endpoint(f"https://{NAME}"))
        assert not isinstance(self.check(policy), Failure)
        assert isinstance(self.check(policy, "/admin"), Failure)
        assert isinstance(self.check(policy, "/search", NAME), Failure)
        assert isinstance(self.check(policy, "/x", "api.example.org"), Failure)

    def test_a_manifest_that_declares_none_gets_none(self) -> None:
        policy = Policy("x", RULES[1:], endpoint=parse_endpoint(f"https://{NAME}"))
        assert policy.endpoint is None
        assert isinstance(self.check(policy), Failure)

    def test_only_a_manifest_can_name_the_stand_in(self) -> None:
        with pytest.raises(ValueError, match="invalid"):
            parse_host_entry(ENDPOINT)
        manifest = {"name": "x", "hosts": [{"host": ENDPOINT, "methods": ["GET"]}]}
        policy, _ = read_policy(manifest, granted=None, provided={})
        assert policy.effective == ()


class Answering(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.endswith("away"):
            self.send_response(302)
            self.send_header("Location", "https://api.example.org/")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = f"{self.headers['Host']} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Writes no log."""


@pytest.fixture
def plain_server() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join(10)
    server.server_close()


def ask(endpoint: Endpoint, path: str = "/search?q=desk", **client: Any) -> Outcome:
    settings = client.pop("settings", FetchSettings(retries=0))
    with FetchClient(settings, jitter=lambda: 0.0, **client) as fetching:
        policy = Policy("searxng", RULES, partition="searxng@here", endpoint=endpoint)
        fetcher = fetching.for_plugin(policy)
        requests = [Request("GET", f"https://{ENDPOINT}{path}")] * 2
        outcomes = [fetcher.fetch_all([one], Call("searxng", "x"))[0] for one in requests]
    return outcomes[-1]


def test_a_plain_server_on_loopback_is_asked(plain_server: HTTPServer) -> None:
    port = plain_server.server_port
    endpoint = parse_endpoint(f"http://127.0.0.1:{port}/searx", private=True)
    answer = ask(endpoint)
    assert isinstance(answer, Response)
    assert answer.body == f"127.0.0.1:{port} /searx/search?q=desk"
    assert answer.url == f"https://{ENDPOINT}/search?q=desk"


def test_a_name_that_resolves_to_loopback_is_asked(plain_server: HTTPServer) -> None:
    port = plain_server.server_port
    endpoint = parse_endpoint(f"http://searx.internal:{port}", private=True)
    names = Names({"searx.internal": ["127.0.0.1"]})
    answer = ask(endpoint, resolver=names)
    assert isinstance(answer, Response)
    assert answer.body.startswith(f"searx.internal:{port} ")


def test_a_redirect_to_another_host_is_denied(plain_server: HTTPServer) -> None:
    endpoint = parse_endpoint(f"http://127.0.0.1:{plain_server.server_port}", private=True)
    rules = (HostRule(ENDPOINT, frozenset({"GET"})),)
    with FetchClient(FetchSettings(retries=0)) as client:
        policy = Policy("searxng", rules, partition="p", endpoint=endpoint)
        request = Request("GET", f"https://{ENDPOINT}/away")
        [outcome] = client.for_plugin(policy).fetch_all([request], Call("searxng", "x"))
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.DENIED


def test_a_name_that_resolves_to_metadata_is_denied() -> None:
    endpoint = parse_endpoint("http://searx.internal", private=True)
    outcome = ask(endpoint, resolver=Names({"searx.internal": ["169.254.169.254"]}))
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.DENIED
    assert "searx.internal" not in outcome.message, "the address is the operator's matter"
    assert "endpoint.private" in outcome.grant


def test_a_closed_port_is_unreachable() -> None:
    outcome = ask(parse_endpoint("http://127.0.0.1:9", private=True))
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.UNREACHABLE


def test_a_public_endpoint_is_verified_by_its_name(tmp_path: Path) -> None:
    with Upstream(NAME, authority=trustme.CA()) as upstream:
        upstream.on("*", lambda seen: Reply(body=seen.host.encode()))
        settings = FetchSettings(ca_bundle=upstream.write_authority(tmp_path), retries=0)
        reach: dict[str, Any] = {"resolver": upstream.names, "dialer": upstream.dial}
        good = ask(parse_endpoint(f"https://{NAME}"), settings=settings, **reach)
        assert isinstance(good, Response)
        assert good.body == NAME
        other = ask(parse_endpoint("https://other.example.org"), settings=settings, **reach)
        assert isinstance(other, Failure)
