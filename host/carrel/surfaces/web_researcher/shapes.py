"""Translates the tools of web-researcher-mcp to Carrel's.

Results have the members that its document names, in camelCase. A count out of its range is clamped,
and echoed as `requestedNumResults`. A failed call is one text: a line of prose, an empty line,
and an error object in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from carrel.errors import CarrelError, FailedResultError
from carrel.plugins.calls.result import LinkOffer
from carrel.surfaces.shape import Arguments, Json, Shape
from carrel.web.answers import web_failure

from .members import camel, camel_deep, clamped, requested, snake_arguments, without
from .pages import page_arguments, page_link, page_metadata, page_result
from .papers import fulltext_arguments, fulltext_result, graph_arguments, graph_result

#: Results of a search, and pages that are read.
_MOST: Final = 10
#: Members of Carrel's results that the document does not have.
_OWN: Final = ("session_warning", "filtered_out", "cached", "age_seconds")
_RESULT: Final = ("title", "url", "snippet", "displayLink", "sourceReputation", "claimSignal")
#: Members of `_meta` about the age of an answer.
_AGE: Final[Mapping[str, str]] = {"age_seconds": "ageSeconds", "max_age_seconds": "maxAgeSeconds"}
#: Members of `_meta` about the route of a search.
_ROUTING: Final = (
    "provider_used", "providers_attempted", "fallback", "fallback_reason", "cache_hit",
    "latency_ms",
)  # fmt: skip


def fail(_arguments: Arguments, error: CarrelError) -> NoReturn:
    """Raises the failure in the document's shape."""
    if isinstance(error, FailedResultError):
        raise error
    failure = web_failure(error)
    if failure.kind == "validation":
        failure = replace(failure, message=_ARGUMENT.sub(_renamed, failure.message))
    raise FailedResultError(failure.text(), error)


def _renamed(found: re.Match[str]) -> str:
    """Returns the surface's name of an argument that a message names."""
    return camel(found[0])


#: Arguments of Carrel's tools that the document has in camelCase.
_ARGUMENT: Final = re.compile(
    r"\b(?:session_id|step_id|search_step|step_number|next_step_needed|research_goal|revises_step"
    r"|is_revision|branch_from_step|branch_id|knowledge_gap|rejected_approaches|session_summary"
    r"|response_mode|total_steps_estimate)\b"
)


def metadata(meta: Mapping[str, Any], _result: Json) -> Json:
    """Returns `_meta` with the route of a search in a member of its own."""
    routing = {name: meta[name] for name in _ROUTING if name in meta}
    members = {_AGE.get(name, name): value for name, value in without(meta, routing).items()}
    return {**members, "routing": routing} if routing else members


def _some(arguments: Arguments) -> Json:
    """Returns the arguments of a search, with its count in range."""
    return clamped(snake_arguments(arguments), "num_results", 1, _MOST)


def _result_of(_arguments: Arguments, result: Json) -> Json:
    """Returns a result under the document's names."""
    renamed: Json = camel_deep(without(result, _OWN))
    return renamed


def _counted(arguments: Arguments, result: Json) -> Json:
    return {**_result_of(arguments, result), **requested(arguments, _MOST)}


def _search_result(arguments: Arguments, result: Json) -> Json:
    """Returns the result of `web_search`; `claimSignal` is on every result, or on none."""
    response = _counted(arguments, result)
    response["results"] = [
        {
            name: _reputation(entry[name]) if name == "sourceReputation" else entry[name]
            for name in _RESULT
            if entry.get(name) is not None
        }
        for entry in response["results"]
    ]
    if arguments.get("claim"):
        for entry in response["results"]:
            entry.setdefault("claimSignal", "")
    if response["results"]:
        response.pop("hints", None)
    return response


def _reputation(reputation: Mapping[str, Any]) -> Json:
    return {name: reputation[name] for name in ("tier", "basis") if name in reputation}


def _together_result(arguments: Arguments, result: Json) -> Json:
    """Returns the result of `search_and_scrape`."""
    response = _counted(arguments, result)
    failures = response.pop("failures", None)
    if failures:
        response["scrapeFailures"] = failures
    if not arguments.get("claim"):
        for source in response["sources"]:
            source.pop("claimSignal", None)
            source.pop("keySentences", None)
    return response


def _together_link(arguments: Arguments, result: Json) -> LinkOffer:
    facts = {"sourceCount": result["summary"]["urlsScraped"], "status": result["status"]}
    return LinkOffer(f"{len(result['sources'])} pages about {arguments['query']!r}", facts)


def _export_link(_arguments: Arguments, result: Json) -> LinkOffer:
    return LinkOffer(f"{result['format']} report: {result['researchGoal']}")


def _sources(arguments: Arguments) -> Json:
    """Returns arguments whose entries have no members that Carrel's tool does not know."""
    translated = snake_arguments(arguments)
    for name, members in (("sources", _SOURCE), ("entries", (*_SOURCE, "claim"))):
        if name in translated:
            translated[name] = [
                {key: entry[key] for key in members if isinstance(entry.get(key), str)}
                for entry in translated[name]
            ]
    return translated


_SOURCE: Final = ("url", "title", "author", "site", "date", "doi")

SHAPES: Final[Mapping[str, Shape]] = {
    "web_search": Shape(_some, _search_result, fail, meta=metadata),
    "scrape_page": Shape(page_arguments, page_result, fail, page_link, page_metadata),
    "search_and_scrape": Shape(_some, _together_result, fail, _together_link, metadata),
    "academic_search": Shape(_some, _counted, fail, meta=metadata),
    "sequential_search": Shape(snake_arguments, _result_of, fail),
    "get_research_session": Shape(snake_arguments, _result_of, fail),
    "research_export": Shape(snake_arguments, _result_of, fail, _export_link),
    "format_bibliography": Shape(_sources, _result_of, fail),
    "citation_graph": Shape(graph_arguments, graph_result, fail),
    "paper_fulltext": Shape(fulltext_arguments, fulltext_result, fail),
    "verify_citation": Shape(snake_arguments, _result_of, fail),
    "audit_bibliography": Shape(_sources, _result_of, fail),
}
