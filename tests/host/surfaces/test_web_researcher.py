"""Tests of the shapes of web-researcher-mcp over results of Carrel's tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config
from carrel.errors import FailedResultError, SourceError
from carrel.papers.errors import PaperError
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.surfaces import find_surface
from carrel.tools.host_tool import HostAnswer, HostTool
from carrel.tools.linked import LINK_BYTES
from carrel.web.research.sessions import SessionStore
from carrel.web.research.tools.make import make_research_tools
from carrel.web.search.results import (
    Hints,
    Reputation,
    Routing,
    SearchResults,
    SuggestedAction,
    WebResult,
)
from support.guests import Guest
from support.paper_tools import Make, configure, copies, make
from support.research_doubles import FakeWeb, memory_sessions
from support.role_guests import role_guest

__all__ = ["configure", "copies", "make"]

Raw = dict[str, Any]
SURFACE = find_surface("web-researcher")
DOI = "10.5555/desk.1"


def shaped(name: str, given: Raw, result: Raw) -> Raw:
    """Returns the surface's result, which its own schema accepts."""
    output = SURFACE.tools[name].shape.result(given, result)
    assert isinstance(output, dict)
    schema = SURFACE.tools[name].spec.output_schema
    assert schema is not None
    strict = {**schema, "additionalProperties": False}
    assert validation_faults(compile_schema(strict), output) == []
    return output


def asked(name: str, **given: Any) -> Raw:
    return SURFACE.tools[name].shape.arguments(given)


def found(*results: WebResult, **more: Any) -> Raw:
    routing = Routing("brave", ("google", "brave"), "circuit_open", 0.2)
    return SearchResults("walls", tuple(results), routing, **more).to_json()


KNOWN = WebResult(
    "Walls",
    "https://example.org/a",
    "A snippet.",
    "example.org",
    published="2026-01-01",
    source="Example",
    reputation=Reputation("high", "a known archive", "https://list.example/"),
    claim_signal="A snippet.",
)


