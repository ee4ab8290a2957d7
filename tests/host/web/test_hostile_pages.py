"""Tests that each of hundreds of hostile pages is one typed error or clean text, within limits."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from carrel.config import Config, WebConfig
from carrel.errors import CarrelError
from carrel.features import FEATURES
from carrel.fetch import FetchClient, FetchSettings
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.hidden import hidden_in
from support.upstream import Reply, Seen, SkippingClock, Upstream

from .conftest import Web
from .hostile_pages import PAGE, Hostile, all_pages
from .hostile_structures import CLASSES

pytestmark = pytest.mark.requirement("sandbox:parse:web-pages")

PAGES = all_pages()
#: Seconds of the longest call; the machine may be busy.
_LONGEST = 20.0


class Site:
    """A site whose next page is set."""

    def __init__(self, upstream: Upstream, web: Web) -> None:
        self.web = web
        self._upstream = upstream
        self._number = 0

    def read(self, reply: Hostile, mode: str = "full") -> str:
        """Returns the text of the page, or the code of the error."""
        self._number += 1

        def answer(seen: Seen) -> Reply:
            if seen.path == "/robots.txt":
                return Reply(404)
            return reply(seen) if callable(reply) else reply

        self._upstream.on("*", answer)
        url = f"https://example.org/{self._number}"
        try:
            result = self.web.read(url, mode=mode, max_length=1000, **{"from": 0})
        except CarrelError as error:
            assert error.error_code not in {"internal", "plugin_failed", "contract_violation"}, (
                error
            )
            assert error.message
            assert len(error.message) < 2000
            return error.error_code
        assert len(result["text"]) <= 1001
        if mode == "full":
            assert hidden_in(json.dumps(result, ensure_ascii=False)) == []
        return str(result["text"])


@pytest.fixture(scope="module")
def site(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("hostile")
    config = Config(
        cache_dir=code_folder,
        data_dir=folder,
        web=WebConfig(hosts="public-web", interval_ms=0),
        limits={"response_bytes": 6_000_000, "wall_seconds": _LONGEST},
    )
    with Upstream("example.org", "www.example.org", authority=trustme.CA()) as upstream:
        settings = FetchSettings(
            ca_bundle=upstream.write_authority(folder),
            retries=0,
            read_seconds=1.0,
            breaker_failures=10_000,
        )
        client = FetchClient(
            settings, resolver=upstream.names, dialer=upstream.dial, clock=SkippingClock()
        )
        plugins = PluginSet(config, fetch_client=client)
        features = [one for one in FEATURES if one.name == "web"]
        toolbox = Toolbox(config, features=features, plugin_set=plugins)
        yield Site(upstream, Web(toolbox))
        toolbox.close()


def _long(page: str) -> list[str]:
    """Returns the kind of long test that a page is; the slow one takes the time of a timeout."""
    return ["flood"] if page in CLASSES else ["load"] if page == "slow" else []


@pytest.mark.parametrize(
    "kind",
    [pytest.param(one, marks=[pytest.mark.long(kind) for kind in _long(one)]) for one in PAGES],
)
def test_each_page_is_one_error_or_clean_text(site: Site, kind: str) -> None:
    for name, reply in PAGES[kind].items():
        started = time.monotonic()
        try:
            site.read(reply)
        except Exception as error:
            raise AssertionError(f"{kind}: {name}") from error
        assert time.monotonic() - started < 3 * _LONGEST, f"{kind}: {name}"


def test_the_reader_works_after_all_of_them(site: Site) -> None:
    for mode in ("full", "raw"):
        assert "A desk with walls" in site.read(Reply(200, [], PAGE.encode()), mode)


def test_a_raw_source_is_bounded_too(site: Site) -> None:
    for kind in ("charsets", "compression", "lengths"):
        for reply in PAGES[kind].values():
            site.read(reply, "raw")


def test_there_are_hundreds_of_pages_of_several_classes() -> None:
    assert sum(map(len, PAGES.values())) >= 350
    assert len(PAGES) >= 18
