"""Measures parsing in this process against Python's parsers and native code, and in threads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import carrel
from bench import lxml_feed
from bench.measure import Bar, Figure, Row, time_in_turn
from bench.workbench import Workbench, why_no_native

_MEGABYTE = 1_000_000
_AT_ONCE = 8
#: Many more than run concurrently, because starting the threads and waiting for the last one take
#: as long as four parses.
_IN_ALL = 128
#: Iterations of a computation that takes about as long as a parse.
_COMPUTATION = 12_000


def against_python(bench: Workbench) -> Sequence[Row]:
    """Measures parsing a feed of 1 MB to validated Python objects."""
    import feedparser  # type: ignore[import-untyped]
    from lxml import etree

    # The input of a Python program, from a file or the network.
    data = bench.document(_MEGABYTE).encode()
    host = bench.host

    def ours(data: bytes) -> dict[str, Any]:
        return host.parse("arxiv", "feed", data)

    assert ours(data) == lxml_feed.parse(data), "the two parsers disagree"
    titles = [entry["title"] for entry in ours(data)["entries"]]
    assert [entry.title for entry in feedparser.parse(data).entries] == titles

    sandbox, lxml, tree, text = time_in_turn(
        ours,
        lxml_feed.parse,
        etree.fromstring,
        lambda data: host.parse("arxiv", "feed", data.decode()),
        document=data,
        rounds=bench.rounds(60),
    )
    ours_again, slow = time_in_turn(
        ours, feedparser.parse, document=data, rounds=bench.rounds(7, 1)
    )
    return [
        Row(
            "parse-lxml",
            "parse 1 MB to checked objects in the sandbox : the same fields by tuned lxml",
            sandbox, lxml, Bar(2.7, at_least=True),
        ),
        Row(
            "parse-feedparser",
            "the same : feedparser",
            ours_again, slow, Bar(20, at_least=True),
        ),
        Row(
            "parse-tree",
            "the same : lxml building its tree and reading nothing from it",
            sandbox, tree, faster=True,
        ),
        Row(
            "parse-str",
            "the same : decoded to a string first",
            sandbox, text,
        ),
    ]  # fmt: skip


def against_native(bench: Workbench) -> Sequence[Row]:
    """Measures the crate in the sandbox against the same crate as a Python module, to JSON text."""
    what = "parse 1 MB to JSON text in the sandbox : by the same code as a native module"
    bar = Bar(1.6)
    if missing := why_no_native(bench.quick):
        return [Row("native", what, bar=bar, missing=missing)]
    import carrel_native

    text = bench.document(_MEGABYTE)
    host = bench.host

    def ours(text: str) -> str:
        return host.parse_text("arxiv", "feed", text)

    def native(text: str) -> str:
        return str(carrel_native.parse("arxiv", "feed", text))

    assert ours(text) == native(text)
    sandbox, module = time_in_turn(ours, native, document=text, rounds=bench.rounds(60))
    return [Row("native", what, sandbox, module, bar)]


def at_once(bench: Workbench) -> Sequence[Row]:
    """Measures eight parses in eight threads on two cores, against sequential ones.

    Also measures the machine's own speed-up, with independent computations.
    """
    data = bench.document(_MEGABYTE).encode()
    with _two_cores(), carrel.Carrel(bench.config) as host, ThreadPoolExecutor(_AT_ONCE) as pool:

        def at_once_and_in_turn(parse: Callable[[bytes], object]) -> tuple[Figure, Figure]:
            def forgotten(data: bytes) -> None:
                """Drops the results: stored results would use new memory on one side only."""
                parse(data)

            def together(data: bytes) -> None:
                list(pool.map(forgotten, [data] * _IN_ALL))

            def in_turn(data: bytes) -> None:
                for document in [data] * _IN_ALL:
                    forgotten(document)

            both, single = time_in_turn(together, in_turn, document=data, rounds=bench.rounds(10))
            return both, single

        to_text = at_once_and_in_turn(partial(host.parse_utf8, "arxiv", "feed"))
        to_objects = at_once_and_in_turn(partial(host.parse, "arxiv", "feed"))
        machine = at_once_and_in_turn(
            lambda _: hashlib.pbkdf2_hmac("sha256", b"desk", b"wall", _COMPUTATION)
        )

    def row(name: str, what: str, pair: tuple[Figure, Figure]) -> Row:
        described = f"{_IN_ALL} {what}, {_AT_ONCE} at once on 2 cores : one after another"
        return Row(name, described, *pair, faster=True)

    return [
        row("threads", "parses of 1 MB to JSON text", to_text),
        Row(
            "threads-share",
            "share of the sequential time that parses at once take : independent computations",
            _share(to_text), _share(machine), Bar(1.1),
        ),
        row("threads-objects", "parses of 1 MB to checked objects", to_objects),
        row("threads-machine", "computations in C that share nothing (PBKDF2)", machine),
    ]  # fmt: skip


def _share(pair: tuple[Figure, Figure]) -> Figure:
    """Returns the times at once as shares of the median time in turn."""
    at_once, in_turn = pair
    return Figure(tuple(value / in_turn.median for value in at_once.values), "share")


@contextmanager
def _two_cores() -> Iterator[None]:
    """Pins this thread, and threads that it starts, to two cores, if the platform supports it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
