"""Builds the citation graph of a paper over every plugin that lists links.

`request` is what is asked for, `build` follows links breadth first, `links` asks plugins,
`known_works` joins records of one work, `citation_graph` is what comes of it, `formats` writes it,
`tool` offers `paper_citation_graph`.
"""

from __future__ import annotations

from .citation_graph import CitationGraph, Edge, Node
from .request import GraphRequest

__all__ = ["CitationGraph", "Edge", "GraphRequest", "Node"]
