"""Translates `citation_graph` and `paper_fulltext` to Carrel's tools for papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from carrel.errors import ArgumentError, SourceError
from carrel.papers.errors import PaperError
from carrel.surfaces.shape import Arguments, Json
from carrel.web.answers import TRUST

from .members import requested

#: Papers of a graph in one direction: the default and the most.
_DEFAULT, _MOST = 10, 25
_DIRECTIONS: Final[Mapping[str, str]] = {
    "cited_by": "citations",
    "references": "references",
    "both": "both",
}
#: Providers that a call may name, the preferred one first.
_PROVIDERS: Final = ("semanticscholar", "openalex")
#: Characters of a text: the default, the fewest and the most, and bytes of an identifier.
_LENGTH, _SHORTEST, _LONGEST = 50_000, 1_000, 200_000
_IDENTIFIER: Final = 2048


def graph_arguments(arguments: Arguments) -> Json:
    """Returns the arguments of `paper_citation_graph` for one hop."""
    provider = arguments.get("provider")
    if provider is not None and provider not in _PROVIDERS:
        names = ", ".join(_PROVIDERS)
        raise SourceError(
            "invalid_arguments",
            f"provider: {provider!r} lists no citations; supported: {names}",
            plugin="",
            tool="citation_graph",
            extra={"kind": "config", "alternatives": list(_PROVIDERS)},
        )
    return {
        "ref": arguments["paper"],
        "direction": _DIRECTIONS[arguments.get("direction", "both")],
        "depth": 1,
        # Papers that are left out below must not use up the requested number.
        "per_paper": _MOST,
        "max_nodes": 1 + 2 * _MOST,
        "details": True,
        "by_title": True,
        **({"session_id": arguments["sessionId"]} if arguments.get("sessionId") else {}),
    }


def graph_result(arguments: Arguments, found: Json) -> Json:
    """Returns the works that cite the paper, and those that it cites."""
    _require(found)
    number = min(max(int(arguments.get("num_results", _DEFAULT)), 1), _MOST)
    direction = arguments.get("direction", "both")
    chosen = arguments.get("provider")
    result: Json = {
        "seed": arguments["paper"],
        "direction": direction,
        "provider": chosen or _answering(found["edges"]),
    }
    if direction != "references":
        works = _linked(found, "cited", "citing", arguments)[:number]
        result |= {"citedBy": works, "citedByCount": len(works)}
    if direction != "cited_by":
        works = _linked(found, "citing", "cited", arguments)[:number]
        result |= {"references": works, "referencesCount": len(works)}
    return {**result, **requested(arguments, _MOST), "trust": TRUST}


def _linked(found: Json, root_end: str, far_end: str, arguments: Arguments) -> list[Json]:
    """Returns the works at the other end of the root's edges."""
    nodes = {node["id"]: node for node in found["nodes"]}
    edges = [edge for edge in found["edges"] if edge[root_end] == found["root"]]
    provider = arguments.get("provider")
    if provider is not None:
        edges = [edge for edge in edges if provider in edge["sources"]]
    if arguments.get("influential_only") and any("influential" in edge for edge in edges):
        edges = [edge for edge in edges if edge.get("influential")]
    return [_paper(nodes[edge[far_end]], edge) for edge in edges if edge[far_end] in nodes]


def _paper(node: Mapping[str, Any], edge: Mapping[str, Any]) -> Json:
    ids = node["ids"]
    paper: Json = {
        "title": node.get("title", "untitled"),
        "url": node.get("url", ""),
        "source": _first(edge["sources"]),
        "doi": ids.get("doi"),
        "authors": node["authors"] or None,
        "journal": node.get("container_title"),
        "year": node.get("year"),
        "abstract": node["abstract"][:500] if node.get("abstract") else None,
        "citationCount": node.get("cited_by_count"),
        "openAccess": node.get("is_oa"),
        "isInfluential": edge.get("influential"),
    }
    return {name: value for name, value in paper.items() if value is not None}


def _answering(edges: list[Json]) -> str:
    named = [name for edge in edges for name in edge["sources"]]
    return next(
        (provider for provider in _PROVIDERS if provider in named),
        _first(named) if named else "none",
    )


def _first(names: list[str]) -> str:
    return next((provider for provider in _PROVIDERS if provider in names), names[0])


def fulltext_arguments(arguments: Arguments) -> Json:
    """Returns the arguments of `paper_read`: the text from its beginning.

    Raises:
        ArgumentError: the identifier is too long.
    """
    if len(arguments["identifier"].encode("utf-8", "replace")) > _IDENTIFIER:
        raise ArgumentError([f"identifier: more than {_IDENTIFIER} bytes"])
    return {"ref": arguments["identifier"], "from": 0, "max_chars": _length(arguments)}


def fulltext_result(arguments: Arguments, read: Json) -> Json:
    """Returns the result of `paper_fulltext`."""
    _require(read)
    result: Json = {
        "identifier": arguments["identifier"],
        "resolvedUrl": read.get("url") or read.get("landing_url", ""),
        "content": read["text"],
        "title": read.get("title", ""),
        "trust": TRUST,
        "truncated": "next" in read,
        "scrapeTier": read["form"],
        "source": read["source"],
    }
    return result


def _length(arguments: Arguments) -> int:
    return min(max(int(arguments.get("max_length", _LENGTH)), _SHORTEST), _LONGEST)


def _require(result: Json) -> None:
    """Requires that a result of a tool for papers is a success.

    Raises:
        PaperError: it is not.
    """
    if not result["ok"]:
        error = result["error"]
        raise PaperError(error["code"], error["message"], denial=error.get("denial_context"))
