"""Implements the tool `paper_search`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from carrel.papers.envelope import PaperTool, Schema, envelope_schema, paper_spec
from carrel.papers.errors import PaperError
from carrel.tools.host_tool import host_limits

from .request import DEFAULT_LIMIT, MAX_LIMIT, SearchRequest
from .result import OUTCOMES, SearchResult
from .run import NAME, WALL_SECONDS, PaperSearch

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.manifests.tool_spec import ToolSpec
    from carrel.plugins.plugin_set import PluginSet

_DESCRIPTION = f"""\
WHEN TO USE: Find papers by topic, title or author in all sources at once.
INPUTS: query, plain words; filters.
OUTPUTS: works, merged and ranked, each with sources; sources: what each answered. failed is not \
empty. Or ok:false with error.
COSTS: One request per source, two for PubMed.
SIDE EFFECTS: None.
LIMITS: {MAX_LIMIT} works."""

_TEXT: Schema = {"type": "string"}
_YEAR: Schema = {"type": "integer", "minimum": 1000, "maximum": 9999}


def make_search_tool(plugins: PluginSet, config: Config) -> PaperTool:
    """Returns the tool."""
    search = PaperSearch(plugins, config)

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        sources = arguments.get("sources")
        request = SearchRequest(
            query=arguments["query"],
            limit=arguments.get("limit", DEFAULT_LIMIT),
            year_from=arguments.get("year_from"),
            year_to=arguments.get("year_to"),
            open_access=arguments.get("open_access", False),
            sources=tuple(sources) if sources else None,
        )
        result = search.run(request, call)
        if not result.works and not result.has_answer:
            raise no_answer(result)
        payload = result.to_json()
        if not arguments.get("abstracts", True):
            for work in payload["works"]:
                work["work"].pop("abstract", None)
        return payload

    return PaperTool(_spec(), answer, limits=host_limits(config, WALL_SECONDS))


def no_answer(result: SearchResult) -> PaperError:
    """Returns the error of a search that no source answered."""
    unready = [outcome for outcome in result.sources if outcome.outcome == "not_configured"]
    failed = [
        outcome
        for outcome in result.sources
        if outcome.outcome not in ("not_configured", "not_chosen")
    ]
    if not failed:
        remedies = "; ".join(f"{outcome.source}: {outcome.message}" for outcome in unready)
        hint = f": {remedies}" if remedies else ""
        return PaperError("CAPABILITY_DENIED", f"no plugin that is on searches works{hint}")
    failures = "; ".join(f"{outcome.source}: {outcome.message}" for outcome in failed)
    if all(outcome.outcome == "rate_limited" for outcome in failed):
        return PaperError("RATE_LIMITED", f"every source is rate-limited: {failures}")
    if all(outcome.outcome == "timeout" for outcome in failed):
        return PaperError("FETCH_TIMEOUT", f"no source answered in time: {failures}")
    return PaperError("NETWORK_ERROR", f"no source answered: {failures}")


def _spec() -> ToolSpec:
    outcome: Schema = {
        "type": "object",
        "required": ["source", "outcome"],
        "properties": {
            "source": _TEXT,
            "outcome": {"enum": list(OUTCOMES)},
            "count": {"type": "integer"},
            "total": {"type": "integer"},
            "left_out": {"type": "integer"},
            "code": _TEXT,
            "message": _TEXT,
            "retry_after_seconds": {"type": "number"},
            "notice": _TEXT,
        },
    }
    work: Schema = {
        "type": "object",
        "required": ["work", "sources", "ranks", "score"],
        "properties": {
            "work": {"type": "object"},
            "sources": {"type": "array", "items": _TEXT},
            "ranks": {"type": "object"},
            "score": {"type": "number"},
        },
    }
    texts: Schema = {"type": "array", "items": _TEXT}
    return paper_spec(
        NAME,
        "Search papers",
        _DESCRIPTION,
        {
            "query": {"type": "string", "minLength": 1, "maxLength": 500},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "default": DEFAULT_LIMIT,
            },
            "year_from": _YEAR,
            "year_to": _YEAR,
            "open_access": {
                "description": "Only works that are free to read.",
                "type": "boolean",
                "default": False,
            },
            "sources": {
                "description": "Such as crossref; all when absent.",
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {"type": "string", "minLength": 1, "maxLength": 100},
            },
            "abstracts": {"type": "boolean", "default": True},
        },
        envelope_schema(
            works={"type": "array", "items": work},
            sources={"type": "array", "items": outcome},
            hints=texts,
            notices=texts,
        ),
        required=["query"],
        network=True,
    )
