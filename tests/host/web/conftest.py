"""A configuration whose tool `web_read` reaches sites on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.config import Config, WebConfig
from carrel.features import FEATURES
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.checked_results import checked_result
from support.loopback_client import loopback_client
from support.upstream import SkippingClock, Upstream

Raw = dict[str, Any]
HOSTS = (
    "example.org", "www.example.org", "news.example.com", "hn.algolia.com", "www.reddit.com",
    "news.ycombinator.com", "www.youtube.com", "api.crossref.org", "doi.org", "export.arxiv.org",
    "eutils.ncbi.nlm.nih.gov",
)  # fmt: skip


@pytest.fixture(scope="session")
def web_authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(web_authority: trustme.CA) -> Iterator[Upstream]:
    with Upstream(*HOSTS, authority=web_authority) as server:
        yield server


@pytest.fixture
def configuration(tmp_path: Path, code_folder: Path) -> Config:
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path / "data",
        web=WebConfig(hosts="public-web", interval_ms=0),
    )


class Web:
    """Calls the tool, and checks each result against its schema."""

    def __init__(self, toolbox: Toolbox) -> None:
        self.toolbox = toolbox

    def read(self, url: str, **arguments: Any) -> Raw:
        return checked_result(self.toolbox, "web_read", url=url, **arguments)


OpenWeb = Callable[..., Web]


@pytest.fixture
def open_web(upstream: Upstream, configuration: Config, tmp_path: Path) -> Iterator[OpenWeb]:
    opened: list[Toolbox] = []

    def make(config: Config = configuration, **changes: Any) -> Web:
        config = replace(config, **changes)
        client = loopback_client(upstream, tmp_path, clock=SkippingClock(), retries=0)
        features = [one for one in FEATURES if one.name == "web"]
        plugins = PluginSet(config, fetch_client=client)
        opened.append(Toolbox(config, features=features, plugin_set=plugins))
        return Web(opened[-1])

    yield make
    for toolbox in opened:
        toolbox.close()


@pytest.fixture
def web(open_web: OpenWeb) -> Web:
    return open_web()
