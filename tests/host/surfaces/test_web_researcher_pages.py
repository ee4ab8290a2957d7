"""Tests of `scrape_page` of the surface `web-researcher` over results of `web_read`."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.surfaces import find_surface
from carrel.tools.linked import LINK_BYTES

Raw = dict[str, Any]
SURFACE = find_surface("web-researcher")
URL = "https://example.org/desks"
MOST = 5_000_000


def read(text: str = "Walls.", **members: Any) -> Raw:
    """Returns a result of `web_read`."""
    cited = {"apa": "A", "mla": "M", "bibtex": "B", "accessed": "2026-01-01"}
    fields = {"url": URL, "content_type": "html", "text": text, "truncated": False, "tokens": 2}
    return {**fields, "size_category": "small", "citation": cited, "quality": "complete", **members}


def page(given: Raw, read_result: Raw) -> Raw:
    """Returns the surface's result, which its own schema accepts."""
    result = SURFACE.tools["scrape_page"].shape.result({"url": URL, **given}, read_result)
    assert isinstance(result, dict)
    schema = SURFACE.tools["scrape_page"].spec.output_schema
    assert schema is not None
    strict = compile_schema({**schema, "additionalProperties": False})
    assert validation_faults(strict, result) == []
    return result


@pytest.mark.requirement("web-researcher:scrape-cap")
@pytest.mark.parametrize("mode", ["full", "preview", "raw"])
@pytest.mark.parametrize("given", [MOST - 1, MOST, MOST + 1, 10**9])
def test_the_length_is_at_most_five_million(mode: str, given: int) -> None:
    arguments = {"url": URL, "mode": mode, "max_length": given}
    asked = SURFACE.tools["scrape_page"].shape.arguments(arguments)
    assert asked["max_length"] == min(given, MOST)
    output = page(arguments, read("x" * (MOST + 7), raw=mode == "raw"))
    assert output["contentLength"] == (5000 if mode == "preview" else min(given, MOST))
    assert output["truncated"] is True


@pytest.mark.requirement("web-researcher:scrape-bytes")
@pytest.mark.parametrize(
    ("text", "most", "content"),
    [
        ("one two three", 9, "one two t"),
        ("one\n\ntwo", 5, "one\n\n"),
        ("\u00e4\u00e4\u00e4", 4, "\u00e4\u00e4"),
        ("\u00e4\u00e4\u00e4", 5, "\u00e4\u00e4"),
        ("\U0001f4da", 3, ""),
        ("whole", 5, "whole"),
    ],
)
def test_a_source_is_cut_at_the_byte_and_never_inside_a_character(
    text: str, most: int, content: str
) -> None:
    output = page({"mode": "raw", "max_length": most}, read(text, raw=True))
    assert output["content"] == content
    assert output["contentLength"] == len(content.encode()) <= most
    assert output["truncated"] is (content != text)


@pytest.mark.requirement("web-researcher:scrape-tier")
@pytest.mark.parametrize(
    ("members", "tier"),
    [
        ({"content_type": "html"}, "html"),
        ({"content_type": "markdown"}, "markdown"),
        ({"content_type": "html", "in_browser": True}, "browser"),
        ({"content_type": "pdf"}, None),
        ({"content_type": "youtube"}, None),
        ({"content_type": "text/html", "raw": True}, None),
    ],
    ids=str,
)
def test_the_tier_has_the_documents_words(members: Raw, tier: str | None) -> None:
    output = page({}, read(extracted_by="page", **members))
    assert output.get("extractedBy") == tier


@pytest.mark.requirement("web-researcher:scrape-forum")
@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            {"platform": "reddit", "upvotes": 7, "comments": 2, "date_published": "2026-01-01",
             "author_name": "ada", "credibility_note": "few"},
            {"platform": "reddit", "upvotes": 7, "comments": 2, "datePublished": "2026-01-01",
             "authorName": "ada", "credibilityNote": "few"},
        ),
        ({"platform": "x", "comments": 2}, {"platform": "x", "upvotes": 0, "comments": 2}),
        (None, None),
    ],
    ids=["all", "no votes", "no forum"],
)  # fmt: skip
def test_forum_signals_always_have_both_counts(found: Raw | None, expected: Raw | None) -> None:
    assert page({}, read(forum_signals=found)).get("forumSignals") == expected


@pytest.mark.requirement("web-researcher:scrape-retraction:members")
def test_a_retraction_has_the_documents_members() -> None:
    found = {"retracted": True, "kind": "retraction", "date": "2021-05-01",
             "notice_doi": "10.5555/n", "source": "retraction-watch"}  # fmt: skip
    output = page({}, read(doi="10.5555/desks", retraction_status=found))
    assert output["detectedDoi"] == "10.5555/desks"
    assert output["retractionStatus"] == {
        "retracted": True,
        "kind": "retraction",
        "date": "2021-05-01",
        "noticeDoi": "10.5555/n",
        "source": "retraction-watch",
    }


@pytest.mark.requirement("web-researcher:scrape-links")
@pytest.mark.parametrize("mode", ["full", "preview", "raw", None])
def test_only_a_source_is_linked(mode: str | None) -> None:
    given = {} if mode is None else {"mode": mode}
    output = page(given, read("x" * LINK_BYTES, raw=mode == "raw"))
    link = SURFACE.tools["scrape_page"].shape.link
    assert link is not None
    offer = link({"url": URL, **given}, output)
    assert (offer is not None) is (mode == "raw")
    if offer is not None:
        assert offer.facts == {"contentSizeBytes": LINK_BYTES}


@pytest.mark.requirement("web-researcher:link-tools:three")
def test_three_tools_offer_links() -> None:
    linking = {name for name, tool in SURFACE.tools.items() if tool.shape.link is not None}
    assert linking == {"scrape_page", "search_and_scrape", "research_export"}
    export = SURFACE.tools["research_export"].shape.link
    assert export is not None
    assert export({}, {"format": "json", "researchGoal": "Walls?"}) is not None


@pytest.mark.requirement("web-researcher:academic-years")
@pytest.mark.parametrize("name", ["year_from", "year_to"])
@pytest.mark.parametrize(
    ("year", "valid"), [(1899, False), (1900, True), (2030, True), (2031, False)]
)
def test_years_are_from_1900_to_2030(name: str, year: int, valid: bool) -> None:
    schema = compile_schema(SURFACE.tools["academic_search"].spec.input_schema)
    assert (validation_faults(schema, {"query": "q", name: year}) == []) is valid
