"""Places the papers of a citation graph on a drawing: years across, citations as size.

A paper is placed in the column of its year, as near as possible to the papers that it is linked
with, where neither its circle nor its label covers another one. Years without papers take little
room. The drawing grows until every paper has a place; the same graph gives the same drawing.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.papers.graph.citation_graph import CitationGraph, Node

WIDTH: Final = 1160
#: Room at the left and right, and below for the years.
_SIDE, _AXIS = 56, 40
_LEAST_HEIGHT: Final = 300
_HEIGHT_OF_A_PAPER: Final = 5
_GROWTH: Final = 120
#: Distance between two papers, and between a circle and its label.
_GAP: Final = 5.0
_LARGEST: Final = 28.0
_LABEL_HEIGHT: Final = 14.0
_LABEL_LETTERS: Final = 15
#: Pixels of a letter of a label.
_LETTER: Final = 6.2
#: Its multiples, without their whole part, are spread evenly however many there are.
_GOLDEN: Final = (math.sqrt(5) - 1) / 2
#: The part of the height over which the papers linked with the root are spread.
_SPREAD: Final = 0.86
#: Pixels between two labelled years.
_YEARS_APART: Final = 46


@dataclass(frozen=True, slots=True)
class Placed:
    """A paper on the drawing.

    Attributes:
        x: of the circle's centre.
        y: of the circle's centre.
        r: the circle's radius.
        label: the first author's family name, the start of the title, or the end of the identifier.
    """

    node: Node
    x: float
    y: float
    r: float
    label: str


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing.

    Attributes:
        placed: in the order of the graph's nodes.
        height: of the drawing; its width is `WIDTH`.
        years: x → label of the axis.
        unknown_until: x up to which papers without a year are; None without such papers.
    """

    placed: tuple[Placed, ...]
    height: float
    years: tuple[tuple[float, str], ...]
    unknown_until: float | None


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, x: float, half: float) -> bool:
        """Whether it is above or below a paper at `x`."""
        return self.left < x + half and x - half < self.right


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of a paper with its label: half the width, the extent above and below the centre."""

    half: float
    above: float
    below: float


def radius(citations: int | None) -> float:
    """Returns the radius of a paper's circle; the area grows with the digits of the number."""
    return min(_LARGEST, round(4.5 + 3.4 * math.log10(1 + max(0, citations or 0)), 1))


def lay_out(graph: CitationGraph) -> Layout:
    """Returns the drawing of a graph."""
    columns, unknown_until = _columns(graph.nodes)
    height = float(_LEAST_HEIGHT + _HEIGHT_OF_A_PAPER * min(len(graph.nodes), 60))
    placed: dict[str, Placed] | None = None
    while placed is None:
        placed = _place(graph, columns, height)
        height += _GROWTH
    top = min(paper.y - paper.r for paper in placed.values()) - 16
    bottom = max(paper.y + paper.r for paper in placed.values()) + _LABEL_HEIGHT + 10
    shown = {
        node_id: Placed(p.node, p.x, round(p.y - top, 1), p.r, p.label)
        for node_id, p in placed.items()
    }
    return Layout(
        placed=tuple(shown[node.id] for node in graph.nodes),
        height=round(bottom - top + _AXIS),
        years=tuple(_axis(columns)),
        unknown_until=unknown_until,
    )


def _columns(nodes: Iterable[Node]) -> tuple[dict[int | None, tuple[float, float]], float | None]:
    """Returns year → x of its centre and half the width that its papers may use."""
    counts = Counter(node.year for node in nodes)
    years = sorted(year for year in counts if year is not None)
    need = {year: 0.6 + math.sqrt(counts[year]) for year in counts}
    at, edge = 0.0, 0.0
    centres: dict[int | None, float] = {}
    if None in counts:
        centres[None] = need[None] / 2
        edge = need[None]
        at = edge + 1.0
    before: int | None = None
    for year in years:
        if before is not None:
            at += 0.9 * math.log2(year - before)
        centres[year] = at + need[year] / 2
        at += need[year]
        before = year
    scale = (WIDTH - 2 * _SIDE) / max(at if years else edge, 1.0)
    if len(counts) == 1:
        return dict.fromkeys(counts, (WIDTH / 2, WIDTH / 4)), None
    columns: dict[int | None, tuple[float, float]] = {
        year: (_SIDE + centre * scale, need[year] * scale * 0.42)
        for year, centre in centres.items()
    }
    unknown_until = _SIDE + (edge + 0.5) * scale if None in counts and years else None
    return columns, unknown_until


