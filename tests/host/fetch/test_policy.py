from __future__ import annotations

import pytest

from carrel.exchange import Failure
from carrel.fetch.policy.rules import HostRule, Policy, check_headers
from carrel.fetch.url import Target, parse_url

GET = frozenset({"GET"})


def check(policy: Policy, method: str, url: str) -> HostRule | Failure:
    target = parse_url(url)
    assert isinstance(target, Target)
    return policy.check(method, target)


def reason(policy: Policy, method: str, url: str) -> str:
    refusal = check(policy, method, url)
    assert isinstance(refusal, Failure)
    return refusal.reason


@pytest.mark.requirement("sandbox:hosts:manifest-and-grant")
def test_a_host_needs_both_the_manifest_and_the_grant() -> None:
    rules = [HostRule("arxiv.org", GET), HostRule("export.arxiv.org", GET)]
    policy = Policy("arxiv", rules, ["export.arxiv.org", "example.org"])
    assert check(policy, "GET", "https://export.arxiv.org/") == rules[1]
    assert reason(policy, "GET", "https://arxiv.org/") == "host_not_granted"
    assert reason(policy, "GET", "https://example.org/") == "host_not_declared"


def test_a_missing_grant_is_spelled_out_and_an_undeclared_host_has_none() -> None:
    policy = Policy("arxiv", [HostRule("arxiv.org", GET)], [])
    refusal = check(policy, "GET", "https://arxiv.org/abs/1")
    assert isinstance(refusal, Failure)
    assert refusal.grant == 'plugins.arxiv.runtime_config.allowed_hosts += "arxiv.org"'
    assert refusal.grant in refusal.message
    refusal = check(policy, "GET", "https://example.org/")
    assert isinstance(refusal, Failure)
    assert refusal.grant == ""


def test_a_wildcard_grant_covers_a_declared_name_but_declares_none() -> None:
    policy = Policy("eutils", [HostRule("eutils.ncbi.nlm.nih.gov", GET)], ["*.ncbi.nlm.nih.gov"])
    assert isinstance(check(policy, "GET", "https://eutils.ncbi.nlm.nih.gov/"), HostRule)
    assert reason(policy, "GET", "https://www.ncbi.nlm.nih.gov/") == "host_not_declared"


def test_the_rule_with_method_and_path_is_found_among_several_of_a_host() -> None:
    rules = [
        HostRule("arxiv.org", GET, paths=("/api",)),
        HostRule("arxiv.org", frozenset({"HEAD"}), paths=("/e-print/",)),
        HostRule("*.arxiv.org", frozenset({"POST"})),
    ]
    policy = Policy("arxiv", rules)
    assert check(policy, "GET", "https://arxiv.org/api/query?x") == rules[0]
    assert check(policy, "HEAD", "https://arxiv.org/e-print/1") == rules[1]
    assert reason(policy, "GET", "https://arxiv.org/e-print/1") == "path_not_allowed"
    assert reason(policy, "POST", "https://arxiv.org/api") == "method_not_allowed"


@pytest.mark.requirement("sandbox:hosts:path")
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api", True), ("/api/", True), ("/api/query", True), ("/apiary", False), ("/", False),
        ("/api/../admin", False), ("/api/%2e%2e/admin", False), ("/api/..%2fadmin", False),
        ("/api/..%252fadmin", False), ("/api/..%5cadmin", False), ("/x/../api", True),
        ("/api/a..b", True), ("/api/10.1%2F..x", True), ("/API", False),
    ],
)  # fmt: skip
def test_a_path_prefix_matches_whole_segments_and_resists_dot_segments(
    path: str, allowed: bool
) -> None:
    policy = Policy("p", [HostRule("arxiv.org", GET, paths=("/api",))])
    assert isinstance(check(policy, "GET", f"https://arxiv.org{path}"), HostRule) is allowed


def test_a_grant_that_is_no_host_entry_is_refused() -> None:
    with pytest.raises(ValueError, match="star"):
        Policy("p", [HostRule("arxiv.org", GET)], ["*"])


@pytest.mark.requirement("sandbox:secrets:guest-headers")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", "evil.example"), ("user-agent", "x"), ("authorization", "Bearer x"),
        ("cookie", "a=b"), ("connection", "close"), ("transfer-encoding", "chunked"),
        ("content-length", "3"), ("accept-encoding", "br"), ("if-none-match", '"x"'),
        ("accept", "a\r\nX-Injected: 1"), ("accept", "a\nb"), ("accept", "a\0"), ("accept ", "a"),
        ("accept", "\u20ac"), ("accept", "a" * 1001), ("", "x"), ("x-forwarded-for", "1.1.1.1"),
    ],
)  # fmt: skip
def test_a_header_that_belongs_to_the_host_or_carries_another_is_denied(
    name: str, value: str
) -> None:
    refusal = check_headers("https://arxiv.org/", ((name, value),))
    assert refusal is not None
    assert refusal.reason == "header_not_allowed"
    assert "Injected" not in refusal.message


def test_the_three_guest_headers_are_allowed_once_each() -> None:
    headers = (("Accept", "application/json"), ("accept-language", "en"), ("content-type", "a/b"))
    assert check_headers("https://arxiv.org/", headers) is None
    assert check_headers("https://arxiv.org/", (("accept", "a"), ("Accept", "b"))) is not None
