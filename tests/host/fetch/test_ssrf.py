"""Tests that no request reaches an address or a host that policy does not allow."""

from __future__ import annotations

import pytest

from carrel.exchange import Failure, FailureKind, Response
from carrel.fetch.policy.hosts import parse_host_entry
from support.fetch_harness import MakeHarness
from support.ssrf_cases import NO_LIST, Case, listed_cases, listed_entries, own_cases
from support.upstream import PUBLIC, Names, Reply, Upstream

pytestmark = pytest.mark.requirement("sandbox:hosts:ssrf")


def check(case: Case, upstream: Upstream, make_harness: MakeHarness) -> None:
    upstream.names = Names()
    upstream.names.otherwise = case.answers.get("*", [[PUBLIC]])[0]
    upstream.names.table = {host: turns for host, turns in case.answers.items() if host != "*"}
    replies = [Reply(body=b"reached")]
    if case.redirect is not None:
        replies.insert(0, Reply(302, [("Location", case.redirect)]))
    upstream.on("*", *replies)
    outcome = make_harness(cache_path=None, retries=0).fetch(case.url)
    hops = 1 if case.redirect is None else 2
    if case.allowed:
        assert isinstance(outcome, Response), outcome
        assert outcome.body == "reached"
        assert len(upstream.names.lookups) == hops, "one lookup a hop"
    else:
        assert isinstance(outcome, Failure), outcome
        assert len(upstream.seen) == hops - 1
        assert len(upstream.dialled) == hops - 1
        assert outcome.kind in {FailureKind.DENIED, FailureKind.UNREACHABLE}
    allowed = {address for turns in case.answers.values() for address in turns[0]} | {PUBLIC}
    assert set(upstream.dialled) <= allowed


OWN = list(own_cases())
LISTED = list(listed_cases())


@pytest.mark.parametrize("case", OWN, ids=[case.id for case in OWN])
def test_a_trick_gets_its_verdict(
    case: Case, upstream: Upstream, make_harness: MakeHarness
) -> None:
    check(case, upstream, make_harness)


@pytest.mark.skipif(not LISTED, reason=NO_LIST)
@pytest.mark.parametrize("case", LISTED, ids=[case.id for case in LISTED])
def test_a_listed_trick_gets_its_verdict(
    case: Case, upstream: Upstream, make_harness: MakeHarness
) -> None:
    check(case, upstream, make_harness)


@pytest.mark.skipif(not LISTED, reason=NO_LIST)
@pytest.mark.parametrize(("entry", "allowed"), list(listed_entries()))
def test_a_listed_manifest_entry_gets_its_verdict(entry: str, allowed: bool) -> None:
    if allowed:
        assert parse_host_entry(entry) == entry.lower()
    else:
        with pytest.raises(ValueError, match=r"\w"):
            parse_host_entry(entry)
