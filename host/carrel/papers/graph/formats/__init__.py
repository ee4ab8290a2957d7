"""Writes citation graphs: GraphML, Mermaid, and one HTML page.

JSON is made by `carrel.papers.graph.tool` from the graph itself. Every text of a source is escaped
by the rules of the format, and has no hidden characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from .graphml import to_graphml
from .mermaid import to_mermaid
from .page import to_page

if TYPE_CHECKING:
    from carrel.papers.graph.citation_graph import CitationGraph

#: Format → what writes it.
WRITERS: Final[Mapping[str, Callable[[CitationGraph], str]]] = {
    "graphml": to_graphml,
    "mermaid": to_mermaid,
    "html": to_page,
}
