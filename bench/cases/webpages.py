"""Measures `web_read` over a site on loopback: one page, ten at once, a large one, ten thousand."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import psutil

from bench.measure import Bar, Figure, Row, alternate
from bench.workbench import Workbench
from carrel.config import Config, WebConfig
from carrel.features import FEATURES

_HOST: Final = "example.org"
_WORDS: Final = "A desk with walls on three sides keeps a reader from what the room does all day. "
_PAGE: Final = (
    '<!doctype html><html lang="en"><head><title>On desks</title><style>.x{display:none}</style>'
    '<meta name="citation_title" content="On desks"></head><body><nav><a href="/">Start</a></nav>'
    "<main><article><h1>On desks</h1>"
    + "".join(f"<h2>Part {n}</h2><p>{_WORDS * 5}</p>" for n in range(12))
    + '</article></main><footer><a href="/about">About</a></footer></body></html>'
)
_LARGE: Final = 5_000_000
_EARLY: Final = 300
Read = Callable[[str], dict[str, Any]]


def reading(bench: Workbench) -> Sequence[Row]:
    """Reads pages of a site on loopback, and compares with the same work without Carrel."""
    rows: list[Row] = []
    with _site(bench) as read:
        rows += _kept(bench, read)
        rows += _together(bench, read)
        rows += _large(bench, read)
        rows += _many(bench, read)
    return rows


def _kept(bench: Workbench, read: Read) -> Sequence[Row]:
    numbers = itertools.count()
    read("/kept")
    measured, counterpart = alternate(
        lambda: _time(lambda: read("/kept")),
        lambda: _time(lambda: read(f"/first/{next(numbers)}")),
        rounds=bench.rounds(60),
    )
    what = "web_read of a kept page, end to end : of one that is requested"
    return [Row("web-kept", what, measured, counterpart, Bar(0.5))]


def _together(bench: Workbench, read: Read) -> Sequence[Row]:
    numbers = itertools.count()

    def ten() -> list[str]:
        return [f"/ten/{next(numbers)}" for _ in range(10)]

    with ThreadPoolExecutor(10) as pool:
        measured, counterpart = alternate(
            lambda: _time(lambda: list(pool.map(read, ten()))),
            lambda: _time(lambda: [read(path) for path in ten()]),
            rounds=bench.rounds(12),
        )
    what = "web_read of ten pages side by side : one after the other"
    return [Row("web-ten", what, measured, counterpart, Bar(1.1))]


def _large(bench: Workbench, read: Read) -> Sequence[Row]:
    name = f"web_read of a page of {_LARGE // 10**6} MB"
    try:
        import trafilatura  # type: ignore[import-not-found]
    except ImportError:
        return [Row("web-large", name, missing="trafilatura is not installed")]
    numbers = itertools.count()
    measured, counterpart = alternate(
        lambda: _time(lambda: read(f"/large/{next(numbers)}")),
        lambda: _time(lambda: trafilatura.extract(_large_page())),
        rounds=bench.rounds(5, 1),
    )
    what = f"{name}, end to end : trafilatura.extract of it"
    return [Row("web-large", what, measured, counterpart, Bar(1))]


def _many(bench: Workbench, read: Read) -> Sequence[Row]:
    many = 2 * _EARLY if bench.quick else 10_000
    process = psutil.Process()
    for number in range(_EARLY):
        read(f"/early/{number}")
    early = _resident(process)
    for number in range(many - _EARLY):
        read(f"/late/{number}")
    late = _resident(process)
    what = f"resident memory after {many:,} web_read : after {_EARLY}"
    ours, before = Figure((float(late),), "B"), Figure((float(early),), "B")
    return [Row("web-memory", what, ours, before, Bar(1.05))]


def _resident(process: psutil.Process) -> int:
    gc.collect()
    return int(process.memory_info().rss)


def _large_page() -> str:
    section = f"<h2>A part</h2><p>{_WORDS * 5}</p>"
    return _PAGE.replace("</article>", section * (_LARGE // len(section)) + "</article>")


@contextmanager
def _site(bench: Workbench) -> Iterator[Read]:
    """Yields a function that reads a path of a site on loopback with `web_read`."""
    from carrel.fetch.client import FetchClient
    from carrel.fetch.settings import FetchSettings
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools import Toolbox
    from support.upstream import Reply, Seen, Upstream

    headers = [("Content-Type", "text/html; charset=utf-8")]
    replies = {"large": Reply(200, headers, _large_page().encode())}
    usual = Reply(200, headers, _PAGE.encode())

    def answer(seen: Seen) -> Reply:
        if seen.path == "/robots.txt":
            return Reply(404)
        return replies.get(seen.path.split("/")[1], usual)

    config = Config(
        cache_dir=bench.folder / "cache",
        data_dir=bench.folder / "web-data",
        web=WebConfig(hosts="public-web", interval_ms=0, concurrency=16),
    )
    with Upstream(_HOST) as upstream:
        upstream.on("*", answer)
        client = FetchClient(
            FetchSettings(ca_bundle=upstream.write_authority(bench.folder)),
            resolver=upstream.names,
            dialer=upstream.dial,
        )
        plugins = PluginSet(config, fetch_client=client)
        toolbox = Toolbox(config, plugin_set=plugins, features=FEATURES)

        def read(path: str) -> dict[str, Any]:
            upstream.seen.clear()
            told = toolbox.call_sync("web_read", {"url": f"https://{_HOST}{path}"}).data
            assert told["quality"] == "complete", told
            return dict(told)

        try:
            yield read
        finally:
            toolbox.close()


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