class TestWebSearch:
    @pytest.mark.requirement("web-researcher:search-output")
    @pytest.mark.requirement("web-researcher:search-result")
    @pytest.mark.requirement("web-researcher:search-reputation")
    def test_results_have_the_documents_members(self) -> None:
        output = shaped("web_search", {"query": "walls"}, found(KNOWN))
        assert output == {
            "urls": ["https://example.org/a"],
            "query": "walls",
            "resultCount": 1,
            "results": [
                {
                    "title": "Walls",
                    "url": "https://example.org/a",
                    "snippet": "A snippet.",
                    "displayLink": "example.org",
                    "sourceReputation": {"tier": "high", "basis": "a known archive"},
                    "claimSignal": "A snippet.",
                }
            ],
            "trust": "untrusted-external-content",
        }

    @pytest.mark.requirement("web-researcher:search-claim")
    def test_a_claim_signal_is_on_every_result_or_on_none(self) -> None:
        plain = WebResult("B", "https://example.org/b", "", "example.org")
        results = shaped("web_search", {"query": "q", "claim": "c"}, found(KNOWN, plain))["results"]
        assert [one["claimSignal"] for one in results] == ["A snippet.", ""]
        [one] = shaped("web_search", {"query": "q"}, found(plain))["results"]
        assert not {"claimSignal", "sourceReputation"} & one.keys()

    @pytest.mark.requirement("web-researcher:search-empty")
    @pytest.mark.requirement("web-researcher:search-hints")
    def test_no_results_are_an_empty_list_with_hints(self) -> None:
        action = SuggestedAction("remove_filter", filter="time_range")
        hints = Hints("filters_too_restrictive", {"time_range": "day"}, (action,), "no proof")
        output = shaped("web_search", {"query": "q"}, found(hints=hints))
        assert (output["urls"], output["resultCount"]) == ([], 0)
        assert output["hints"] == {
            "reason": "filters_too_restrictive",
            "filtersApplied": {"time_range": "day"},
            "suggestedActions": [{"action": "remove_filter", "filter": "time_range"}],
            "epistemicWarning": "no proof",
        }
        assert "hints" not in shaped("web_search", {"query": "q"}, found(KNOWN, hints=hints))

    @pytest.mark.requirement("web-researcher:clamped")
    @pytest.mark.parametrize(("number", "used"), [(0, 1), (10, 10), (11, 10), (99, 10)])
    @pytest.mark.parametrize("name", ["web_search", "search_and_scrape", "academic_search"])
    def test_a_count_is_clamped_and_reported(self, name: str, number: int, used: int) -> None:
        assert asked(name, query="q", num_results=number)["num_results"] == used
        if name == "web_search":
            output = shaped(name, {"query": "q", "num_results": number}, found(KNOWN))
            assert output.get("requestedNumResults") == (None if number == used else number)

    @pytest.mark.requirement("web-researcher:freshness")
    def test_the_route_is_a_member_of_its_own(self) -> None:
        routing = Routing("brave", ("google", "brave"), "circuit_open", 0.2)
        meta = SearchResults("q", (KNOWN,), routing, cached=True, age=12.7).meta()
        surface_meta = SURFACE.tools["web_search"].shape.meta(meta, {})
        assert surface_meta["routing"] == {
            "provider_used": "brave",
            "providers_attempted": ["google", "brave"],
            "fallback": True,
            "fallback_reason": "circuit_open",
            "cache_hit": True,
            "latency_ms": 200,
        }
        assert (
            surface_meta["cached"],
            surface_meta["ageSeconds"],
            surface_meta["maxAgeSeconds"],
        ) == (True, 12, 1800)

    @pytest.mark.requirement("web-researcher:search-errors")
    @pytest.mark.parametrize(
        ("error", "kind", "action"),
        [
            (
                SourceError("rate_limited", "429", plugin="brave", tool="search"),
                "rate_limited",
                "retry_after_delay",
            ),
            (
                SourceError(
                    "denied",
                    "the key is not set",
                    plugin="brave",
                    tool="search",
                    extra={"kind": "auth_required"},
                ),
                "auth_required",
                "inform_user",
            ),
            (
                SourceError(
                    "invalid_arguments",
                    "unknown provider; known: brave",
                    plugin="",
                    tool="web_search",
                    extra={"kind": "config", "alternatives": ["brave"]},
                ),
                "config",
                "try_different_provider",
            ),
        ],
        ids=["rate limit", "key", "provider"],
    )
    def test_failures_have_the_documents_kinds(
        self, error: SourceError, kind: str, action: str
    ) -> None:
        failure = SURFACE.tools["web_search"].shape.failure
        assert failure is not None
        with pytest.raises(FailedResultError) as caught:
            failure({"query": "q"}, error)
        reported = json.loads(caught.value.text.partition("\n\n")[2])["error"]
        assert (reported["kind"], reported["suggestedAction"]) == (kind, action)


def work(doi: str, **members: Any) -> Raw:
    fields = {"ids": {"doi": doi}, "type": "article-journal", "title": f"On {doi}", "source": "x"}
    return {**fields, **members}


def graph_source() -> Guest:
    """Returns a source that knows a paper, one that it cites, and two that cite it."""
    known = {"works": [{"id": {"type": "doi", "id": DOI}, "work": work(DOI)}], "not_found": []}
    citing = {
        "links": [
            {"work": work("10.5555/c.1", cited_by_count=3), "influential": True},
            {"work": work("10.5555/c.2"), "influential": False},
        ]
    }
    return role_guest(
        {
            "lookup": json.dumps(known),
            "role:search": json.dumps({"works": [work(DOI, title="Walled desks of the hall")]}),
            "role:references": json.dumps({"links": [{"work": work("10.5555/r.1")}]}),
            "role:citations": json.dumps(citing),
        },
        lookup={"identifiers": ["doi"], "batch": 10},
        roles={
            "search": {"max": 50, "filters": []},
            "references": {"identifiers": ["doi"], "max": 100},
            "citations": {"identifiers": ["doi"], "max": 100},
        },
    )


