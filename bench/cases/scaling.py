"""Measures the time per byte of small and large documents."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench import documents as feeds
from bench.measure import Bar, Figure, Row, alternate, unused
from bench.workbench import Workbench

from .processes import run

SIZES = (100_000, 1_000_000, 10_000_000)
_LINEAR = Bar(1.2)


def against_size(bench: Workbench) -> Sequence[Row]:
    """Measures the time per byte of larger documents against smaller ones: 100 KB, 1 MB, 10 MB."""
    sizes = SIZES[:2] if bench.quick else SIZES
    return [
        *in_process(bench, sizes, "scaling-text", "parsed to JSON text", bench.host.parse_utf8),
        *in_process(
            bench, sizes, "scaling-objects", "parsed to objects", bench.host.parse, touching=True
        ),
        *_as_processes(bench, sizes),
    ]


def in_process(
    bench: Workbench,
    sizes: Sequence[int],
    name: str,
    what: str,
    parse: Callable[[str, str, bytes], Any],
    *,
    source: tuple[str, str, Callable[[int], str]] | None = None,
    touching: bool = False,
) -> list[Row]:
    """Measures the largest document against smaller ones with as many bytes in total.

    Args:
        bench: the run's.
        sizes: of the documents, in bytes.
        name: of the row.
        what: describes what is done with a document.
        parse: takes plugin, format and document, and does it.
        source: plugin, format, and a function from size to document; arXiv's feeds if None.
        touching: see `_rows`.
    """
    plugin, form, make = source or ("arxiv", "feed", bench.document)
    documents = [make(size).encode() for size in sizes]
    counts = [sizes[-1] // size for size in sizes]

    def several(data: bytes, count: int) -> float:
        copies = [unused(data) for _ in range(count)]
        gc.collect()
        start = time.perf_counter()
        for copy in copies:
            parse(plugin, form, copy)
        return time.perf_counter() - start

    several(documents[0], 1)
    figures = alternate(
        *(
            (lambda data=data, count=count: several(data, count))
            for data, count in zip(documents, counts, strict=True)
        ),
        rounds=bench.rounds(15),
    )
    amounts = [len(data) * count for data, count in zip(documents, counts, strict=True)]
    return _rows(name, what, sizes, figures, amounts, touching=touching)


def _as_processes(bench: Workbench, sizes: Sequence[int]) -> Sequence[Row]:
    """Measures a process per size for the same bytes, less the time of one for a tiny file."""
    files = [bench.document_file(f"{size}.xml", bench.document(size)) for size in sizes]
    counts = [sizes[-1] // size for size in sizes]
    parse = [*bench.command, "parse", "arxiv", "feed"]
    commands = [[*parse, *[str(file)] * count] for file, count in zip(files, counts, strict=True)]
    tiny = [*parse, str(bench.document_file("tiny.xml", feeds.feed(1)))]
    *figures, start_up = alternate(
        *((lambda command=command: run(bench, command)[0]) for command in (*commands, tiny)),
        rounds=bench.rounds(15),
    )
    name = "scaling-process"
    what = "by carrel parse less its start"
    own = [Figure((figure.median - start_up.median,)) for figure in figures]
    if min(figure.median for figure in own) <= 0:
        return [Row(name, what, bar=_LINEAR, missing="too fast to measure beside the start")]
    amounts = [file.stat().st_size * count for file, count in zip(files, counts, strict=True)]
    return _rows(name, what, sizes, own, amounts, touching=True)


def _rows(
    name: str,
    what: str,
    sizes: Sequence[int],
    figures: Sequence[Figure],
    amounts: Sequence[int],
    *,
    touching: bool,
) -> list[Row]:
    """Returns rows for the two sizes between which the time per byte grows most, or falls least.

    Small documents may cost more per byte, because every call has a fixed cost.

    Args:
        name: of the row.
        what: is done with a document.
        sizes: of the documents, in bytes.
        figures: seconds for each.
        amounts: bytes that these were spent on.
        touching: whether a large document alone has the system hand out memory, while the later
            ones of several small ones use that of the first. Then that pair is a row of its own,
            and the bar is on the largest against the smallest, as it was written.
    """
    per_byte = [
        Figure(tuple(value / amount * 1e6 for value in figure.values), "s/MB")
        for figure, amount in zip(figures, amounts, strict=True)
    ]
    worst = max(
        itertools.combinations(range(len(sizes)), 2),
        key=lambda pair: per_byte[pair[1]].median / per_byte[pair[0]].median,
    )
    costs = ", ".join(
        f"{_size(size)} {figure.median * 1e3:.3g}"
        for size, figure in zip(sizes, per_byte, strict=True)
    )

    def row(name: str, small: int, large: int, bar: Bar | None) -> Row:
        pair = f"{_size(sizes[large])} : {_size(sizes[small])}"
        described = f"cost of a byte {what} ({costs} ns): {pair}"
        return Row(name, described, per_byte[large], per_byte[small], bar)

    if touching:
        return [
            row(name, 0, len(sizes) - 1, _LINEAR),
            row(f"{name}-pages", *worst, None),
        ]
    return [row(name, *worst, _LINEAR)]


def _size(size: int) -> str:
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} KB"
