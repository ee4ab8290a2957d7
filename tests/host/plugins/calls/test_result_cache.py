"""Tests the result cache: which results are cached, and for how long."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.plugin import echo_plugin

from carrel.config import Config, PluginConfig, RuntimeConfig
from carrel.exchange import CacheHit, Call, Request
from carrel.fetch import FetchClient, FetchSettings
from carrel.plugins.calls.result_cache import ResultCache
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.upstream import Reply, SkippingClock, Upstream

QUERY = {"search_query": "all:desk", "max_results": 1, "verify_source_url": False}
DAY = 86400.0


def feed(title: str) -> Reply:
    return Reply(
        body=f"""<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/abs/2001.00001v1</id><title>{title}</title></entry></feed>""".encode()
    )


class AgeingClock(SkippingClock):
    """A clock on which cached responses age, while calls' deadlines stay."""

    def __init__(self) -> None:
        super().__init__()
        self.age = 0.0

    def wall(self) -> float:
        return super().wall() + self.age


class CacheHarness:
    """A toolbox with an upstream, and the clock by which cached responses age."""

    def __init__(self, upstream: Upstream, config: Config, folder: Path) -> None:
        self.clock = AgeingClock()
        self.client = FetchClient(
            FetchSettings(
                ca_bundle=upstream.write_authority(folder), cache_path=folder / "answers.sqlite"
            ),
            resolver=upstream.names,
            dialer=upstream.dial,
            clock=self.clock,
            jitter=lambda: 0.0,
        )
        self.plugin_set = PluginSet(config, fetch_client=self.client)
        self.toolbox = Toolbox(config, plugin_set=self.plugin_set)

    def title(self, **changes: Any) -> str:
        result = self.toolbox.call_sync("arxiv_query", {**QUERY, **changes})
        (entry,) = result.data["entries"]
        assert result.text.count(entry["title"]) == 1
        title: str = entry["title"]
        return title


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream("export.arxiv.org", "arxiv.org") as server:
        yield server


