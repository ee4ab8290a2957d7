"""Writes a citation graph as a Mermaid flowchart, which Markdown viewers draw.

https://mermaid.js.org/syntax/flowchart.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.papers.graph.citation_graph import CitationGraph, Node

#: The longest title in a box.
_LONGEST: Final = 70

#: Everything that has a meaning in Mermaid or in the Markdown and HTML of its labels.
_SPECIAL = re.compile(r"[^\w .,()/+-]|_")

_CLASSES: Final = {
    "root": "fill:#f4b942,stroke:#8a5a00,color:#1c1917",
    "references": "fill:#dbe7ff,stroke:#3b62c4,color:#14213d",
    "citations": "fill:#d6f2ea,stroke:#0e7c66,color:#0b2e27",
    "both": "fill:#ece4fb,stroke:#6b46c1,color:#251a3d",
}


def to_mermaid(graph: CitationGraph) -> str:
    """Returns the graph as a flowchart, with arrows from the citing to the cited paper."""
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: CitationGraph) -> Iterator[str]:
    yield "flowchart RL"
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        yield f'  {names[node.id]}["{_label(node)}"]:::{node.reached_by}'
    for edge in graph.edges:
        yield f"  {names[edge.citing]} --> {names[edge.cited]}"
    for name in dict.fromkeys(node.reached_by for node in graph.nodes):
        yield f"  classDef {name} {_CLASSES[name]}"


def _label(node: Node) -> str:
    title = node.name
    if len(title) > _LONGEST:
        title = title[:_LONGEST].rsplit(" ", 1)[0] + "…"
    facts = [fact for fact in (_first_author(node), str(node.year or "")) if fact]
    return _escaped(title) + (f"<br/>{_escaped(', '.join(facts))}" if facts else "")


def _first_author(node: Node) -> str:
    return (node.first_author or "") + (" et al." if len(node.authors) > 1 else "")


def _escaped(text: str) -> str:
    """Returns a text with every special character as Mermaid's entity code."""
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)
