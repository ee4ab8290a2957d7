"""Tests that pages in the markup of many kinds of sites are read as what they are."""

from __future__ import annotations

import pytest

from support.upstream import Upstream

from .conftest import Web
from .site_pages import PAGES, WALLS
from .test_read import URL, error_of, page, serve


@pytest.mark.requirement("web:kinds:pages")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_its_content(web: Web, upstream: Upstream, name: str) -> None:
    case = PAGES[name]
    serve(upstream, page(case.html.encode()))
    result = web.read(URL)
    assert result["quality"] == "complete"
    if case.kinds:
        assert result["kind"] in case.kinds
    for text in case.has:
        assert text in result["text"]
    for text in case.lacks:
        assert text not in result["text"]
    facts = result["metadata"]
    assert facts["title"]
    if case.title:
        assert facts["title"] == case.title
    if case.authors:
        assert tuple(facts["authors"]) == case.authors
    if case.published:
        assert facts["published"] == case.published


@pytest.mark.requirement("web:kinds:walls")
@pytest.mark.parametrize("name", WALLS)
def test_what_is_in_place_of_a_page_is_named(web: Web, upstream: Upstream, name: str) -> None:
    code, kind, html = WALLS[name]
    serve(upstream, page(html.encode()))
    error = error_of(web)
    assert (error.error_code, error.extra["page"]) == (code, kind)
