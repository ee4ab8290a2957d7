"""Defines `research_step`, `research_session` and `research_export`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import ArgumentError, CarrelError
from carrel.plugins.calls.result import LinkOffer
from carrel.principal import current_principal
from carrel.tools.host_tool import HostAnswer, host_limits
from carrel.tools.linked import linkable_schema
from carrel.web.answers import TRUST
from carrel.web.research.exporting import FORMATS, export_session
from carrel.web.research.pages import LinkState
from carrel.web.research.sessions.coverage import RUN_QUERIES, coverage_of, suggested_queries
from carrel.web.research.sessions.session import MAX_STEPS, Source
from carrel.web.research.sessions.stepping import record_step
from carrel.web.research.sessions.views import progress_view, session_view, step_view
from carrel.web.research.side_by_side import side_by_side

from .function_tool import (
    COUNT,
    FLAG,
    LABEL,
    OBJECT,
    OBJECTS,
    SESSION_ID,
    TEXT,
    TEXTS,
    FunctionTool,
    Schema,
    output_schema,
    spec_of,
)

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.web.research.pages import Pages
    from carrel.web.research.recording import SessionRecorder
    from carrel.web.research.searching import WebSearch
    from carrel.web.research.sessions import ResearchSession, SessionStore

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
_STEP_SECONDS: Final = 60.0
_EXPORT_SECONDS: Final = 180.0
#: Results of a query that `thorough` runs, and links that are checked at the same time.
_RESULTS: Final = 5
_LINKS_AT_ONCE: Final = 5
_LINK_SECONDS: Final = 20.0
DEPTHS: Final = ("quick", "standard", "thorough")

_STEP: Final = f"""\
WHEN TO USE: Record each step of research that takes several, so that it survives a lost context.
INPUTS: search_step, step_number, next_step_needed; session_id from step 2 on. is_revision with \
revises_step, branch_from_step with branch_id. depth standard suggests queries, thorough runs three.
OUTPUTS: session_id; steps, gaps, sources.
COSTS: None; thorough: up to 3 searches.
SIDE EFFECTS: Writes the session.
LIMITS: {MAX_STEPS} steps, 50 sessions, 4 hours after the last use."""
_SESSION: Final = """\
WHEN TO USE: Find out where a session of research_step is.
INPUTS: session_id; step_id for one step.
OUTPUTS: goal, summary, a line per step, the last 3 steps, gaps, sources, repeated failures.
COSTS: None.
SIDE EFFECTS: Renews its life.
LIMITS: Your own sessions."""
_EXPORT: Final = """\
WHEN TO USE: Write a session as a report.
INPUTS: session_id; verify_links checks each source.
OUTPUTS: document, Markdown or JSON.
COSTS: None; with verify_links a request per source.
SIDE EFFECTS: None.
LIMITS: Your own sessions."""

_NUMBER: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 100_000}
_LONG: Final[Schema] = {"type": "string", "maxLength": 8000}
_LINE: Final[Schema] = {"type": "string", "maxLength": 500}
_STEP_INPUTS: Final[Schema] = {
    "search_step": {
        "description": "What this step does.",
        "type": "string",
        "minLength": 1,
        "maxLength": 8000,
    },
    "step_number": _NUMBER,
    "next_step_needed": FLAG,
    "session_id": {"type": "string", "maxLength": 100},
    "research_goal": {"description": "In step 1.", **_LINE},
    "reasoning": _LONG,
    "confidence": {"enum": ["high", "medium", "low"]},
    "rejected_approaches": {"type": "array", "maxItems": 20, "items": _LINE},
    "session_summary": _LONG,
    "response_mode": {"enum": ["auto", "full", "summary"], "default": "auto"},
    "total_steps_estimate": _NUMBER,
    "is_revision": {"type": "boolean", "default": False},
    "revises_step": _NUMBER,
    "branch_from_step": _NUMBER,
    "branch_id": {"type": "string", "maxLength": 100},
    "knowledge_gap": _LINE,
    "depth": {"enum": list(DEPTHS), "default": DEPTHS[0]},
}
_SHARED: Final[Schema] = {
    "session_id": TEXT,
    "response_mode": TEXT,
    "research_goal": TEXT,
    "summary": TEXT,
    "started_at": TEXT,
    "step_index": OBJECTS,
    "last_steps": OBJECTS,
    "gaps": OBJECTS,
    "sources": OBJECTS,
    "trust": LABEL,
}


def step_tool(
    sessions: SessionStore, recorder: SessionRecorder, search: WebSearch | None, config: Config
) -> FunctionTool:
    """Returns `research_step`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        session, warning = record_step(sessions, arguments)
        mode = arguments.get("response_mode", "auto")
        depth = arguments.get("depth", DEPTHS[0])
        more: dict[str, Any] = {}
        if depth != DEPTHS[0]:
            coverage = coverage_of(session)
            queries = suggested_queries(session, coverage)
            more = {"depth": depth, "coverage": coverage, "refinement_queries": queries}
            if depth == "thorough":
                more |= _refined(session, queries, search, recorder, call)
        number = int(arguments["step_number"])
        return {**progress_view(session, number, mode=mode, warning=warning), **more}

    output = output_schema(
        {
            **_SHARED,
            "current_step": COUNT,
            "total_steps_estimate": COUNT,
            "is_complete": FLAG,
            "completed_at": TEXT,
            "warning": TEXT,
            "steps": OBJECTS,
            "depth": TEXT,
            "coverage": OBJECT,
            "refinement_queries": TEXTS,
            "refinement_results": OBJECTS,
            "refinement_note": TEXT,
        },
        "session_id", "response_mode", "research_goal", "current_step", "is_complete", "started_at",
        "trust",
    )  # fmt: skip
    spec = spec_of(
        "research_step",
        "Record a step of research",
        _STEP,
        _STEP_INPUTS,
        output,
        required=["search_step", "step_number", "next_step_needed"],
        writes=True,
    )
    return FunctionTool(spec, answer, host_limits(config, _STEP_SECONDS), sessions.close)


