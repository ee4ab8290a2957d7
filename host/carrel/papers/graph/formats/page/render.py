"""Renders a citation graph as one HTML page that needs no other file and no network.

The page is readable without its script: the drawing links to a list of all papers. The
Content-Security-Policy allows exactly the page's own script and style, by their hashes, so that
nothing in a text of a source could run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from carrel.text.printable import printable

from .layout import WIDTH, Layout, Placed, lay_out, radius

if TYPE_CHECKING:
    from carrel.papers.graph.citation_graph import CitationGraph, Edge, Node

_FOLDER: Final = Path(__file__).parent
_SLOT = re.compile(r"\{\{(\w+)\}\}")

#: Names of identifiers, as people write them.
_KINDS: Final = {
    "doi": "DOI", "arxiv": "arXiv", "pmid": "PMID", "pmcid": "PMCID", "openalex": "OpenAlex",
    "s2": "Semantic Scholar",
}  # fmt: skip
_LEGEND: Final = {
    "root": "this paper",
    "references": "what it cites",
    "citations": "what cites it",
    "both": "both",
}
_REASONS: Final = {
    "max_nodes": "the graph has as many papers as were asked for",
    "per_paper": "some papers have more references or citations than are shown",
    "max_edges": "more citations connect these papers than are shown",
    "deadline": "the time was up",
    "source_failed": "a source did not answer everything",
}
#: Authors of a paper that are named, and linked papers.
_NAMED: Final = 6
_LINKED: Final = 60


def to_page(graph: CitationGraph) -> str:
    """Returns the page."""
    layout = lay_out(graph)
    entries = _entries(graph)
    root = graph.root
    style, script = _part("page.css"), _part("page.js")
    return _filled(
        _part("page.html"),
        {
            "title": escape(root.name),
            "by": _by(root),
            "facts": escape(_facts(graph)),
            "legend": "".join(_legend(graph)),
            "drawing": _drawing(graph, layout),
            "selected": entries[0],
            "papers": "".join(
                f'<li id="p{number}" class="paper" data-n="{number}">{entry}</li>'
                for number, entry in enumerate(entries)
            ),
            "notes": "".join(_notes(graph)),
            "style": style,
            "script": script,
            "style_hash": _hash(style),
            "script_hash": _hash(script),
        },
    )


@lru_cache(maxsize=8)
def _part(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Returns a template with its slots filled; what fills them is not looked at again."""
    return _SLOT.sub(lambda found: values[found[1]], template)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


def _facts(graph: CitationGraph) -> str:
    years = sorted(node.year for node in graph.nodes if node.year is not None)
    parts = [
        _counted(len(graph.nodes), "paper"),
        _counted(len(graph.edges), "citation"),
    ]
    if years:
        parts.append(str(years[0]) if years[0] == years[-1] else f"{years[0]} to {years[-1]}")
    sources = sorted({source for edge in graph.edges for source in edge.sources})
    if sources:
        parts.append(f"from {', '.join(sources)}")
    return " · ".join(parts)


def _legend(graph: CitationGraph) -> Iterator[str]:
    present = {node.reached_by for node in graph.nodes}
    colours = {name: text for name, text in _LEGEND.items() if name in present}
    if any(node.depth > 1 for node in graph.nodes):
        colours["paler"] = "linked with one of these"
    for name, text in colours.items():
        yield (
            f'<li><svg class="key {name}" width="12" height="12" aria-hidden="true">'
            f'<circle cx="6" cy="6" r="5.4"/></svg>{text}</li>'
        )
    for count in (10, 1_000):
        r = radius(count)
        size = 2 * r + 2
        yield (
            f'<li><svg class="key ring" width="{size:g}" height="{size:g}" aria-hidden="true">'
            f'<circle cx="{r + 1:g}" cy="{r + 1:g}" r="{r:g}"/></svg>{count:,} citations</li>'
        )


# The drawing


def _drawing(graph: CitationGraph, layout: Layout) -> str:
    height = layout.height
    number = {node.id: at for at, node in enumerate(graph.nodes)}
    label = "Drawing of the papers by year; the list below has the same content"
    pieces = [
        f'<svg id="graph" viewBox="0 0 {WIDTH} {height:g}" role="group" aria-label="{label}">'
    ]
    for x, year in layout.years:
        pieces.append(
            f'<path class="grid" d="M{x:g} 0V{height - 30:g}"/>'
            f'<text class="year" x="{x:g}" y="{height - 12:g}">{escape(year)}</text>'
        )
    if layout.unknown_until is not None:
        pieces.append(f'<path class="unknown" d="M{layout.unknown_until:g} 0V{height - 30:g}"/>')
    pieces += [_curve(edge, layout.placed, number) for edge in graph.edges]
    # The largest first, so that none covers a smaller one.
    largest_first = sorted(layout.placed, key=lambda paper: -paper.r)
    pieces += [_circle(paper, number[paper.node.id]) for paper in largest_first]
    return "".join([*pieces, "</svg>"])


