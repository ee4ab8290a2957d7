"""Tests what the engine asks the plugin, and what it makes of the answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from carrel.citations import Citation, CitationItem, find_style
from carrel.errors import ArgumentError, ContractViolation
from citations.doubles import FakeCsl, fake_engine

ITEMS = [{"id": "b", "title": "Two"}, {"id": "a", "title": "One"}]


def test_a_bibliography_has_all_items_in_the_plugins_order() -> None:
    engine, csl = fake_engine()
    rendering = engine.bibliography(ITEMS, "ieee")
    assert [(one.id, one.text) for one in rendering.entries] == [("a", "a, One"), ("b", "b, Two")]
    assert rendering.layout.hanging_indent
    [request] = csl.requests
    assert request["format"] == "text"
    assert "citations" not in request
    assert request["style"] == find_style("ieee").text
    assert list(request["locales"]) == ["en-US"]
    assert "locale" not in request


@pytest.mark.requirement("citations:styles:in-text")
def test_citations_have_locators_affixes_and_suppressed_authors() -> None:
    engine, csl = fake_engine()
    citations = [
        Citation((CitationItem("a", "3-5", "page", "see "), CitationItem("b", suffix=" too"))),
        Citation((CitationItem("a", suppress_author=True),), note_index=2),
        Citation((CitationItem("b", author_only=True),)),
    ]
    rendering = engine.cite(ITEMS, citations, "apa", uncited=["b"])
    assert rendering.citations == ("(see a page 3-5; b too)", "(-a)", "(b!)")
    assert csl.requests[0]["citations"][1] == {
        "items": [{"id": "a", "suppress-author": True}],
        "note_index": 2,
    }
    assert csl.requests[0]["uncited"] == ["b"]


@pytest.mark.requirement("citations:styles:locales")
def test_a_locale_is_asked_for_with_its_fallbacks() -> None:
    engine, csl = fake_engine()
    engine.bibliography(ITEMS, "apa", locale="de_AT")
    assert csl.requests[0]["locale"] == "de-AT"
    assert list(csl.requests[0]["locales"]) == ["de-AT", "de-DE", "en-US"]


def test_a_dependent_style_is_rendered_as_its_parent_in_its_own_locale(tmp_path: Path) -> None:
    path = tmp_path / "journal.csl"
    path.write_text(
        '<style default-locale="fr-FR"><info><link '
        'href="http://www.zotero.org/styles/apa" rel="independent-parent"/></info></style>'
    )
    engine, csl = fake_engine()
    assert engine.bibliography(ITEMS, find_style(str(path), files=True)).entries
    assert [one["style"] for one in csl.requests] == [path.read_text(), find_style("apa").text]
    assert csl.requests[1]["locale"] == "fr-FR"
    engine.bibliography(ITEMS, find_style(str(path), files=True), locale="de")
    assert csl.requests[-1]["locale"] == "de-DE"


@pytest.mark.parametrize(("default", "found"), [("de-DE", "de-DE"), ("de-LI", "de-DE")])
def test_a_files_own_locale_is_added_when_the_plugin_asks_for_it(
    tmp_path: Path, default: str, found: str
) -> None:
    path = tmp_path / "mine.csl"
    path.write_text(f'<style default-locale="{default}"/>')
    engine, csl = fake_engine()
    assert engine.bibliography(ITEMS, find_style(str(path), files=True)).entries
    assert [one.get("locale") for one in csl.requests] == [None, found]
    assert found in csl.requests[1]["locales"]


def test_a_style_in_a_language_without_a_locale_is_rendered_in_english(tmp_path: Path) -> None:
    path = tmp_path / "mine.csl"
    path.write_text('<style default-locale="tlh"/>')
    engine, csl = fake_engine()
    assert engine.bibliography(ITEMS, find_style(str(path), files=True)).entries
    assert csl.requests[1]["locale"] == "en-US"


def test_a_plugin_that_asks_without_end_is_stopped() -> None:
    class Asking(FakeCsl):
        def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
            return {"needs": {"locales": ["de-DE"]}}

    from carrel.citations import CitationEngine

    csl = Asking()
    with pytest.raises(ContractViolation, match="asks for the style or locale"):
        CitationEngine(csl).bibliography(ITEMS)
    assert len(csl.requests) == 4


def test_items_that_are_no_json_and_unknown_formats_are_refused() -> None:
    engine, _ = fake_engine()
    with pytest.raises(ArgumentError, match="cannot be written as JSON"):
        engine.bibliography([{"id": "a", "title": {1, 2}}])
    with pytest.raises(ArgumentError, match="no output format 'pdf'"):
        engine.bibliography(ITEMS, output_format="pdf")  # type: ignore[arg-type]
