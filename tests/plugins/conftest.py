"""Fixtures: the built-in components, the real fetch layer and a local TLS upstream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.config import Config, PluginConfig, builtin
from carrel.features import FEATURES
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Result, Toolbox
from support.loopback_client import loopback_client
from support.toolboxes import HOSTS, MakeToolbox
from support.upstream import SkippingClock, Upstream


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(authority: trustme.CA) -> Iterator[Upstream]:
    """Returns an upstream for all hosts; clients' waits end immediately."""
    with Upstream(*HOSTS, authority=authority) as server:
        yield server


@pytest.fixture
def make_toolbox(upstream: Upstream, config: Config, tmp_path: Path) -> Iterator[MakeToolbox]:
    toolboxes: list[Toolbox] = []

    def make(*plugins: str | PluginConfig, keep: bool = False, **changes: Any) -> Toolbox:
        cache = tmp_path / "answers.sqlite3" if keep else None
        client = loopback_client(upstream, tmp_path, clock=SkippingClock(), cache_path=cache)
        entries = tuple(builtin(one) if isinstance(one, str) else one for one in plugins)
        changed = replace(config, plugins=entries, **changes)
        plugin_set = PluginSet(changed, fetch_client=client)
        toolboxes.append(Toolbox(changed, features=FEATURES, plugin_set=plugin_set))
        return toolboxes[-1]

    yield make
    for toolbox in toolboxes:
        toolbox.close()


@pytest.fixture
def pubmed(make_toolbox: MakeToolbox) -> Callable[..., Result]:
    """Returns a function that calls a PubMed tool by its name without the prefix."""
    toolbox = make_toolbox("eutils")

    def call(tool: str, **arguments: Any) -> Result:
        return toolbox.call_sync(f"pubmed_{tool}", arguments)

    return call