class TestCitationGraph:
    @pytest.fixture
    def graph(self, make: Make) -> Callable[..., Raw]:
        call = make(semanticscholar=graph_source())

        def ask(**given: Any) -> Raw:
            arguments = asked("citation_graph", **given)
            return shaped("citation_graph", given, call("paper_citation_graph", **arguments))

        return ask

    @pytest.mark.requirement("web-researcher:graph:directions")
    def test_both_directions_are_one_hop(self, graph: Callable[..., Raw]) -> None:
        output = graph(paper=DOI)
        assert (output["seed"], output["direction"]) == (DOI, "both")
        assert output["provider"] == "semanticscholar"
        assert sorted(one["doi"] for one in output["citedBy"]) == ["10.5555/c.1", "10.5555/c.2"]
        assert (output["citedByCount"], output["referencesCount"]) == (2, 1)
        assert output["references"][0]["url"] == "https://doi.org/10.5555/r.1"
        assert "citedBy" not in graph(paper=DOI, direction="references")
        assert "references" not in graph(paper=DOI, direction="cited_by")

    def test_a_title_is_resolved(self, graph: Callable[..., Raw]) -> None:
        assert graph(paper="Walled desks of the hall")["citedByCount"] == 2

    @pytest.mark.requirement("web-researcher:graph-count")
    def test_influential_ones_only_and_a_number_of_them(self, graph: Callable[..., Raw]) -> None:
        output = graph(paper=DOI, influential_only=True)
        assert [one["doi"] for one in output["citedBy"]] == ["10.5555/c.1"]
        assert graph(paper=DOI, num_results=1)["citedByCount"] == 1
        assert graph(paper=DOI, num_results=26)["requestedNumResults"] == 26

    def test_a_provider_that_did_not_answer_has_no_works(self, graph: Callable[..., Raw]) -> None:
        assert graph(paper=DOI, provider="openalex")["citedByCount"] == 0

    def test_a_paper_that_is_not_there_is_an_error(self) -> None:
        failed = {"ok": False, "error": {"code": "NOT_FOUND", "message": "unknown"}}
        with pytest.raises(PaperError, match="unknown"):
            shaped("citation_graph", {"paper": "x"}, failed)


READ: Raw = {
    "ok": True, "ref": DOI, "source": "pmc", "form": "jats", "text": "Walls.", "from": 0,
    "next": 7, "length": 90, "tokens": 2, "title": "Desks", "url": "https://example.org/x",
    "stored": False, "attempts": [],
}  # fmt: skip


class TestFullText:
    @pytest.mark.requirement("web-researcher:fulltext:result")
    def test_a_text_is_cut_to_the_length_that_is_asked_for(self) -> None:
        assert shaped("paper_fulltext", {"identifier": DOI}, READ) == {
            "identifier": DOI,
            "resolvedUrl": "https://example.org/x",
            "content": "Walls.",
            "title": "Desks",
            "trust": "untrusted-external-content",
            "truncated": True,
            "scrapeTier": "jats",
            "source": "pmc",
        }

    @pytest.mark.parametrize(("given", "used"), [(1, 1000), (60_000, 60_000), (10**6, 200_000)])
    @pytest.mark.requirement("web-researcher:fulltext-length")
    def test_the_length_is_clamped(self, given: int, used: int) -> None:
        assert asked("paper_fulltext", identifier=DOI, max_length=given)["max_chars"] == used
        assert asked("paper_fulltext", identifier=DOI)["max_chars"] == 50_000


