"""Tests the sentences about `web_search`, `scrape_page` and `search_and_scrape`."""

from __future__ import annotations

import pytest

from .conftest import FOUND, PAGE, Session

pytestmark = pytest.mark.long("surfaces")


@pytest.mark.requirement("web-researcher:search-output:served")
@pytest.mark.requirement("web-researcher:search-errors:served")
@pytest.mark.requirement("web-researcher:search-urls")
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
