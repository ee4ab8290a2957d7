"""Tests the surface `web-researcher` against its document, with the official client.

`requirements_of_surfaces.py` lists the sentences. The server answers from recorded exchanges of
invented works and pages.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from carrel.exchange import Request, Response
from carrel.fetch.recording import Recordings
from carrel.surfaces import find_surface
from support.http_server import HttpServer
from support.library_world import crossref, crossref_work
from support.surfaces import recording
from support.web_world import HTML, record_pages, web_researcher, web_settings

pytestmark = pytest.mark.long("surfaces")

DOI = "10.5555/new.2020"
PAGE, BIG, PLAIN = (f"https://example.org/{name}" for name in ("desks", "big", "plain"))
WORDS = "A desk with walls on three sides keeps a reader from what the room does. " * 12
PAGES = {
    PAGE: (
        HTML,
        f"""<!doctype html><html><head><title>On walled desks</title>
<meta name="citation_title" content="On walled desks">
<meta name="citation_journal_title" content="The Desk Review">
<meta name="citation_author" content="Green, Ada"><meta name="citation_doi" content="10.5555/w">
<meta property="og:site_name" content="The Desk Review">
<script type="application/ld+json">{{"@type": "Article", "headline": "On walled desks"}}</script>
</head><body><main><article><h1>On walled desks</h1><p>{WORDS}</p></article></main></body></html>
""".encode(),
    ),
    BIG: ("text/plain", b"walls of desks\n" * 3000),
    PLAIN: ("text/plain", b"Walls of desks."),
}
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


@dataclass
class Session:
    """What a server answered; `missing` is the error of an artifact that is not there."""

    tools: dict[str, Any] = field(default_factory=dict)
    templates: list[str] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    artifact: Any = None
    missing: MCPError | None = None

    def data(self, name: str) -> Any:
        """Returns the JSON value of an inline result."""
        answer = self.results[name]
        assert not answer.is_error, answer.content
        [block] = answer.content
        assert json.loads(block.text) == answer.structured_content
        return answer.structured_content

    def error(self, name: str) -> tuple[str, dict[str, Any]]:
        """Returns the prose and the error object of a failed call."""
        answer = self.results[name]
        assert answer.is_error
        assert answer.structured_content is None
        [block] = answer.content
        line, empty, body = block.text.split("\n", 2)
        assert empty == ""
        told: dict[str, Any] = json.loads(body)["error"]
        return line, told


BRAVE = (
    "https://api.search.brave.com/res/v1/web/search?q={}&count=10&result_filter=web"
    "&text_decorations=false&safesearch=moderate"
)
FOUND = [
    {"title": "On walled desks", "url": PAGE, "description": "Desks have walls and lamps."},
    {"title": "Gone", "url": "https://example.org/gone", "description": "Nothing."},
]


def record_searches(folder: Path) -> None:
    """Records what Brave answers to three queries."""
    kept = Recordings(folder)
    answers: dict[str, tuple[int, Any]] = {
        "walled%20desks": (200, {"type": "search", "web": {"results": FOUND}}),
        "qqqq": (200, {"type": "search", "web": {"results": []}}),
        "busy": (429, {"type": "ErrorResponse", "error": {"code": "RATE_LIMITED"}}),
    }
    for query, (status, body) in answers.items():
        url, text = BRAVE.format(query), json.dumps(body)
        headers = (("content-type", "application/json"),)
        asked = Request("GET", url, (("accept", "application/json"),))
        kept.keep(asked, Response(status, url, headers, text, len(text)))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("web-researcher")
    exchanges = crossref(DOI, crossref_work(DOI, title=["New desks of walls"]))
    recorded = record_pages(recording(folder / "recorded", exchanges), PAGES)
    record_searches(recorded)
    web = {"hosts": "public-web", "search": ["brave"]}
    return web_settings(folder, code_folder, recorded, "crossref", web=web)


CALLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "page": ("scrape_page", {"url": PAGE}),
    "page again": ("scrape_page", {"url": PAGE}),
    "preview": ("scrape_page", {"url": BIG, "mode": "preview"}),
    "cut": ("scrape_page", {"url": PAGE, "max_length": 300}),
    "raw": ("scrape_page", {"url": PLAIN, "mode": "raw"}),
    "raw big": ("scrape_page", {"url": BIG, "mode": "raw"}),
    "private": ("scrape_page", {"url": "https://127.0.0.1/"}),
    "no url": ("scrape_page", {}),
    "search": ("web_search", {"query": "walled desks", "claim": "lamps", "num_results": 99}),
    "search again": ("web_search", {"query": "walled desks", "claim": "lamps", "num_results": 99}),
    "nothing": ("web_search", {"query": "qqqq"}),
    "no search": ("web_search", {"query": "walls", "provider": "nobody"}),
    "together": ("search_and_scrape", {"query": "walled desks"}),
    "limited": ("web_search", {"query": "busy"}),  # opens the provider's circuit
    "no provider": ("academic_search", {"query": "walls", "provider": "nobody"}),
    "first": (
        "sequential_search",
        {"searchStep": "look", "stepNumber": 1, "nextStepNeeded": True, "researchGoal": "Walls?"},
    ),
    "lost": ("sequential_search", {"searchStep": "x", "stepNumber": 2, "nextStepNeeded": True}),
    "unknown session": ("get_research_session", {"sessionId": "nothing"}),
    "bibliography": (
        "format_bibliography",
        {"style": "ris", "sources": [{"url": PAGE, "title": "Walls", "extra": "dropped"}]},
    ),
    "empty": ("format_bibliography", {"style": "csl-json", "sources": []}),
    "verify": ("verify_citation", {"citation": DOI, "claim": "New desks of walls"}),
    "audit": (
        "audit_bibliography",
        {"bibliography": f"@article{{a, title={{New desks of walls}}, doi={{{DOI}}}}}"},
    ),
    "graph provider": ("citation_graph", {"paper": DOI, "provider": "nobody"}),
    "long identifier": ("paper_fulltext", {"identifier": "1" * 2049}),
}


async def _drive(client: Client, answers: Session) -> None:
    answers.tools.update({one.name: one for one in (await client.list_tools()).tools})
    listed = await client.list_resource_templates()
    answers.templates += [one.uri_template for one in listed.resource_templates]
    for name, (tool, values) in CALLS.items():
        answers.results[name] = await client.call_tool(tool, dict(values))
    id_ = answers.results["first"].structured_content["sessionId"]
    later: dict[str, tuple[str, dict[str, Any]]] = {
        "revision": (
            "sequential_search",
            {
                "searchStep": "look again", "stepNumber": 2, "nextStepNeeded": False,
                "sessionId": id_, "isRevision": True, "revisesStep": 1, "knowledgeGap": "lamps",
                "depth": "standard",
            },
        ),
        "linked page": ("scrape_page", {"url": PAGE, "sessionId": id_}),
        "session": ("get_research_session", {"sessionId": id_}),
        "step": ("get_research_session", {"sessionId": id_, "stepId": 1}),
        "no step": ("get_research_session", {"sessionId": id_, "stepId": 9}),
        "export": ("research_export", {"sessionId": id_, "verify_links": True}),
        "export json": ("research_export", {"sessionId": id_, "format": "json"}),
        "own bibliography": ("format_bibliography", {"style": "bibtex", "sessionId": id_}),
        "linked search": (
            "web_search",
            {"query": "walled desks", "claim": "lamps", "num_results": 99, "sessionId": id_},
        ),
        "failed search": ("web_search", {"query": "busy", "sessionId": id_}),
        "searched session": ("get_research_session", {"sessionId": id_}),
    }  # fmt: skip
    for name, (tool, values) in later.items():
        answers.results[name] = await client.call_tool(tool, values)
    link = answers.results["raw big"].content[1]
    [answers.artifact] = (await client.read_resource(link.uri)).contents
    try:
        await client.read_resource("research://artifact/" + "0" * 64)
    except MCPError as error:
        answers.missing = error


@pytest.fixture(scope="module", params=["stdio", "legacy", "http"])
def answers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, settings: Any
) -> Session:
    """A session over each transport, and one of a client of the handshake's era."""
    folder = tmp_path_factory.mktemp(request.param)
    words = web_researcher(folder, {**settings, "data_dir": str(folder / "data")})
    found = Session()

    async def over_stdio() -> None:
        server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        mode = "legacy" if request.param == "legacy" else "auto"
        async with Client(stdio_client(server), mode=mode) as client:
            await _drive(client, found)

    async def over_http(url: str) -> None:
        async with Client(streamable_http_client(url)) as client:
            await _drive(client, found)

    if request.param != "http":
        anyio.run(over_stdio)
        return found
    with HttpServer([*words, "--http", "127.0.0.1:0"]) as server:
        anyio.run(over_http, server.url)
    return found


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


