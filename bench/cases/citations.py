"""Bibliographies of 500 works in APA's style, against citeproc-py and citeproc-js."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bench.measure import Bar, Figure, Row
from bench.workbench import Workbench

_WORKS: Final = 500
_STYLE: Final = "apa"
#: Types that citeproc-py renders; it raises an exception for some works of others.
_KINDS: Final = ("article-journal", "book", "chapter", "report", "thesis")
_WHAT: Final = f"a bibliography of {_WORKS} works in APA's style"


def in_apa(bench: Workbench) -> Sequence[Row]:
    """Renders the same works with each engine, alternately; the style is read each time."""
    items = _works(50 if bench.quick else _WORKS)
    engine = bench.host.citation_engine()
    sides: dict[str, tuple[Callable[[], float] | None, str]] = {
        "cite-citeproc-js": _citeproc_js(items),
        "cite-citeproc-py": _citeproc_py(items, bench.folder),
    }
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(bench.rounds(3, 1)):
        ours.append(_timed(lambda: engine.bibliography(items, _STYLE)))
        for name, (run, _) in sides.items():
            if run is not None:
                theirs[name].append(run())
    bars = {"cite-citeproc-js": Bar(1), "cite-citeproc-py": Bar(5, at_least=True)}
    return [
        Row(
            name,
            f"{_WHAT} : {name.removeprefix('cite-')}",
            Figure(tuple(ours)) if theirs[name] else None,
            Figure(tuple(theirs[name])) if theirs[name] else None,
            bars[name],
            missing=missing,
        )
        for name, (_, missing) in sides.items()
    ]


def _works(count: int) -> list[dict[str, Any]]:
    from citations.works import Maker

    maker = Maker()
    return [maker.work(_KINDS[number % len(_KINDS)], number) for number in range(count)]


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _citeproc_js(items: Sequence[Any]) -> tuple[Callable[[], float] | None, str]:
    """Returns a run in a new process of Node.js, which measures itself without its start."""
    from citations import oracle

    if oracle.find() is None:
        return None, "not here: just peers citeproc-js"
    request = oracle.request(_STYLE, items)

    def run() -> float:
        [result] = oracle.run([request])
        assert len(result["bibliography"]) == len(items), result
        return float(result["seconds"])

    return run, ""


def _citeproc_py(items: Sequence[Any], folder: Path) -> tuple[Callable[[], float] | None, str]:
    try:
        from citeproc import (
            Citation,
            CitationItem,
            CitationStylesBibliography,
            CitationStylesStyle,
            formatter,
        )
        from citeproc.source.json import CiteProcJSON
    except ImportError:
        return None, "not installed: pip install --group bench"
    from carrel.citations import find_style

    path = folder / "style.csl"
    path.write_text(find_style(_STYLE).text, "utf-8")

    def render() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            style = CitationStylesStyle(str(path), validate=False)
            made = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
            for item in items:
                made.register(Citation([CitationItem(item["id"])]))
            made.sort()
            assert len([str(entry) for entry in made.bibliography()]) == len(items)

    return lambda: _timed(render), ""
