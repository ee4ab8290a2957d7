"""Implements the tool `paper_citation_graph`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from carrel.lookup import Lookup
from carrel.papers.envelope import ATTEMPTS, REF, PaperTool, Schema, envelope_schema, paper_spec
from carrel.papers.resolve import PaperResolver
from carrel.plugins.concurrent_calls import ask_all
from carrel.plugins.roles import role_sources
from carrel.tools.host_tool import host_limits

from .build import GraphBuilder
from .citation_graph import REACHED, REASONS, CitationGraph
from .formats import WRITERS
from .links import LinkSources
from .recent import RecentGraphs
from .request import (
    DEFAULT_DEPTH,
    DEFAULT_NODES,
    DEFAULT_PER_PAPER,
    DIRECTIONS,
    MAX_DEPTH,
    MAX_NODES,
    MAX_PER_PAPER,
    GraphRequest,
)

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.manifests.tool_spec import ToolSpec
    from carrel.plugins.plugin_set import PluginSet

#: The tool's name.
NAME: Final = "paper_citation_graph"
#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 120.0

FORMATS: Final = ("json", *WRITERS)

_DESCRIPTION: Final = f"""\
WHEN TO USE: See what a paper cites and what cites it, over one to {MAX_DEPTH} steps.
INPUTS: ref; caps. details adds abstracts and citing sentences. html is a page for a person.
OUTPUTS: nodes and edges, or text in another format; truncated, reasons, attempts; or ok:false \
with error.
COSTS: Two requests per source and paper that is expanded.
SIDE EFFECTS: None.
LIMITS: depth {MAX_DEPTH}, {MAX_NODES} nodes, {MAX_PER_PAPER} per paper and direction."""

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def make_graph_tool(plugins: PluginSet, config: Config) -> PaperTool:
    """Returns the tool. Complete graphs are returned again for a day, see `recent`."""
    recent = RecentGraphs()

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        request = GraphRequest(
            ref=arguments["ref"],
            direction=arguments.get("direction", "both"),
            depth=arguments.get("depth", DEFAULT_DEPTH),
            max_nodes=arguments.get("max_nodes", DEFAULT_NODES),
            per_paper=arguments.get("per_paper", DEFAULT_PER_PAPER),
            by_title=arguments.get("by_title", False),
        )
        cached = None if call.refresh else recent.get(request)
        graph = cached or build_graph(plugins, config, request, call)
        if cached is None:
            recent.put(request, graph)
        kind = arguments.get("format", "json")
        members = {"ref": request.ref, "format": kind, **graph.summary()}
        if kind != "json":
            return {**members, "text": WRITERS[kind](graph)}
        details = arguments.get("details", False)
        return {
            **members,
            "nodes": [node.to_json(details=details) for node in graph.nodes],
            "edges": [edge.to_json(details=details) for edge in graph.edges],
        }

    return PaperTool(_spec(), answer, limits=host_limits(config, WALL_SECONDS))


def build_graph(
    plugins: PluginSet, config: Config, request: GraphRequest, call: Call
) -> CitationGraph:
    """Builds a graph over all plugins that list links; raises as `GraphBuilder.build`."""
    sources = {}
    notices: dict[str, None] = {}
    for role in request.roles:
        sources[role], unreadable = role_sources(plugins, config, role)
        notices |= dict.fromkeys(unreadable)
    links = LinkSources(sources, partial(ask_all, plugins))
    resolver, lookup = PaperResolver(plugins, config), Lookup(plugins, config)
    resolve = partial(resolver.resolve, by_title=request.by_title)
    builder = GraphBuilder(request, links, resolve, lookup.run)
    return builder.build(call, tuple(notices))


def _spec() -> ToolSpec:
    node: Schema = {
        "type": "object",
        "required": ["id", "ids", "authors", "type", "depth", "reached_by", "sources"],
        "properties": {
            "id": _TEXT,
            "ids": {"type": "object"},
            "url": {"description": "Of the work's page.", "type": "string"},
            "title": _TEXT,
            "authors": _TEXTS,
            "year": {"type": "integer"},
            "container_title": _TEXT,
            "type": _TEXT,
            "cited_by_count": {"type": "integer"},
            "is_oa": {"type": "boolean"},
            "depth": {"type": "integer"},
            "reached_by": {"enum": list(REACHED)},
            "sources": _TEXTS,
            "abstract": _TEXT,
        },
    }
    edge: Schema = {
        "type": "object",
        "required": ["citing", "cited", "sources"],
        "properties": {
            "citing": _TEXT,
            "cited": _TEXT,
            "sources": _TEXTS,
            "influential": {"type": "boolean"},
            "contexts": _TEXTS,
        },
    }
    return paper_spec(
        NAME,
        "Citation graph of a paper",
        _DESCRIPTION,
        {
            "ref": REF,
            "direction": {"enum": list(DIRECTIONS), "default": "both"},
            "depth": _number(MAX_DEPTH, DEFAULT_DEPTH),
            "max_nodes": _number(MAX_NODES, DEFAULT_NODES),
            "per_paper": _number(MAX_PER_PAPER, DEFAULT_PER_PAPER),
            "format": {"enum": list(FORMATS), "default": "json"},
            "details": {"type": "boolean", "default": False},
            "by_title": {
                "description": "ref is a title.",
                "type": "boolean",
                "default": False,
            },
        },
        envelope_schema(
            ref=_TEXT,
            format={"enum": list(FORMATS)},
            root=_TEXT,
            total_visited={"type": "integer"},
            total_edges={"type": "integer"},
            truncated={"type": "boolean"},
            reasons={"type": "array", "items": {"enum": list(REASONS)}},
            nodes={"type": "array", "items": node},
            edges={"type": "array", "items": edge},
            text=_TEXT,
            attempts=ATTEMPTS,
            notices=_TEXTS,
        ),
        required=["ref"],
        network=True,
    )


def _number(most: int, default: int) -> Schema:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}