@pytest.mark.requirement("web-researcher:search-output:served")
@pytest.mark.requirement("web-researcher:search-errors:served")
def test_the_web_is_searched_with_a_provider(answers: Session) -> None:
    told = answers.data("search")
    assert told["urls"] == [one["url"] for one in FOUND]
    assert (told["query"], told["resultCount"]) == ("walled desks", 2)
    assert told["requestedNumResults"] == 99
    assert [one["claimSignal"] for one in told["results"]] == ["Desks have walls and lamps.", ""]
    assert "hints" not in told
    meta = answers.results["search again"].meta
    assert (meta["cached"], meta["maxAgeSeconds"]) == (True, 1800)
    routing = answers.results["search"].meta["routing"]
    assert (routing["provider_used"], routing["fallback"]) == ("brave", False)
    nothing = answers.data("nothing")
    assert (nothing["urls"], nothing["hints"]["reason"]) == ([], "no_match")
    _, error = answers.error("limited")
    assert (error["kind"], error["suggestedAction"]) == ("rate_limited", "retry_after_delay")
    line, error = answers.error("no search")
    assert "brave" in line


@pytest.mark.requirement("web-researcher:together:served")
def test_pages_are_searched_and_read(answers: Session) -> None:
    told = answers.data("together")
    assert told["status"] == "partial"
    [source] = told["sources"]
    assert source["url"] == PAGE
    assert source["content"].startswith("# On walled desks")
    [failure] = told["scrapeFailures"]
    assert failure["url"] == "https://example.org/gone"
    assert told["summary"]["urlsSearched"] == 2


