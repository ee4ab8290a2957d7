"""Servers of the surface `web-researcher`, with the answers to the calls of its document.

`requirements_of_web_researcher.py` lists the sentences. The server answers from recorded exchanges
of invented works and pages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
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
from support.http_server import HttpServer
from support.library_world import crossref, crossref_work
from support.surfaces import Answers, recording
from support.web_world import HTML, record_pages, web_researcher, web_settings

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


@dataclass
class Session(Answers):
    """What a server answered; `missing` is the error of an artifact that is not there."""

    artifact: Any = None
    missing: MCPError | None = None

    def error(self, name: str) -> tuple[str, dict[str, Any]]:
        """Returns the prose and the error object of a failed call."""
        answer = self.results[name]
        assert answer.is_error
        assert answer.structured_content is None
        [block] = answer.content
        line, empty, body = block.text.split("\n", 2)
        assert empty == ""
        details: dict[str, Any] = json.loads(body)["error"]
        return line, details


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


@pytest.fixture(scope="package")
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


@pytest.fixture(scope="package", params=["stdio", "legacy", "http"])
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
