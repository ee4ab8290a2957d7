"""Measures `web_read` over a site on loopback: one page, ten at once, a large one, ten thousand."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import psutil

from bench.measure import Bar, Figure, Row, alternate, resident_bytes
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
#: Seconds that the site takes for each of the ten pages: an ordinary distance.
_DISTANCE: Final = 0.1
#: Sites of which the ten thousand pages are.
_SITES: Final = 200
#: Pages after which memory is measured first: every cache and every pool is full then.
_EARLY: Final = 1_000
Read = Callable[[str], dict[str, Any]]


def kept(bench: Workbench) -> Sequence[Row]:
    """Reads a page that is cached, and pages that are not."""
    numbers = itertools.count()
    with _site(bench) as read:
        read("/kept")
        measured, counterpart = alternate(
            lambda: _time(lambda: read("/kept")),
            lambda: _time(lambda: read(f"/first/{next(numbers)}")),
            rounds=bench.rounds(100),
        )
    what = "web_read of a cached page, end to end : of a page that is fetched"
    return [Row("web-kept", what, measured, counterpart, Bar(0.25))]


def ten(bench: Workbench) -> Sequence[Row]:
    """Reads ten pages of a distant site side by side, and ten one after the other."""
    numbers = itertools.count()

    def paths() -> list[str]:
        return [f"/far/{next(numbers)}" for _ in range(10)]

    with _site(bench) as read, ThreadPoolExecutor(10) as pool:
        list(pool.map(read, paths()))  # connects, and compiles the reader
        measured, counterpart = alternate(
            lambda: _time(lambda: list(pool.map(read, paths()))),
            lambda: _time(lambda: [read(path) for path in paths()]),
            rounds=bench.rounds(12),
        )
    what = f"web_read of ten pages {_DISTANCE * 1000:.0f} ms away, side by side : in turn"
    return [Row("web-ten", what, measured, counterpart, Bar(0.3))]


def large(bench: Workbench) -> Sequence[Row]:
    """Reads a page of 5 MB, and has trafilatura read it."""
    name = f"web_read of a page of {_LARGE // 10**6} MB"
    try:
        import trafilatura  # type: ignore[import-not-found]
    except ImportError:
        return [Row("web-large", name, missing="not installed: pip install --group bench")]
    numbers = itertools.count()
    page = _large_page()
    with _site(bench) as read:
        read("/large")
        measured, counterpart = alternate(
            lambda: _time(lambda: read(f"/large/{next(numbers)}")),
            lambda: _time(lambda: trafilatura.extract(page)),
            rounds=bench.rounds(7, 1),
        )
    what = f"{name}, end to end : trafilatura.extract of it, without the request"
    return [Row("web-large", what, measured, counterpart, Bar(1))]


def memory(bench: Workbench) -> Sequence[Row]:
    """Reads ten thousand pages of two hundred sites, and measures memory early and late."""
    many = 2 * _EARLY if bench.quick else 10_000
    process = psutil.Process()
    with _site(bench) as read:
        for number in range(_EARLY):
            read(f"/page/{number}")
        early = _resident(process)
        for number in range(_EARLY, many):
            read(f"/page/{number}")
        late = _resident(process)
    what = f"resident memory after {many:,} pages of {_SITES} sites : after {_EARLY:,}"
    ours, before = Figure((float(late),), "B"), Figure((float(early),), "B")
    return [Row("web-memory", what, ours, before, Bar(1.05))]


def _resident(process: psutil.Process) -> int:
    gc.collect()
    return resident_bytes(process)


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

    hosts = [f"{number}.{_HOST}" for number in range(_SITES)]
    headers = [("Content-Type", "text/html; charset=utf-8")]
    usual = Reply(200, headers, _PAGE.encode())
    replies = {
        "large": Reply(200, headers, _large_page().encode()),
        "far": replace(usual, delay=_DISTANCE),
    }

    def answer(seen: Seen) -> Reply:
        if seen.path == "/robots.txt":
            return Reply(404)
        return replies.get(seen.path.split("/")[1], usual)

    config = Config(
        cache_dir=bench.folder / "cache",
        data_dir=bench.folder / "web-data",
        web=WebConfig(hosts="public-web", interval_ms=0, concurrency=16),
        limits={"wall_seconds": 900, "cpu_seconds": 60},  # the machine may be busy
    )
    with Upstream(*hosts) as upstream:
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
            number = path.rpartition("/")[2] if path.startswith("/page/") else "0"
            host = hosts[int(number) % _SITES]
            page = toolbox.call_sync("web_read", {"url": f"https://{host}{path}"}).data
            assert page["quality"] == "complete", page
            return dict(page)

        try:
            yield read
        finally:
            toolbox.close()
            plugins.close()


def _time(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