@pytest.mark.requirement("web-researcher:scrape-output")
@pytest.mark.requirement("web-researcher:scrape-citation")
@pytest.mark.requirement("web-researcher:scrape-quality")
@pytest.mark.requirement("web-researcher:scrape-metadata")
@pytest.mark.requirement("web-researcher:scrape-structured")
@pytest.mark.requirement("web-researcher:scrape-class")
@pytest.mark.requirement("web-researcher:scrape-doi")
@pytest.mark.requirement("web-researcher:tokens")
@pytest.mark.requirement("web-researcher:real-sources")
def test_a_page_has_the_documents_members(answers: Session) -> None:
    told = answers.data("page")
    assert told["url"] == PAGE
    assert told["content"].startswith("# On walled desks")
    assert (told["contentType"], told["truncated"]) == ("html", False)
    assert told["contentLength"] == len(told["content"].encode())
    assert told["estimatedTokens"] == -(-len(told["content"]) // 4)
    assert told["sizeCategory"] == "small"
    assert told["extractionQuality"] == "complete"
    assert told["metadata"] == {"title": "On walled desks", "author": "Ada Green"}
    assert told["structuredData"]["openGraph"] == {"og:site_name": "The Desk Review"}
    assert told["structuredData"]["citation"]["citation_doi"] == "10.5555/w"
    assert told["structuredData"]["jsonLd"]
    assert told["detectedDoi"] == "10.5555/w"
    assert told["sourceType"] in answers.tools["scrape_page"].output_schema["properties"][
        "sourceType"
    ].get("enum", [told["sourceType"]])
    assert told["authorityTier"] in {"high", "medium", "low"}
    assert told["domainCategory"] in {
        "academic", "legal", "medical", "financial", "technical", "general",
    }  # fmt: skip
    citation = told["citation"]
    assert citation["url"] == PAGE
    assert citation["metadata"]["title"] == "On walled desks"
    assert citation["formatted"]["apa"].startswith("Green, A.")
    assert citation["formatted"]["mla"].startswith("Green, Ada.")
    assert "raw" not in told
    assert "forumSignals" not in told
    assert "retractionStatus" not in told


@pytest.mark.requirement("web-researcher:scrape-length")
def test_lengths_are_bytes(answers: Session) -> None:
    told = answers.data("cut")
    assert told["truncated"] is True
    assert len(told["content"].encode()) <= 300
    preview = answers.data("preview")
    assert len(preview["content"].encode()) <= 5000
    assert preview["truncated"] is True


@pytest.mark.requirement("web-researcher:scrape-raw")
@pytest.mark.requirement("web-researcher:link-inline")
def test_a_small_source_is_inline_and_verbatim(answers: Session) -> None:
    told = answers.data("raw")
    assert told["raw"] is True
    assert told["content"] == "Walls of desks."
    assert told["contentType"] == "text/plain"
    assert not {"extractionQuality", "metadata", "structuredData"} & told.keys()


@pytest.mark.requirement("web-researcher:link")
@pytest.mark.requirement("web-researcher:link-summary")
@pytest.mark.requirement("web-researcher:link-id")
@pytest.mark.requirement("web-researcher:link-template")
@pytest.mark.requirement("web-researcher:link-tools")
def test_a_large_source_is_a_summary_and_a_link(answers: Session) -> None:
    text, link = answers.results["raw big"].content
    summary = json.loads(text.text)
    assert summary == answers.results["raw big"].structured_content
    assert summary["resource"] == str(link.uri)
    assert link.type == "resource_link"
    assert set(summary) == {
        "resource", "bytes", "mimeType", "summary", "expiresAt", "linked", "contentSizeBytes",
    }  # fmt: skip
    assert (summary["linked"], summary["mimeType"]) == (True, "application/json")
    assert summary["contentSizeBytes"] == 45_000
    body = answers.artifact.text.encode()
    assert (len(body), answers.artifact.mime_type) == (summary["bytes"], "application/json")
    assert summary["resource"] == f"research://artifact/{hashlib.sha256(body).hexdigest()}"
    assert json.loads(body)["content"].startswith("walls of desks\n")
    assert answers.templates == ["research://artifact/{id}"]


@pytest.mark.requirement("web-researcher:link-expiry")
def test_an_artifact_that_is_not_there_is_not_found(answers: Session) -> None:
    assert answers.missing is not None
    assert answers.missing.error.code in {-32002, -32602}


@pytest.mark.requirement("web-researcher:link-store")
def test_what_is_kept_is_encrypted(
    tmp_path: Path, settings: dict[str, Any], code_folder: Path
) -> None:
    words = web_researcher(tmp_path, {**settings, "data_dir": str(tmp_path / "data")})

    async def drive() -> None:
        server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            answer = await client.call_tool("scrape_page", {"url": BIG, "mode": "raw"})
            assert answer.structured_content["linked"]

    anyio.run(drive)
    files = [one for one in (tmp_path / "data").rglob("*") if one.is_file()]
    assert any(one.name.startswith("artifacts") for one in files)
    assert all(b"walls of desks" not in one.read_bytes() for one in files)


@pytest.mark.requirement("web-researcher:freshness")
@pytest.mark.requirement("web-researcher:link-meta")
def test_a_cached_page_says_how_old_it_is(answers: Session) -> None:
    assert "cached" not in (answers.results["page"].meta or {})
    meta = answers.results["page again"].meta
    assert meta["cached"] is True
    assert meta["maxAgeSeconds"] == 3600
    assert meta["ageSeconds"] >= 0
    assert meta["freshness"] == "cached"


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


@pytest.mark.requirement("web-researcher:sequential")
@pytest.mark.requirement("web-researcher:depth")
def test_steps_are_recorded_and_revised(answers: Session) -> None:
    line, error = answers.error("lost")
    assert error["kind"] == "validation"
    assert "sessionId" in line
    first = answers.data("first")
    assert (first["currentStep"], first["isComplete"]) == (1, False)
    assert first["responseMode"] == "full"
    assert not {"depth", "coverage", "refinementQueries"} & first.keys()
    told = answers.data("revision")
    assert told["isComplete"] is True
    assert told["steps"][0]["supersededBy"] == 2
    assert told["gaps"] == [{"description": "lamps", "foundInStep": 2}]
    assert told["depth"] == "standard"
    assert told["refinementQueries"][0] == "lamps"
    assert set(told["coverage"]) >= {"sourceCount", "uniqueDomains", "domainSpread", "gaps"}


@pytest.mark.requirement("web-researcher:session")
@pytest.mark.requirement("web-researcher:step-range")
def test_a_session_is_found_again_with_its_sources(answers: Session) -> None:
    told = answers.data("session")
    assert told["stepCount"] == 2
    assert [one["stepNumber"] for one in told["lastSteps"]] == [1, 2]
    [source] = told["sources"]
    assert (source["url"], source["title"], source["foundInStep"]) == (PAGE, "On walled desks", 2)
    assert answers.data("step")["step"]["description"] == "look"
    line, error = answers.error("no step")
    assert "step 9 is not in the session, which has 2 steps" in line
    assert error["kind"] == "validation"


@pytest.mark.requirement("web-researcher:search-session")
def test_results_and_failures_of_searches_are_added_to_the_session(answers: Session) -> None:
    assert answers.data("linked search")["urls"] == [one["url"] for one in FOUND]
    told = answers.data("searched session")
    assert [one["url"] for one in told["sources"]] == [one["url"] for one in FOUND]
    assert told["providerStats"]["web_search"] == {"attempts": 2, "successes": 1}
    answers.error("failed search")


@pytest.mark.requirement("web-researcher:export")
def test_a_session_is_exported(answers: Session) -> None:
    told = answers.data("export")
    assert told["document"].startswith("# Walls?")
    assert "live, status 200" in told["document"]
    assert (told["stepCount"], told["sourceCount"]) == (2, 1)
    document = answers.data("export json")["document"]
    assert [one["stepNumber"] for one in document["steps"]] == [1, 2]


@pytest.mark.requirement("web-researcher:format")
def test_bibliographies_are_formatted(answers: Session) -> None:
    told = answers.data("bibliography")
    assert (told["style"], told["entryCount"]) == ("ris", 1)
    assert told["bibliography"].startswith("TY  - ELEC\n")
    assert answers.data("empty")["bibliography"] == "[]"
    assert "sessionId" in answers.data("own bibliography")


@pytest.mark.requirement("web-researcher:verify")
def test_a_citation_is_verified(answers: Session) -> None:
    told = answers.data("verify")
    assert (told["inputType"], told["exists"]) == ("doi", True)
    assert (told["verificationStatus"], told["matchConfidence"]) == ("confirmed", "high")
    assert told["matchedRecord"]["doi"] == DOI
    assert told["claimSupport"] in {
        "addressed", "partially_addressed", "not_addressed", "source_unavailable",
    }  # fmt: skip


@pytest.mark.requirement("web-researcher:audit")
def test_a_bibliography_is_audited(answers: Session) -> None:
    told = answers.data("audit")
    assert told["source"] == "bibliography:bibtex"
    assert set(told["summary"]) == {
        "total", "retracted", "deadLink", "notFound", "unchecked", "mischaracterized", "ok",
    }  # fmt: skip
    assert told["entries"][0]["exists"] is True


@pytest.mark.requirement("web-researcher:graph")
@pytest.mark.requirement("web-researcher:fulltext")
def test_arguments_beyond_the_documents_limits_are_refused(answers: Session) -> None:
    line, error = answers.error("graph provider")
    assert error["kind"] == "config"
    assert error["alternatives"] == ["semanticscholar", "openalex"]
    line, error = answers.error("long identifier")
    assert "2048 bytes" in line
    assert error["kind"] == "validation"


def test_the_listing_is_that_of_the_folder(answers: Session) -> None:
    assert list(find_surface("web-researcher").tools) == list(answers.tools)