@pytest.fixture
def open_harness(
    upstream: Upstream, config: Config, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> Iterator[Callable[..., CacheHarness]]:
    caplog.set_level(logging.INFO, "carrel")
    harnesses: list[CacheHarness] = []

    def make(**changes: Any) -> CacheHarness:
        harnesses.append(CacheHarness(upstream, replace(config, **changes), tmp_path))
        return harnesses[-1]

    yield make
    for harness in harnesses:
        harness.toolbox.close()


def cache_hits_of(caplog: pytest.LogCaptureFixture) -> int:
    """Returns the number of result cache hits since the previous call."""
    count = sum("result cache hit" in record.getMessage() for record in caplog.records)
    caplog.clear()
    return count


@pytest.mark.requirement("sandbox:fresh:kept-results")
def test_a_result_is_cached_once_every_response_was_a_cache_hit(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness()
    assert harness.title() == "One"  # queries the source
    assert harness.title() == "One"  # is made from the cached response
    assert cache_hits_of(caplog) == 0
    assert harness.title() == "One"
    assert cache_hits_of(caplog) == 1
    assert len(upstream.seen) == 1


def test_other_arguments_are_another_question(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness()
    for _ in range(3):
        harness.title()
    cache_hits_of(caplog)
    harness.title(start=1)
    assert cache_hits_of(caplog) == 0


def test_an_answer_that_is_no_longer_fresh_ends_it(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"), feed("Two"))
    harness = open_harness()
    for _ in range(3):
        harness.title()
    assert cache_hits_of(caplog) == 1
    harness.clock.age += 8 * DAY
    assert harness.title() == "Two"
    assert cache_hits_of(caplog) == 0


def test_an_answer_that_another_process_replaced_ends_it(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"), feed("Two"))
    harness, other = open_harness(), open_harness()
    for _ in range(3):
        harness.title()
    assert cache_hits_of(caplog) == 1
    other.clock.age += 8 * DAY
    assert other.title() == "Two"
    other.clock.age -= 8 * DAY
    other.client.close()
    # The replaced response was stored by a clock that ran ahead, so this process ignores it.
    harness.title()
    assert cache_hits_of(caplog) == 0


def test_responses_of_other_calls_do_not_invalidate_a_cached_result(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"))
    harness, other = open_harness(), open_harness()
    for _ in range(3):
        harness.title()
    other.title(start=7)
    cache_hits_of(caplog)
    assert harness.title() == "One"
    assert cache_hits_of(caplog) == 1


def test_nothing_is_cached_if_the_operator_disables_it(
    open_harness: Callable[..., CacheHarness], upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness(runtime=RuntimeConfig(result_bytes=0))
    for _ in range(4):
        harness.title()
    assert cache_hits_of(caplog) == 0


def test_nothing_is_cached_while_recording(
    open_harness: Callable[..., CacheHarness],
    upstream: Upstream,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness(record_dir=tmp_path / "recording")
    for _ in range(4):
        harness.title()
    assert cache_hits_of(caplog) == 0


@pytest.mark.requirement("sandbox:fresh:kept-results")
def test_a_call_without_requests_runs_every_time(
    open_harness: Callable[..., CacheHarness],
    config: Config,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = tmp_path / "echo.wasm"
    path.write_bytes(echo_plugin("echo"))
    harness = open_harness(plugins=(*config.plugins, PluginConfig("echo", path.as_uri())))
    for _ in range(4):
        assert harness.toolbox.call_sync("echo_echo", {"n": 1}).data == {"n": 1}
    assert cache_hits_of(caplog) == 0


def test_a_cached_result_is_decoded_for_each_call(
    open_harness: Callable[..., CacheHarness], upstream: Upstream
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness()
    for _ in range(4):
        harness.toolbox.call_sync("arxiv_query", QUERY).data["entries"].clear()
    assert harness.title() == "One"


class Checker:
    """Reports every hit as valid while `valid` is set."""

    def __init__(self) -> None:
        self.valid = True

    def still_cached(self, hits: Sequence[CacheHit], version: object) -> object:
        return "version" if self.valid else None


def test_the_least_recently_used_results_are_evicted() -> None:
    cache = ResultCache(Checker(), 10_000)
    for number in range(4):
        cache.put(("query", str(number)), bytes(1500), ())
        assert cache.get(("query", "0"))
    assert cache.get(("query", "1")) is None
    assert cache.get(("query", "3"))
    cache.put(("query", "large"), bytes(20_000), ())
    assert cache.get(("query", "large")) is None
    assert cache.get(("query", "3")), "a result beyond the limit evicts nothing"


def test_a_result_whose_responses_are_not_valid_is_removed() -> None:
    checker = Checker()
    cache = ResultCache(checker, 10_000)
    cache.put(("query", "1"), b"{}", ())
    checker.valid = False
    assert cache.get(("query", "1")) is None
    checker.valid = True
    assert cache.get(("query", "1")) is None


@pytest.mark.parametrize(
    ("fetches", "hits", "expected"), [(0, 0, False), (2, 1, False), (2, 2, True), (0, 1, False)]
)
def test_a_call_is_all_cached_when_every_request_is_a_hit(
    fetches: int, hits: int, expected: bool
) -> None:
    call = Call("arxiv", "query", fetches=fetches, cache_hits=[CacheHit(b"", 0.0, 1.0)] * hits)
    assert call.is_all_cached is expected


def test_a_request_with_refresh_is_no_cache_hit(
    open_harness: Callable[..., CacheHarness], upstream: Upstream
) -> None:
    upstream.on("/api/query", feed("One"))
    harness = open_harness()
    harness.title()
    fetcher = harness.plugin_set.plugin("arxiv")._get_fetcher()
    (seen,) = upstream.seen
    for refresh, expected in ((False, True), (True, False)):
        call = Call("arxiv", "query")
        request = Request("GET", f"https://export.arxiv.org{seen.path}", refresh=refresh)
        fetcher.fetch_all([request], call)
        assert call.is_all_cached is expected
