"""OpenAlex, Semantic Scholar and Unpaywall: the real components, fetch and a TLS upstream."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from carrel.config import FetchConfig
from carrel.papers.search import PaperSearch, SearchRequest
from carrel.plugins.concurrent_calls import Question, ask_all
from carrel.plugins.roles import role_sources
from carrel.tools import Toolbox
from support.lookups import lookup_of
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Seen, Upstream

WORK = {
    "id": "https://openalex.org/W1",
    "doi": "https://doi.org/10.5555/x",
    "title": "On desks",
    "publication_year": 2001,
}
PAPER = {
    "paperId": "a" * 40,
    "title": "On desks",
    "externalIds": {"DOI": "10.5555/x"},
    "year": 2001,
}
BUDGET = [("X-RateLimit-Limit", "1000"), ("X-RateLimit-Remaining", "9")]


def reply(value: object, status: int = 200, headers: list[tuple[str, str]] | None = None) -> Reply:
    """Returns an answer in JSON."""
    fields = [("Content-Type", "application/json"), *(headers or [])]
    return Reply(status, fields, body=json.dumps(value).encode())


def page(*works: object) -> dict[str, object]:
    return {"meta": {"count": len(works), "next_cursor": None}, "results": list(works)}


Look = Callable[[Toolbox, str], tuple[str, str | None]]


@pytest.fixture
def look() -> Look:
    """Looks one identifier up; returns the outcome, and the code of its problem."""

    def look(toolbox: Toolbox, text: str) -> tuple[str, str | None]:
        lookup = lookup_of(toolbox)
        [item] = lookup.run([text], lookup.new_call()).items
        return item.outcome, item.problem.code if item.problem else None

    return look


def test_the_key_of_openalex_is_attached_and_its_budget_is_reported(
    make_toolbox: MakeToolbox, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_SECRET_OPENALEX_API_KEY", "hidden-key")
    upstream.on("*", reply(page(WORK), headers=[*BUDGET, ("X-RateLimit-Reset", "60")]))
    result = make_toolbox("openalex").call_sync("openalex_works", {"search": "desks"})
    assert result.data["works"][0]["ids"] == {"doi": "10.5555/x", "openalex": "W1"}
    [notice] = result.data["notices"]
    assert "9 of 1000 credits left, renewed in 60 s" in notice
    assert parameters(upstream.seen[0])["api_key"] == "hidden-key"
    assert "hidden-key" not in json.dumps(result.data)


def test_a_page_of_html_for_404_is_an_unknown_work(
    make_toolbox: MakeToolbox, upstream: Upstream, look: Look
) -> None:
    html = [("Content-Type", "text/html")]
    upstream.on("*", Reply(404, html, body=b"<!doctype html><title>404 Not Found</title>"))
    assert look(make_toolbox("openalex"), "10.5555/x") == ("not_found", None)
    assert upstream.seen[0].path == "/works/doi:10.5555/x"


def test_the_key_of_semantic_scholar_is_a_header(
    make_toolbox: MakeToolbox, upstream: Upstream, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_SECRET_SEMANTICSCHOLAR_API_KEY", "hidden-key")
    upstream.on("*", reply(PAPER))
    assert look(make_toolbox("semanticscholar"), "10.5555/x") == ("found", None)
    assert dict(upstream.seen[0].headers)["x-api-key"] == "hidden-key"


def test_semantic_scholar_is_not_asked_without_a_key(
    make_toolbox: MakeToolbox, upstream: Upstream, look: Look
) -> None:
    assert look(make_toolbox("semanticscholar"), "10.5555/x") == ("not_asked", None)
    assert upstream.seen == []


def test_unpaywall_is_not_asked_without_an_address(make_toolbox: MakeToolbox) -> None:
    toolbox = make_toolbox("unpaywall")
    asked, notices = role_sources(toolbox.plugin_set, toolbox.config, "open_copies")
    assert asked == []
    assert "set fetch.contact or CARREL_CONTACT" in notices[0]
    toolbox = make_toolbox("unpaywall", fetch=FetchConfig(contact="reader@example.org"))
    asked, _ = role_sources(toolbox.plugin_set, toolbox.config, "open_copies")
    assert [one.name for one in asked] == ["unpaywall"]


def test_a_429_of_semantic_scholar_is_no_unknown_work(
    make_toolbox: MakeToolbox, upstream: Upstream, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_SECRET_SEMANTICSCHOLAR_API_KEY", "hidden-key")
    upstream.on("*", reply({"message": "Too Many Requests.", "code": "429"}, 429))
    assert look(make_toolbox("semanticscholar"), "10.5555/x") == ("failed", "rate_limited")


def test_a_spent_budget_without_a_key_leaves_an_unknown_work_unknown(
    make_toolbox: MakeToolbox, upstream: Upstream, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(seen: Seen) -> Reply:
        if seen.path.startswith("/works/doi:"):
            spent = [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "3600")]
            return reply({"error": "Rate limit exceeded"}, 429, headers=spent)
        return Reply(404, [("Content-Type", "text/plain")], body=b"Resource not found.")

    upstream.on("*", answer)
    assert look(make_toolbox("crossref", "openalex"), "10.5555/x") == ("not_found", None)
    monkeypatch.setenv("CARREL_SECRET_OPENALEX_API_KEY", "hidden-key")
    assert look(make_toolbox("crossref", "openalex"), "10.5555/y") == ("failed", "rate_limited")


def test_unpaywall_is_asked_with_the_operators_address(
    make_toolbox: MakeToolbox, upstream: Upstream
) -> None:
    copy = {"url_for_pdf": "https://example.org/1.pdf", "host_type": "repository"}
    upstream.on("*", reply({"doi": "10.5555/x", "is_oa": True, "best_oa_location": copy}))
    toolbox = make_toolbox("unpaywall", fetch=FetchConfig(contact="reader@example.org"))
    ids = {"ids": [{"type": "doi", "id": "10.5555/x"}]}
    question = Question("unpaywall", "role:open_copies", ids)
    [answer] = ask_all(toolbox.plugin_set, [question], lookup_of(toolbox).new_call())
    assert isinstance(answer, bytes)
    [one] = json.loads(answer)["works"]
    assert one["work"]["open_copies"][0]["url"] == "https://example.org/1.pdf"
    assert parameters(upstream.seen[0]) == {"email": "reader@example.org"}


def test_a_search_asks_both_indexes_and_merges_by_doi(
    make_toolbox: MakeToolbox, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_SECRET_SEMANTICSCHOLAR_API_KEY", "hidden-key")

    def answer(seen: Seen) -> Reply:
        if urlsplit(seen.path).path == "/works":
            return reply(page(WORK))
        return reply({"total": 1, "offset": 0, "data": [PAPER]})

    upstream.on("*", answer)
    toolbox = make_toolbox("openalex", "semanticscholar", "unpaywall")
    search = PaperSearch(toolbox.plugin_set, toolbox.config)
    result = search.run(SearchRequest(query="desks", year_from=2000), search.new_call())
    [found] = result.works
    assert found.merged.sources == ("openalex", "semanticscholar")
    asked = {urlsplit(one.path).path: parse_qs(urlsplit(one.path).query) for one in upstream.seen}
    assert asked["/works"]["filter"] == ["publication_year:2000-"]
    assert asked["/graph/v1/paper/search"]["year"] == ["2000-"]