def _refined(
    session: ResearchSession,
    queries: Sequence[str],
    search: WebSearch | None,
    recorder: SessionRecorder,
    call: Call,
) -> dict[str, Any]:
    """Runs the first queries, and returns what each found, raw and by query."""
    if search is None:
        return {"refinement_note": "no query was run: no search provider is configured"}
    chosen = list(queries[:RUN_QUERIES])
    found = side_by_side(
        chosen,
        lambda query, part: search.search(query, part, limit=_RESULTS),
        call,
        most=RUN_QUERIES,
    )
    outcomes: list[dict[str, Any]] = []
    sources: list[Source] = []
    counted: dict[str, bool] = {}
    for query, answer in zip(chosen, found, strict=True):
        if isinstance(answer, CarrelError):
            outcomes.append({"query": query, "result_count": 0, "error": answer.message})
            continue
        results = [
            {"title": page.title, "url": page.url, "snippet": page.snippet} for page in answer.pages
        ]
        outcomes.append({"query": query, "result_count": len(results), "results": results})
        sources += [Source(page.url, page.title) for page in answer.pages]
        counted[answer.provider or "web"] = True
    recorder.record(session.id, sources, (), counted)
    more: dict[str, Any] = {"refinement_results": outcomes}
    if len(queries) > RUN_QUERIES:
        more["refinement_note"] = f"{RUN_QUERIES} of {len(queries)} suggested queries were run"
    return more


def session_tool(sessions: SessionStore, config: Config) -> FunctionTool:
    """Returns `research_session`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        del call
        session = sessions.get(arguments["session_id"])
        number = arguments.get("step_id")
        if number is None:
            return session_view(session)
        step = session.step(number)
        if step is None:
            count = len(session.steps)
            raise ArgumentError(
                [f"step_id: step {number} is not in the session, which has {count} steps"]
            )
        return {
            "session_id": session.id,
            "research_goal": session.goal,
            "step": step_view(session, step),
            "trust": TRUST,
        }

    spec = spec_of(
        "research_session",
        "Find a session of research",
        _SESSION,
        {"session_id": SESSION_ID, "step_id": _NUMBER},
        output_schema(
            {
                **_SHARED,
                "step_count": COUNT,
                "error_patterns": OBJECTS,
                "provider_stats": OBJECT,
                "step": OBJECT,
            },
            "session_id", "research_goal", "trust",
        ),
        required=["session_id"],
        network=False,
    )  # fmt: skip
    return FunctionTool(spec, answer, host_limits(config, _STEP_SECONDS))


def export_tool(sessions: SessionStore, pages: Pages | None, config: Config) -> FunctionTool:
    """Returns `research_export`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> HostAnswer:
        session = sessions.get(arguments["session_id"])
        links = _links(session, pages, call) if arguments.get("verify_links") else None
        export = export_session(
            session,
            arguments.get("format", FORMATS[0]),
            exported_at=sessions.now(),
            principal=current_principal().name,
            links=links,
        )
        return HostAnswer(export, link=export_link(export))

    spec = spec_of(
        "research_export",
        "Export a session of research",
        _EXPORT,
        {
            "session_id": SESSION_ID,
            "format": {"enum": list(FORMATS), "default": FORMATS[0]},
            "verify_links": {"type": "boolean", "default": False},
        },
        linkable_schema(
            {
                "session_id": TEXT,
                "format": {"enum": list(FORMATS)},
                "research_goal": TEXT,
                "step_count": COUNT,
                "source_count": COUNT,
                "started_at": TEXT,
                "exported_at": TEXT,
                "tenant_id": TEXT,
                "document": {"type": ["string", "object"]},
                "trust": LABEL,
            },
            "session_id", "format", "research_goal", "step_count", "source_count", "started_at",
            "exported_at", "tenant_id", "document", "trust",
        ),
        required=["session_id"],
    )  # fmt: skip
    return FunctionTool(spec, answer, host_limits(config, _EXPORT_SECONDS))


def export_link(data: Mapping[str, Any]) -> LinkOffer:
    """Returns what is sent in place of a large export."""
    return LinkOffer(f"{data['format']} report: {data['research_goal']}")


def _links(session: ResearchSession, pages: Pages | None, call: Call) -> dict[str, LinkState]:
    """Returns whether each source leads to something. A failure leaves it unverified."""
    urls = [source.url for source in session.sources]
    if pages is None:
        reason = 'no page may be read; to allow it: web.hosts = "public-web"'
        return {url: LinkState(None, None, reason) for url in urls}
    found = side_by_side(urls, pages.check, call, most=_LINKS_AT_ONCE, seconds=_LINK_SECONDS)
    return {
        url: LinkState(None, None, outcome.message) if isinstance(outcome, CarrelError) else outcome
        for url, outcome in zip(urls, found, strict=True)
    }
