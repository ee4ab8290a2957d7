"""Tests of reading pages for the tools of research."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from carrel.errors import CarrelError, SourceError
from carrel.exchange import Call
from carrel.web.research.pages import WebPages

URL = "https://example.org/desks"


class Reader:
    """Returns a page, or fails."""

    def __init__(self, page: Any = None, error: CarrelError | None = None) -> None:
        self.page, self.error = page, error

    def read(self, _url: str, _call: Call) -> tuple[Any, bool]:
        if self.error is not None:
            raise self.error
        return self.page, False


def pages(page: Any = None, error: CarrelError | None = None) -> WebPages:
    return WebPages(Reader(page, error))  # type: ignore[arg-type]  # the part that is used


def page(**members: Any) -> Any:
    document = SimpleNamespace(
        document={"title": "Desks"}, format="html", quality="partial", identifiers={"doi": "10.1/x"}
    )
    return SimpleNamespace(url=URL, text="Walls.", document=document, **members)


def test_a_page_has_its_title_its_doi_and_whether_it_is_whole(call: Call) -> None:
    read = pages(page()).read(URL, call)
    assert (read.title, read.text, read.doi, read.complete) == ("Desks", "Walls.", "10.1/x", False)
    assert read.facts == {}


def test_the_classification_of_its_source_is_kept(call: Call) -> None:
    source = SimpleNamespace(type="wiki", authority="medium", category="general")
    assert pages(page(source=source)).read(URL, call).facts == {
        "source_type": "wiki",
        "authority_tier": "medium",
        "domain_category": "general",
    }


@pytest.mark.parametrize(
    ("code", "extra", "live"),
    [
        ("not_found", {"status": 404}, False),
        ("not_found", {"page": "not_found", "status": 200}, False),
        ("invalid_document", {"page": "login", "status": 200}, True),
        ("invalid_document", {"status": 403}, None),
        ("upstream_unavailable", {}, None),
        ("denied", {"denial_context": {"reason": "robots_disallowed"}}, None),
    ],
    ids=["404", "soft 404", "login", "403", "unreachable", "robots"],
)
def test_an_address_is_only_dead_where_the_site_says_so(
    call: Call, code: str, extra: dict[str, Any], live: bool | None
) -> None:
    error = SourceError(code, "no", plugin="", tool="web_read", extra=extra)
    assert pages(error=error).check(URL, call).live is live


def test_a_page_that_is_read_is_live(call: Call) -> None:
    assert pages(page()).check(URL, call).live is True
