"""Fixtures: a TLS upstream on loopback, and a fetch layer that reaches it under public names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.fetch import FetchClient, HostRule, Policy, Secret
from support.fetch_harness import HOSTS, RULES, FetchHarness, MakeHarness
from support.loopback_client import loopback_client
from support.upstream import SkippingClock, Upstream


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(*HOSTS, authority=authority) as server:
        yield server


@pytest.fixture
def make_harness(upstream: Upstream, tmp_path: Path) -> Iterator[MakeHarness]:
    clients: list[FetchClient] = []

    def make(
        *,
        rules: Sequence[HostRule] = RULES,
        granted: Sequence[str] | None = None,
        secrets: Sequence[Secret] = (),
        clock: SkippingClock | None = None,
        **settings: Any,
    ) -> FetchHarness:
        defaults: dict[str, Any] = {
            "cache_path": tmp_path / "fetch" / "cache.sqlite3",
            "pace_path": tmp_path / "fetch" / "pace.sqlite3",
        }
        client = loopback_client(upstream, tmp_path, clock=clock, **(defaults | settings))
        clients.append(client)
        return FetchHarness.of(client, Policy("arxiv", rules, granted), secrets)

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def harness(make_harness: MakeHarness) -> FetchHarness:
    return make_harness()
