"""Measures main-text extraction from captured pages against other libraries: scores and time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from bench.measure import Bar, Figure, Row
from bench.pages import Extractor, Page, pages, peers
from bench.scores import Score, Snippets, mean, score, snippets, text_of
from bench.workbench import Workbench

_NO_CORPUS = "no captured pages beside the checkout (../shared/corpus/html)"
_NO_PEER = "not installed: pip install --group bench"
_SETS = (
    "aeb", "readability", "snippets", "wcxb", "wcxb-article", "wcxb-documentation", "wcxb-service",
    "wcxb-forum", "wcxb-product", "wcxb-listing", "wcxb-collection",
)  # fmt: skip
#: The minimum score of a set, and its maximum distance below trafilatura's.
_FLOORS: Mapping[str, float] = {
    "aeb": 0.95, "readability": 0.98, "wcxb-article": 0.92, "wcxb-forum": 0.70,
}  # fmt: skip
_MARGINS: Mapping[str, float] = {"wcxb": 0.01, "snippets": 0.01}


@dataclass
class _Read:
    """One program's results for all pages."""

    texts: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


def extraction(bench: Workbench) -> Sequence[Row]:
    """Extracts every page with every program, alternately."""
    corpus = pages()
    if not corpus:
        return [Row("html", "main text of pages", missing=_NO_CORPUS)]
    host = bench.host

    def ours(page: bytes) -> str:
        """Decodes with msgspec, as `Carrel.parse` does a large result."""
        return text_of(msgspec.json.decode(host.parse_utf8("page", "html", page)))

    programs: dict[str, Extractor] = {"carrel": ours, **peers()}
    if bench.quick:
        corpus = corpus[::20]
    reads = _read(corpus, programs)
    by_program = {name: _scores(corpus, read.texts) for name, read in reads.items()}
    return [*_score_rows(by_program), *_time_rows(reads)]


def _read(corpus: Sequence[Page], programs: Mapping[str, Extractor]) -> Mapping[str, _Read]:
    reads = {name: _Read() for name in programs}
    for page in corpus:
        for name, extract in programs.items():
            start = time.perf_counter()
            try:
                text = extract(page.content)
            except Exception:  # noqa: BLE001 - a page that a peer cannot read has no text
                text = ""
            reads[name].seconds.append(time.perf_counter() - start)
            reads[name].texts[_key(page)] = text
    return reads


def _key(page: Page) -> str:
    return f"{page.sets[0]}/{page.name}"


def _scores(corpus: Sequence[Page], texts: Mapping[str, str]) -> Mapping[str, Score]:
    found: dict[str, Score] = {}
    for name in _SETS:
        members = [page for page in corpus if name in page.sets]
        pieces = [
            (texts[_key(page)], page.truth) for page in members if isinstance(page.truth, Snippets)
        ]
        whole = [
            score(texts[_key(page)], page.truth) for page in members if isinstance(page.truth, str)
        ]
        if pieces:
            found[name] = snippets(pieces)
        elif whole:
            found[name] = mean(whole)
    return found


def _score_rows(by_program: Mapping[str, Mapping[str, Score]]) -> Sequence[Row]:
    rows = []
    peer_scores = {name: scores for name, scores in by_program.items() if name != "carrel"}
    for name, own in by_program["carrel"].items():
        mine = Figure((own.f1,), "F1")
        if not peer_scores:
            rows.append(Row(f"html-{name}", f"F1 of {name}", missing=_NO_PEER))
            continue
        if name in _MARGINS:
            what = f"F1 of {name}: ours : trafilatura"
            if "trafilatura" in peer_scores:
                peer = peer_scores["trafilatura"][name].f1
                floor = peer - _MARGINS[name]
                figure = Figure((peer,), "F1")
                rows.append(Row(f"html-{name}", what, mine, figure, floor=floor))
            else:
                rows.append(Row(f"html-{name}", what, missing=_NO_PEER))
        best = max(peer_scores, key=lambda program: peer_scores[program][name].f1)
        rows.append(
            Row(
                f"html-{name}" + ("-best" if name in _MARGINS else ""),
                f"F1 of {name}: ours : best of the others, {best}",
                mine, Figure((peer_scores[best][name].f1,), "F1"), floor=_FLOORS.get(name),
            )
        )  # fmt: skip
    return rows


def _time_rows(reads: Mapping[str, _Read]) -> Sequence[Row]:
    mine = Figure(tuple(reads["carrel"].seconds))
    rows = []
    for name, bar in (("trafilatura", Bar(5, at_least=True)), ("resiliparse", None)):
        what = f"a page to its main text in the sandbox : {name}"
        peer = Figure(tuple(reads[name].seconds)) if name in reads else None
        missing = "" if peer else _NO_PEER
        rows.append(Row(f"html-time-{name}", what, mine, peer, bar, missing=missing))
    return rows
