"""Tests the tools as they are listed, and the shape of failures."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.surfaces import find_surface

from .conftest import Session

pytestmark = pytest.mark.long("surfaces")

INTEGER, STRING, BOOLEAN = "integer", "string", "boolean"

#: The inputs of each tool: a type, or the closed list of values; required ones have an exclamation
#: mark.
INPUTS: dict[str, dict[str, Any]] = {
    "web_search": {
        "query!": STRING, "num_results": INTEGER, "time_range": ["day", "week", "month", "year"],
        "safe": ["off", "medium", "high"], "language": STRING, "site": STRING,
        "exact_terms": STRING, "exclude_terms": STRING, "country": STRING, "lens": STRING,
        "provider": STRING, "sessionId": STRING, "claim": STRING,
    },
    "scrape_page": {
        "url!": STRING, "mode": ["full", "preview", "raw"], "max_length": INTEGER,
        "sessionId": STRING,
    },
    "search_and_scrape": {
        "query!": STRING, "num_results": INTEGER, "include_sources": BOOLEAN,
        "deduplicate": BOOLEAN, "max_length_per_source": INTEGER, "total_max_length": INTEGER,
        "filter_by_query": BOOLEAN, "provider": STRING, "sessionId": STRING, "claim": STRING,
    },
    "academic_search": {
        "query!": STRING, "num_results": INTEGER, "year_from": INTEGER, "year_to": INTEGER,
        "source": ["all", "arxiv", "pubmed", "ieee", "nature", "springer"], "pdf_only": BOOLEAN,
        "sort_by": ["relevance", "date"], "open_access": BOOLEAN, "full_text": BOOLEAN,
        "provider": STRING, "sessionId": STRING,
    },
    "sequential_search": {
        "searchStep!": STRING, "stepNumber!": INTEGER, "nextStepNeeded!": BOOLEAN,
        "sessionId": STRING, "researchGoal": STRING, "reasoning": STRING,
        "confidence": ["high", "medium", "low"], "rejectedApproaches": "array",
        "sessionSummary": STRING, "responseMode": ["auto", "full", "summary"],
        "totalStepsEstimate": INTEGER, "isRevision": BOOLEAN, "revisesStep": INTEGER,
        "branchFromStep": INTEGER, "branchId": STRING, "knowledgeGap": STRING,
        "depth": ["quick", "standard", "thorough"],
    },
    "get_research_session": {"sessionId!": STRING, "stepId": INTEGER},
    "research_export": {
        "sessionId!": STRING, "format": ["markdown", "json"], "verify_links": BOOLEAN,
    },
    "format_bibliography": {
        "style": ["apa", "mla", "bibtex", "ris", "csl-json"], "sessionId": STRING,
        "sources": "array",
    },
    "citation_graph": {
        "paper!": STRING, "direction": ["cited_by", "references", "both"], "num_results": INTEGER,
        "influential_only": BOOLEAN, "provider": STRING, "sessionId": STRING,
    },
    "paper_fulltext": {"identifier!": STRING, "max_length": INTEGER},
    "verify_citation": {"citation!": STRING, "claim": STRING},
    "audit_bibliography": {
        "bibliography": STRING, "format": ["auto", "csl-json", "ris", "bibtex"],
        "entries": "array", "sessionId": STRING,
    },
}  # fmt: skip
DEFAULTS = {
    ("web_search", "num_results"): 5,
    ("web_search", "safe"): "medium",
    ("scrape_page", "mode"): "full",
    ("scrape_page", "max_length"): 50000,
    ("search_and_scrape", "num_results"): 3,
    ("search_and_scrape", "max_length_per_source"): 50000,
    ("search_and_scrape", "total_max_length"): 300000,
    ("academic_search", "num_results"): 5,
    ("academic_search", "source"): "all",
    ("citation_graph", "num_results"): 10,
    ("paper_fulltext", "max_length"): 50000,
    ("format_bibliography", "style"): "apa",
    ("sequential_search", "depth"): "quick",
}
#: Tools that use the open world; every tool is read-only, and only steps are not idempotent.
OPEN_WORLD = {
    "web_search", "scrape_page", "search_and_scrape", "academic_search", "citation_graph",
    "paper_fulltext", "verify_citation", "audit_bibliography",
}  # fmt: skip


@pytest.mark.requirement("web-researcher:input-schemas")
@pytest.mark.requirement("web-researcher:search-input")
@pytest.mark.requirement("web-researcher:scrape-input")
def test_the_tools_take_the_documents_inputs(answers: Session) -> None:
    assert list(answers.tools) == list(INPUTS)
    for name, inputs in INPUTS.items():
        schema = answers.tools[name].input_schema
        assert set(schema["required"]) == {one[:-1] for one in inputs if one.endswith("!")}, name
        assert set(schema["properties"]) == {one.rstrip("!") for one in inputs}, name
        for key, kind in inputs.items():
            given = schema["properties"][key.rstrip("!")]
            assert given.get("enum", given["type"]) == kind, (name, key)
    for (name, key), value in DEFAULTS.items():
        assert answers.tools[name].input_schema["properties"][key]["default"] == value
    query = answers.tools["web_search"].input_schema["properties"]["query"]
    assert (query["minLength"], query["maxLength"]) == (1, 500)


@pytest.mark.requirement("web-researcher:output-schemas")
@pytest.mark.requirement("web-researcher:trust")
def test_every_tool_has_an_output_schema_with_the_label(answers: Session) -> None:
    for tool in answers.tools.values():
        assert "trust" in tool.output_schema["properties"], tool.name
    for name, answer in answers.results.items():
        data = answer.structured_content
        if data is not None and not data.get("linked"):
            assert data["trust"] == "untrusted-external-content", name


@pytest.mark.requirement("web-researcher:annotations")
def test_the_annotations_are_those_of_the_table(answers: Session) -> None:
    for name, tool in answers.tools.items():
        hints = tool.annotations
        assert hints.read_only_hint is True
        assert hints.destructive_hint is False
        assert hints.idempotent_hint is (name != "sequential_search")
        assert hints.open_world_hint is (name in OPEN_WORLD)


def test_the_listing_is_that_of_the_folder(answers: Session) -> None:
    assert list(find_surface("web-researcher").tools) == list(answers.tools)


@pytest.mark.requirement("web-researcher:errors")
def test_a_failure_is_one_text_of_prose_and_json(answers: Session) -> None:
    line, error = answers.error("private")
    assert line.startswith("refused:")
    assert (error["kind"], error["retryable"]) == ("validation", False)
    _, error = answers.error("no url")
    assert error["kind"] == "validation"
    line, error = answers.error("no provider")
    assert error["kind"] == "config"
    assert "nobody" in line
    line, error = answers.error("unknown session")
    assert line == "Session not found or expired. Sessions last 4 hours from last activity."
    assert error["kind"] == "session_not_found"
    for name, answer in answers.results.items():
        if answer.is_error:
            assert set(answers.error(name)[1]) >= {"kind", "retryable", "suggestedAction"}


@pytest.mark.requirement("web-researcher:graph")
@pytest.mark.requirement("web-researcher:fulltext")
def test_arguments_beyond_the_documents_limits_are_refused(answers: Session) -> None:
    line, error = answers.error("graph provider")
    assert error["kind"] == "config"
    assert error["alternatives"] == ["semanticscholar", "openalex"]
    line, error = answers.error("long identifier")
    assert "2048 bytes" in line
    assert error["kind"] == "validation"
