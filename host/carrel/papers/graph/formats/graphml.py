"""Writes a citation graph as GraphML, which Gephi, yEd, Cytoscape and networkx read.

http://graphml.graphdrawing.org/specification.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from carrel.papers.graph.citation_graph import CitationGraph, Edge, Node

_NAMESPACE: Final = "http://graphml.graphdrawing.org/xmlns"

#: Attribute → its type, for nodes and edges.
_OF_NODES: Final = {
    "label": "string",
    "title": "string",
    "authors": "string",
    "year": "int",
    "venue": "string",
    "type": "string",
    "cited_by_count": "long",
    "is_oa": "boolean",
    "depth": "int",
    "reached_by": "string",
    "url": "string",
    "sources": "string",
}
_OF_EDGES: Final = {"sources": "string", "influential": "boolean"}

#: What XML 1.0 cannot contain, not even as a character reference.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_graphml(graph: CitationGraph) -> str:
    """Returns the graph as GraphML: directed, from the citing to the cited paper."""
    return "".join(f"{line}\n" for line in _lines(graph))


def _lines(graph: CitationGraph) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    schema = f"{_NAMESPACE} {_NAMESPACE}/1.0/graphml.xsd"
    yield (
        f'<graphml xmlns="{_NAMESPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        f' xsi:schemaLocation="{schema}">'
    )
    for prefix, owner, types in (("n", "node", _OF_NODES), ("e", "edge", _OF_EDGES)):
        for name, kind in types.items():
            yield (
                f'  <key id="{prefix}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>'
            )
    yield '  <graph id="citations" edgedefault="directed">'
    for node in graph.nodes:
        yield f"    <node id={_attribute(node.id)}>"
        yield from _data("n", _of_node(node))
        yield "    </node>"
    for number, edge in enumerate(graph.edges):
        ends = f"source={_attribute(edge.citing)} target={_attribute(edge.cited)}"
        yield f'    <edge id="e{number}" {ends}>'
        yield from _data("e", _of_edge(edge))
        yield "    </edge>"
    yield "  </graph>"
    yield "</graphml>"


def _of_node(node: Node) -> dict[str, Any]:
    author = node.first_author
    return {
        "label": f"{author} {node.year or ''}".strip() if author else node.name,
        "title": node.title,
        "authors": "; ".join(node.authors) or None,
        "year": node.year,
        "venue": node.container_title,
        "type": node.type,
        "cited_by_count": node.cited_by_count,
        "is_oa": node.is_oa,
        "depth": node.depth,
        "reached_by": node.reached_by,
        "url": node.url,
        "sources": ", ".join(node.sources) or None,
    }


def _of_edge(edge: Edge) -> dict[str, Any]:
    return {"sources": ", ".join(edge.sources) or None, "influential": edge.influential}


def _data(prefix: str, values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'      <data key="{prefix}_{name}">{escape(_clean(text))}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