def _curve(edge: Edge, placed: Sequence[Placed], number: Mapping[str, int]) -> str:
    citing, cited = number[edge.citing], number[edge.cited]
    start, end = placed[citing], placed[cited]
    middle = (start.x + end.x) / 2
    if abs(start.x - end.x) < 24:  # an arc, because a straight line would cross papers between
        middle = min(start.x, end.x) - min(90.0, 16 + abs(start.y - end.y) / 3)
    path = (
        f"M{start.x:g} {start.y:g}C{middle:g} {start.y:g} {middle:g} {end.y:g} {end.x:g} {end.y:g}"
    )
    return f'<path class="edge" data-from="{citing}" data-to="{cited}" d="{path}"/>'


def _circle(paper: Placed, number: int) -> str:
    node = paper.node
    far = {2: " far", 3: " far farther"}.get(node.depth, "")
    return (
        f'<a class="node {node.reached_by}{far}" href="#p{number}" data-n="{number}" '
        f'data-x="{paper.x:g}" transform="translate({paper.x:g} {paper.y:g})">'
        f"<title>{escape(_spoken(node))}</title>"
        f'<circle r="{paper.r:g}"/><text y="{paper.r + 11:g}">{escape(paper.label)}</text></a>'
    )


def _spoken(node: Node) -> str:
    parts = [node.name, _people(node), str(node.year or "year unknown")]
    if node.cited_by_count is not None:
        parts.append(f"cited {_counted(node.cited_by_count, 'time')}")
    return ". ".join(part for part in parts if part)


# The list


def _entries(graph: CitationGraph) -> list[str]:
    number = {node.id: at for at, node in enumerate(graph.nodes)}
    cites: dict[str, list[Edge]] = {node.id: [] for node in graph.nodes}
    cited_by: dict[str, list[Edge]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        cites[edge.citing].append(edge)
        cited_by[edge.cited].append(edge)
    nodes = {node.id: node for node in graph.nodes}

    def linked(title: str, ids: Sequence[str]) -> str:
        if not ids:
            return ""
        links = ", ".join(
            f'<a href="#p{number[node_id]}" dir="auto">{escape(_short(nodes[node_id]))}</a>'
            for node_id in ids[:_LINKED]
        )
        more = f" and {len(ids) - _LINKED} more" if len(ids) > _LINKED else ""
        return f'<p class="links">{title}: {links}{more}</p>'

    return [
        "<article>"
        + _heading(node)
        + f'<p class="by">{_by(node)}</p>'
        + _figures(node)
        + _abstract(node)
        + "".join(_quotes(cited_by[node.id]))
        + linked("Cites", [edge.cited for edge in cites[node.id]])
        + linked("Cited by", [edge.citing for edge in cited_by[node.id]])
        + "</article>"
        for node in graph.nodes
    ]


def _heading(node: Node) -> str:
    return f'<h3 dir="auto">{escape(node.name)}</h3>'


def _by(node: Node) -> str:
    parts = [
        f'<span dir="auto">{escape(part)}</span>'
        for part in (_people(node), node.container_title)
        if part
    ]
    return " · ".join([*parts, str(node.year or "year unknown")])


def _figures(node: Node) -> str:
    parts = [
        f'<a href="{escape(identifier.url)}" target="_blank" rel="noopener noreferrer">'
        f"{_KINDS[identifier.type]} {escape(printable(identifier.id, 60))}</a>"
        for identifier in node.ids[:2]
    ]
    if node.cited_by_count is not None:
        parts.insert(0, f"cited {_counted(node.cited_by_count, 'time')}")
    if node.is_oa:
        parts.append('<span class="badge">free to read</span>')
    return f'<p class="facts">{" · ".join(parts)}</p>' if parts else ""


def _abstract(node: Node) -> str:
    if node.abstract is None:
        return ""
    text = escape(node.abstract)
    return (
        f'<details><summary>Abstract</summary><p class="abstract" dir="auto">{text}</p></details>'
    )


def _quotes(edges: Iterable[Edge]) -> Iterator[str]:
    """Yields sentences that cite a paper, one of each citing paper."""
    for edge in [edge for edge in edges if edge.contexts][:3]:
        yield f'<p class="quote" dir="auto">{escape(edge.contexts[0])}</p>'


def _notes(graph: CitationGraph) -> Iterator[str]:
    if graph.reasons:
        why = "; ".join(_REASONS[reason] for reason in graph.reasons)
        yield f'<p class="incomplete">This graph is not complete: {escape(why)}.</p>'
    yield "<p>What each source answered:</p><ul>"
    for attempt in graph.attempts:
        line = f"{attempt['source']}: {attempt['outcome'].replace('_', ' ')}"
        if attempt.get("detail"):
            line += f" ({attempt['detail']})"
        yield f'<li dir="auto">{escape(printable(line, 400))}</li>'
    yield "</ul><p>Made with Carrel. This page needs no network and sends nothing.</p>"


def _people(node: Node) -> str:
    names = ", ".join(node.authors[:_NAMED])
    return names + (" and others" if len(node.authors) > _NAMED else "")


def _short(node: Node) -> str:
    """Returns the first author and the year, else the start of the title."""
    if node.first_author:
        return f"{node.first_author} {node.year or ''}".strip()
    return node.name if len(node.name) <= 40 else node.name[:39].rstrip() + "…"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")
