"""Tests the sentences about `web_search`, `scrape_page` and `search_and_scrape`."""

from __future__ import annotations

import pytest

from .conftest import FOUND, PAGE, Session

pytestmark = pytest.mark.long("surfaces")


@pytest.mark.requirement("web-researcher:search-output:served")
@pytest.mark.requirement("web-researcher:search-errors:served")
@pytest.mark.requirement("web-researcher:search-urls")
def test_the_web_is_searched_with_a_provider(answers: Session) -> None:
    found = answers.data("search")
    assert found["urls"] == [one["url"] for one in FOUND]
    assert (found["query"], found["resultCount"]) == ("walled desks", 2)
    assert found["requestedNumResults"] == 99
    assert [one["claimSignal"] for one in found["results"]] == ["Desks have walls and lamps.", ""]
    assert "hints" not in found
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
    result = answers.data("together")
    assert result["status"] == "partial"
    [source] = result["sources"]
    assert source["url"] == PAGE
    assert source["content"].startswith("# On walled desks")
    [failure] = result["scrapeFailures"]
    assert failure["url"] == "https://example.org/gone"
    assert result["summary"]["urlsSearched"] == 2


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
    page = answers.data("page")
    assert page["url"] == PAGE
    assert page["content"].startswith("# On walled desks")
    assert (page["contentType"], page["truncated"]) == ("html", False)
    assert page["contentLength"] == len(page["content"].encode())
    assert page["estimatedTokens"] == -(-len(page["content"]) // 4)
    assert page["sizeCategory"] == "small"
    assert page["extractionQuality"] == "complete"
    assert page["metadata"] == {"title": "On walled desks", "author": "Ada Green"}
    assert page["structuredData"]["openGraph"] == {"og:site_name": "The Desk Review"}
    assert page["structuredData"]["citation"]["citation_doi"] == "10.5555/w"
    assert page["structuredData"]["jsonLd"]
    assert page["detectedDoi"] == "10.5555/w"
    assert page["sourceType"] in answers.tools["scrape_page"].output_schema["properties"][
        "sourceType"
    ].get("enum", [page["sourceType"]])
    assert page["authorityTier"] in {"high", "medium", "low"}
    assert page["domainCategory"] in {
        "academic", "legal", "medical", "financial", "technical", "general",
    }  # fmt: skip
    citation = page["citation"]
    assert citation["url"] == PAGE
    assert citation["metadata"]["title"] == "On walled desks"
    assert citation["formatted"]["apa"].startswith("Green, A.")
    assert citation["formatted"]["mla"].startswith("Green, Ada.")
    assert "raw" not in page
    assert "forumSignals" not in page
    assert "retractionStatus" not in page


@pytest.mark.requirement("web-researcher:scrape-length")
def test_lengths_are_bytes(answers: Session) -> None:
    cut = answers.data("cut")
    assert cut["truncated"] is True
    assert len(cut["content"].encode()) <= 300
    preview = answers.data("preview")
    assert len(preview["content"].encode()) <= 5000
    assert preview["truncated"] is True
