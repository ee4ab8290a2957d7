from __future__ import annotations

import base64
import json
import logging
import threading
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from carrel.exchange import Failure, Response
from carrel.fetch import HostRule, RecordingFetcher, Secret
from carrel.fetch.identity import REDACTED, Redactor, attach, user_agent
from carrel.fetch.url import Target
from support.fetch_harness import ARXIV, EVERY_METHOD, MakeHarness
from support.upstream import Reply, Seen, SkippingClock, Upstream

KEY = "s3cr/t+k=y~0123456789"
ADDRESS = "operator+papers@library.example"
NCBI = "eutils.ncbi.nlm.nih.gov"
SECRETS = (
    Secret("api_key", KEY, (NCBI,), query="api_key"),
    Secret("contact", ADDRESS, ("*.ncbi.nlm.nih.gov", "api.crossref.org"), query="mailto"),
    Secret("plus", f"Bearer {KEY}", ("api.crossref.org",), header="Crossref-Plus-API-Token"),
    Secret("token", KEY, ("api.crossref.org",), header="Authorization", scheme="Bearer"),
)
RULES = tuple(
    HostRule(host, EVERY_METHOD, cache_seconds=60) for host in (ARXIV, NCBI, "api.crossref.org")
)

pytestmark = pytest.mark.requirement("sandbox:secrets:attach")


def spellings(value: str) -> set[str]:
    encoded = {quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1]}
    return {value, base64.b64encode(value.encode()).decode()} | encoded


def assert_clean(text: str) -> None:
    for value in (KEY, ADDRESS):
        for spelling in spellings(value):
            assert spelling not in text