class TestOwnTools:
    """Carrel's own tools over doubles of the web: their results satisfy both schemas."""

    URLS = tuple(f"https://{name}.example.org/" for name in "ab")

    @pytest.fixture
    def call(self, configure: Callable[..., Config]) -> Iterator[Callable[..., HostAnswer]]:
        source = role_guest(
            {"role:search": json.dumps({"works": [work(DOI)]})},
            roles={"search": {"max": 50, "filters": []}},
        )
        api = Carrel(configure(openalex=source))
        web, sessions = FakeWeb(dict.fromkeys(self.URLS, "Walls. " * 3000)), memory_sessions()
        tools = self.tools(api, web, sessions)

        def one(name: str, **arguments: Any) -> HostAnswer:
            tool = tools[name]
            assert tool.argument_faults(arguments) == []
            result = tool.answer(arguments, tool.new_call())
            answer = result if isinstance(result, HostAnswer) else HostAnswer(result)
            schema = tool.spec.output_schema
            assert schema is not None
            assert validation_faults(compile_schema(schema), answer.data) == []
            return answer

        yield one
        api.close()

    def tools(self, api: Carrel, web: FakeWeb, sessions: SessionStore) -> dict[str, HostTool]:
        toolbox = api.toolbox
        made = make_research_tools(
            toolbox.plugin_set, toolbox.config, sessions, search=web, pages=web
        )
        return {one.spec.name: one for one in made}

    @pytest.mark.requirement("web-researcher:together:tool")
    def test_pages_are_read_together(self, call: Callable[..., HostAnswer]) -> None:
        answer = call("web_search_and_read", query="walls", claim="walls")
        output = shaped("search_and_scrape", {"query": "walls", "claim": "walls"}, answer.data)
        assert output["status"] == "complete"
        assert output["sources"][0]["scores"].keys() == {
            "overall", "relevance", "freshness", "authority", "contentQuality",
        }  # fmt: skip
        assert output["sources"][0]["claimSignal"]
        link = SURFACE.tools["search_and_scrape"].shape.link
        assert link is not None
        offer = link({"query": "walls"}, output)
        assert offer is not None
        assert offer.facts == {"sourceCount": 2, "status": "complete"}
        assert answer.link is not None
        assert len(json.dumps(output)) > LINK_BYTES

    def test_failures_of_pages_have_the_documents_names(self) -> None:
        failure = {"url": "u", "kind": "blocked", "reason": "r", "retryable": True}
        result = {
            "query": "q", "status": "partial", "sources": [], "combined_content": "",
            "trust": "untrusted-external-content", "failures": [failure],
            "summary": {"urls_failed": 1}, "size_metadata": {"total_length": 0}, "filtered_out": 1,
        }  # fmt: skip
        output = shaped("search_and_scrape", {"query": "q"}, result)
        assert output["scrapeFailures"] == [failure]
        assert output["summary"] == {"urlsFailed": 1}

    def test_papers_are_found_and_recorded_in_a_session(
        self, call: Callable[..., HostAnswer]
    ) -> None:
        step = {"search_step": "look", "step_number": 1, "next_step_needed": True}
        id_ = call("research_step", **step).data["session_id"]
        answer = call("academic_search", query="walls", session_id=id_)
        output = shaped("academic_search", {"query": "walls"}, answer.data)
        assert output["papers"][0]["doi"] == DOI
        assert output["source"] == "router"
        assert answer.meta == {
            "cached": False, "age_seconds": 0, "max_age_seconds": 3600, "freshness": "fresh",
        }  # fmt: skip
        again = call("academic_search", query="walls", session_id=id_)
        assert (again.meta or {})["cached"] is True
        sources = call("research_session", session_id=id_).data["sources"]
        assert [one["url"] for one in sources] == [f"https://doi.org/{DOI}"]
        warned = call("academic_search", query="walls", session_id="nothing").data
        assert warned["session_warning"].startswith("Session not found")

    @pytest.mark.requirement("web-researcher:depth:thorough")
    def test_thorough_runs_up_to_three_queries(self, call: Callable[..., HostAnswer]) -> None:
        result = call(
            "research_step",
            search_step="look",
            step_number=1,
            next_step_needed=True,
            research_goal="How do walls help?",
            knowledge_gap="who built them",
            depth="thorough",
        ).data
        assert len(result["refinement_results"]) == 3
        assert len(result["refinement_queries"]) > 3
        assert result["refinement_note"].startswith("3 of ")
        assert result["refinement_results"][0]["query"] == "who built them"
        sources = call("research_session", session_id=result["session_id"]).data["sources"]
        assert [one["url"] for one in sources] == list(self.URLS)
