"""A configuration whose built-in plugins and downloads reach upstreams on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.config import Config, FetchConfig, PapersConfig, builtin
from carrel.features import FEATURES
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.checked_results import checked_result
from support.loopback_client import loopback_client
from support.paper_world import HOSTS, PaperWorld
from support.upstream import SkippingClock, Upstream

Raw = dict[str, Any]


@pytest.fixture(scope="session")
def paper_authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(paper_authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(*HOSTS, authority=paper_authority) as server:
        yield server


@pytest.fixture
def world(upstream: Upstream) -> PaperWorld:
    made = PaperWorld()
    upstream.on("*", made)
    return made


@pytest.fixture
def configuration(tmp_path: Path, code_folder: Path) -> Config:
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path / "data",
        plugins=tuple(builtin(name) for name in ("arxiv", "crossref", "unpaywall")),
        papers=PapersConfig(folder=tmp_path / "store"),
        fetch=FetchConfig(contact="reader@example.org"),
    )


class Papers:
    """Calls the tools for papers, and checks each result against its schema."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox

    def __call__(self, name: str, **arguments: Any) -> Raw:
        return checked_result(self.toolbox, name, **arguments)

    def fetch(self, ref: str, **arguments: Any) -> Raw:
        return self("paper_fetch", ref=ref, **arguments)


@pytest.fixture
def open_papers(
    upstream: Upstream, configuration: Config, tmp_path: Path
) -> Iterator[Callable[..., Papers]]:
    opened: list[Toolbox] = []

    def make(config: Config = configuration, **settings: Any) -> Papers:
        defaults: dict[str, Any] = {
            "cache_path": tmp_path / "answers.sqlite",
            "pace_path": None,
        }
        client = loopback_client(upstream, tmp_path, clock=SkippingClock(), **(defaults | settings))
        features = [one for one in FEATURES if one.name == "papers"]
        plugins = PluginSet(config, fetch_client=client)
        opened.append(Toolbox(config, features=features, plugin_set=plugins))
        return Papers(opened[-1])

    yield make
    for toolbox in opened:
        toolbox.close()


@pytest.fixture
def papers(open_papers: Callable[..., Papers]) -> Papers:
    return open_papers()