def test_a_secret_is_sent_only_to_the_hosts_it_is_declared_for(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x"))
    harness = make_harness(rules=RULES, secrets=SECRETS)
    for host in (ARXIV, NCBI, "api.crossref.org"):
        harness.answer(f"https://{host}/a?b=1")
    arxiv, ncbi, crossref = upstream.seen
    assert arxiv.path == "/a?b=1"
    assert_clean(str(arxiv.headers))
    assert ncbi.path == f"/a?b=1&api_key={quote(KEY, safe='')}&mailto={quote(ADDRESS, safe='')}"
    assert crossref.path == f"/a?b=1&mailto={quote(ADDRESS, safe='')}"
    assert crossref.headers["crossref-plus-api-token"] == f"Bearer {KEY}"
    assert crossref.headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in ncbi.headers
    assert f"mailto:{ADDRESS}" in crossref.headers["user-agent"]
    assert "crossref-plus-api-token" not in ncbi.headers


@pytest.mark.parametrize(
    ("value", "scheme", "sent"),
    [
        ("abcd", None, "abcd"),
        ("abcd", "Bearer", "Bearer abcd"),
        ("Bearer abcd", "Bearer", "Bearer abcd"),
        ("bearer abcd", "Bearer", "bearer abcd"),
        ("Bearerabcd", "Bearer", "Bearer Bearerabcd"),
        ("Token abcd", None, "Token abcd"),
        ('token="abcd"', "GenieKey", 'GenieKey token="abcd"'),
    ],
)
def test_a_scheme_is_prefixed_to_a_secret_once(value: str, scheme: str | None, sent: str) -> None:
    secret = Secret("k", value, (NCBI,), header="Authorization", scheme=scheme)
    attached = attach(Target(NCBI, "/", None), [secret], None)
    assert dict(attached.headers)["Authorization"] == sent
    assert Redactor([secret]).text(f"you sent {sent}") in {
        f"you sent {REDACTED}",
        f"you sent Bearer {REDACTED}",
    }
    assert Redactor([secret]).text(base64.b64encode(sent.encode()).decode()) == REDACTED


def test_every_redirect_hop_gets_only_its_own_secrets(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(302, [("Location", f"https://{NCBI}/b")]))
    upstream.on("/b", lambda seen: Reply(302, [("Location", f"https://{ARXIV}{seen.path}&c=1")]))
    harness = make_harness(rules=RULES, secrets=SECRETS)
    upstream.on("/b", lambda seen: Reply(302, [("Location", f"https://{ARXIV}/c{seen.path[2:]}")]))
    upstream.on("/c", Reply(body=b"x"))
    response = harness.answer("/a")
    assert [seen.host for seen in upstream.seen] == [ARXIV, NCBI, ARXIV]
    assert "api_key" in upstream.seen[1].path
    assert upstream.seen[2].path == "/c", "an echo of what we attached does not travel on"
    assert response.url == f"https://{ARXIV}/c"


def test_a_redirect_that_hides_a_secret_in_its_path_is_not_followed(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("/a", Reply(302, [("Location", f"https://{ARXIV}/{quote(KEY, safe='')}")]))
    failure = make_harness(rules=RULES, secrets=SECRETS).failure(f"https://{NCBI}/a")
    assert "credential" in failure.message
    assert_clean(str(failure))
    assert len(upstream.seen) == 1


def test_a_guests_own_value_for_a_host_parameter_is_dropped(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    upstream.on("*", Reply(body=b"x"))
    harness = make_harness(rules=RULES, secrets=SECRETS)
    harness.answer("https://api.crossref.org/works?m%61ilto=guest&rows=1&mailto=a%40b&x")
    harness.answer("https://api.crossref.org/works?mailto=guest")
    assert upstream.seen[0].path == f"/works?rows=1&x&mailto={quote(ADDRESS, safe='')}"
    assert upstream.seen[1].path == f"/works?mailto={quote(ADDRESS, safe='')}"
    harness.answer(f"https://{ARXIV}/works?mailto=guest")
    assert upstream.seen[2].path == "/works?mailto=guest"


@pytest.mark.requirement("sandbox:secrets:nowhere-else")
def test_no_secret_is_in_cache_recording_log_failure_or_answer(
    make_harness: MakeHarness, upstream: Upstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def echo(seen: Seen) -> Reply:
        body = f"{seen.path} {seen.headers} {sorted(spellings(KEY) | spellings(ADDRESS))}"
        headers = [("Content-Type", "text/plain"), ("X-Echo", seen.path), ("X-Key", KEY)]
        return Reply(body=body.encode(), headers=headers)

    upstream.on("/echo", echo)
    upstream.on("/fails", Reply(500, body=KEY.encode()))
    upstream.on("/broken", Reply(raw=f"HTTP/9 {KEY}\r\n\r\n".encode()))
    upstream.on("/binary", Reply(body=KEY.encode() + b"\xff"))
    upstream.on("/moves", Reply(302, [("Location", f"https://evil.example/?k={quote(KEY)}")]))
    upstream.on("/slow", Reply(silent=True))
    harness = make_harness(
        rules=RULES, secrets=SECRETS, clock=SkippingClock(), read_seconds=0.1, breaker_failures=99
    )
    harness.fetcher = RecordingFetcher(harness.fetcher, tmp_path / "recorded")
    call = harness.call()
    with caplog.at_level(logging.DEBUG):
        outcomes = [
            harness.fetch(f"https://{host}/{path}", call=call)
            for host in (NCBI, "api.crossref.org")
            for path in ("echo", "echo", "fails", "broken", "binary", "moves", "slow")
        ]
    assert all(isinstance(outcome, Response | Failure) for outcome in outcomes)
    echoed = outcomes[0]
    assert isinstance(echoed, Response)
    assert echoed.body.count(REDACTED) >= 8
    assert_clean(str(outcomes) + str(call.attempts) + caplog.text + str(call.fatal))
    assert_clean(str([record.__dict__ for record in caplog.records]))
    harness.client.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.suffix == ".txt" for path in files)
    assert any("cache" in path.name for path in files)
    for path in files:
        assert_clean(path.name)
        assert_clean(path.read_bytes().decode("latin-1"))


def test_a_repr_shows_no_secret() -> None:
    attachment = attach(Target(NCBI, "/", None), SECRETS, None)
    assert_clean(repr(SECRETS) + repr(attachment))
    assert KEY in attachment.resource or quote(KEY, safe="") in attachment.resource


def test_the_user_agent_has_version_and_contact() -> None:
    assert user_agent(None, None).startswith("carrel/")
    assert "(" not in user_agent(None, None)
    assert user_agent("https://x.example", "a@b").endswith(" (+https://x.example; mailto:a@b)")


def test_redaction_ignores_values_too_short_for_a_secret() -> None:
    text = "a1 b1"
    assert Redactor([Secret("k", "1", (NCBI,), query="k")]).text(text) == text


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("", {"query": "k"}), ("a\r\nX: y", {"header": "X-Key"}), ("a\0", {"query": "k"}),
        ("caf\u00e9", {"query": "k"}), (" a", {"query": "k"}), ("a", {}),
        ("a", {"query": "k", "header": "X-Key"}), ("a", {"header": "Host"}),
        ("a", {"header": "Content-Length"}), ("a", {"header": "cookie"}),
        ("a", {"header": "User-Agent"}), ("a", {"scheme": "Bearer"}),
        ("a", {"query": "k", "scheme": "Bearer"}),
        ("a", {"header": "Authorization", "scheme": "Bearer x"}),
        ("a", {"header": "Authorization", "scheme": ""}),
        ("a", {"header": "Authorization", "scheme": "a\r\nb"}),
    ],
)  # fmt: skip
def test_a_secret_that_a_request_cannot_contain_is_refused(
    value: str, place: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="secret k"):
        Secret("k", value, (NCBI,), **place)


def test_threads_with_different_secrets_do_not_share_an_answer(
    make_harness: MakeHarness, upstream: Upstream
) -> None:
    release = threading.Event()
    upstream.on("*", Reply(body=b"x", hold=release))
    plain, keyed = make_harness(rules=RULES), make_harness(rules=RULES, secrets=SECRETS)
    release.set()
    assert not keyed.answer(f"https://{NCBI}/a").cached
    assert not plain.answer(f"https://{NCBI}/a").cached, "an answer to a key is not for all"
    assert keyed.answer(f"https://{NCBI}/a").cached


class TestSoftware:
    """Tests the name and version that upstreams identify this software by; they are not secret."""

    NAME = Secret("software", "carrel", (NCBI,), query="tool")

    def test_the_software_name_replaces_the_guests_own(
        self, make_harness: MakeHarness, upstream: Upstream
    ) -> None:
        upstream.on("*", Reply(body=b"carrel is a word"))
        harness = make_harness(rules=RULES, secrets=(self.NAME,))
        response = harness.answer(f"https://{NCBI}/a?tool=other&x=1")
        assert upstream.seen[0].path == "/a?x=1&tool=carrel"
        assert response.url == f"https://{NCBI}/a?x=1"

    def test_the_software_name_is_not_removed_from_responses(
        self, make_harness: MakeHarness, upstream: Upstream
    ) -> None:
        upstream.on("*", Reply(302, [("Location", "/carrel?q=carrel")]), Reply(body=b"a carrel"))
        harness = make_harness(rules=RULES, secrets=(self.NAME,))
        response = harness.answer(f"https://{NCBI}/a")
        assert (response.body, response.url) == ("a carrel", f"https://{NCBI}/carrel?q=carrel")

    def test_a_name_with_a_blank_is_refused(self) -> None:
        with pytest.raises(ValueError, match="blank"):
            Secret("software", "my server", (NCBI,), query="tool")
