from __future__ import annotations

from typing import Any

import pytest

from carrel.fetch import read_policy
from carrel.fetch.policy.rules import HostGrant

MANIFEST: dict[str, Any] = {
    "name": "eutils",
    "hosts": [
        {
            "host": "EUTILS.ncbi.nlm.nih.gov",
            "methods": ["GET", "POST"],
            "paths": ["/entrez/"],
            "pace": {"interval_ms": 334, "burst": 2, "upstream": "ncbi"},
            "concurrency": 3,
            "cache_seconds": 3600,
        },
        {"host": "example.org", "methods": ["HEAD"]},
    ],
    "secrets": [
        {
            "name": "ncbi_key",
            "hosts": ["eutils.ncbi.nlm.nih.gov"],
            "attach": {"query": "api_key"},
            "pace": {"interval_ms": 100},
        },
        {"name": "contact", "hosts": ["example.org"], "attach": {"header": "From"}},
    ],
}


def test_hosts_become_rules_with_their_manners_and_the_defaults() -> None:
    policy, secrets = read_policy(MANIFEST, granted=None, provided={})
    first, second = policy.rules
    assert first.host == "eutils.ncbi.nlm.nih.gov"
    assert first.methods == {"GET", "POST"}
    assert first.paths == ("/entrez/",)
    assert (first.pace.interval, first.pace.burst, first.upstream) == (0.334, 2, "ncbi")
    assert (first.concurrency, first.cache_seconds) == (3, 3600)
    assert (second.pace.interval, second.concurrency, second.cache_seconds) == (0, 8, 0)
    assert second.upstream == "example.org"
    assert secrets == ()
    assert policy.granted is None


def test_a_secret_that_is_set_is_attached_and_buys_its_pace() -> None:
    policy, secrets = read_policy(
        MANIFEST, granted=["example.org"], provided={"ncbi_key": "0123", "unknown": "x"}
    )
    assert [secret.name for secret in secrets] == ["ncbi_key"]
    assert secrets[0].query == "api_key"
    first, second = policy.rules
    assert (first.pace.interval, first.pace.burst, first.upstream) == (0.1, 1, "ncbi")
    assert second.pace.interval == 0
    assert policy.granted == (HostGrant("example.org"),)


def test_all_faults_are_reported_at_once_with_their_places() -> None:
    manifest = {
        "name": "bad",
        "hosts": [{"host": "*.gov", "methods": ["GET"]}, {"host": "ok.example", "methods": []}],
        "secrets": [
            {"name": "a", "hosts": ["other.example"], "attach": {"query": "a"}},
            {"name": "b", "hosts": ["ok.example"], "attach": {"header": "Host"}},
        ],
    }
    with pytest.raises(ValueError, match="hosts") as refusal:
        read_policy(manifest, granted=["*", "ok.example"], provided={"b": "x"})
    for place in ("hosts[0]", "secrets[0]", "secrets[1]", "allowed_hosts[0]"):
        assert place in str(refusal.value)