def _axis(columns: Mapping[int | None, tuple[float, float]]) -> Iterable[tuple[float, str]]:
    """Yields the years that have room for a label, the last year and round ones first."""
    if None in columns:
        yield round(columns[None][0], 1), "year unknown"
    years = sorted(year for year in columns if year is not None)
    ends = years[-1:] + years[:1]
    candidates = dict.fromkeys(
        [*ends, *sorted(years, key=lambda year: (year % 10 > 0, year % 5 > 0, -year))]
    )
    taken: list[float] = [columns[None][0] + _YEARS_APART] if None in columns else []
    for year in candidates:
        x = columns[year][0]
        if all(abs(x - position) >= _YEARS_APART for position in taken):
            taken.append(x)
            yield round(x, 1), str(year)


def _place(
    graph: CitationGraph, columns: Mapping[int | None, tuple[float, float]], height: float
) -> dict[str, Placed] | None:
    """Returns every paper's place; None if the height does not suffice."""
    linked: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        linked[edge.citing].append(edge.cited)
        linked[edge.cited].append(edge.citing)
    boxes: list[_Box] = []
    placed: dict[str, Placed] = {}
    # By depth, then by citations: the large ones have the best places.
    for number, node in enumerate(graph.nodes):
        r, label = radius(node.cited_by_count), _label(node)
        size = _Size(max(r, len_of(label) * _LETTER / 2) + _GAP / 2, r, r + _LABEL_HEIGHT)
        near = [
            placed[neighbour].y
            for neighbour in linked[node.id]
            if neighbour in placed and placed[neighbour].node.depth
        ]
        share = ((number * _GOLDEN + 0.5) % 1 - 0.5) * _SPREAD if node.depth else 0.0
        target = sum(near) / len(near) if near and node.depth > 1 else height * (0.5 + share)
        centre, reach = columns[node.year]
        best: tuple[float, float, float] | None = None
        for share in (0.0, -0.5, 0.5, -1.0, 1.0):
            x = min(max(centre + share * reach, size.half), WIDTH - size.half)
            y = _free([box for box in boxes if box.covers(x, size.half)], size, target, height)
            if y is not None:
                cost = abs(y - target) + abs(x - centre) / 2
                if best is None or cost < best[0]:
                    best = (cost, x, y)
        if best is None:
            return None
        _, x, y = best
        boxes.append(_Box(x - size.half, y - size.above, x + size.half, y + size.below))
        placed[node.id] = Placed(node, round(x, 1), y, r, label)
    return placed


def _free(boxes: Iterable[_Box], size: _Size, target: float, height: float) -> float | None:
    """Returns the y nearest to `target` at which a paper covers no box; None without any.

    Args:
        boxes: those above or below the paper.
        size: of the paper.
        target: the best y.
        height: of the drawing.
    """
    found: list[float] = []
    at, highest = size.above, height - size.below
    for start, end in sorted(
        (box.top - size.below - _GAP, box.bottom + size.above + _GAP) for box in boxes
    ):
        if start >= at:
            found.append(min(max(target, at), start))
        at = max(at, end)
    if at <= highest:
        found.append(max(target, at))
    inside = (y for y in found if y <= highest)
    return min(inside, key=lambda y: abs(y - target), default=None)


def _label(node: Node) -> str:
    text = node.first_author or node.name
    if node.title is None and not node.first_author and len_of(text) > _LABEL_LETTERS:
        return "…" + text[1 - _LABEL_LETTERS :]  # identifiers differ at their end
    return text if len_of(text) <= _LABEL_LETTERS else text[: _LABEL_LETTERS - 1].rstrip() + "…"


def len_of(text: str) -> int:
    """Returns the width of a text in letters; ideographs are two wide."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
