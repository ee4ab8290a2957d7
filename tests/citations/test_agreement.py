"""Compares the component with citeproc-js over the 300 works in the fifteen styles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.citations import Citation, CitationEngine, CitationItem, find_style
from carrel.config import Config
from citations import oracle
from citations.clusters import clusters
from citations.differences import Agreement, compare, listing, summary
from citations.works import works

pytestmark = pytest.mark.long("programs")

#: The share of all entries, and of the entries of one style, that must agree.
ALL, EACH = 0.99, 0.97
#: The share of citations in the text.
IN_TEXT = 0.96


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CitationEngine]:
    if not (oracle.ROOT / "host" / "carrel" / "components" / "csl.wasm").is_file():
        pytest.skip("the component csl is not built; scripts/build-wasm builds it")
    folder = tmp_path_factory.mktemp("cache")
    config = Config(cache_dir=folder / "cache", data_dir=folder / "data")
    with Carrel(config) as host:
        yield host.citation_engine()


@pytest.fixture(scope="module")
def agreements(engine: CitationEngine) -> list[Agreement]:
    items = works()
    expected = oracle.run([oracle.request(style, items) for style in oracle.FIFTEEN])
    found = []
    for style, result in zip(oracle.FIFTEEN, expected, strict=True):
        entries = engine.bibliography(items, find_style(style)).entries
        ours = [{"id": entry.id, "text": entry.text} for entry in entries]
        found.append(compare(style, ours, result["bibliography"]))
    return found


@pytest.mark.requirement("reference-manager:processor")
@pytest.mark.requirement("citations:agreement:fifteen-styles")
def test_the_entries_of_all_styles_are_those_of_citeproc_js(agreements: list[Agreement]) -> None:
    total = sum(one.total for one in agreements)
    assert total == len(oracle.FIFTEEN) * 300
    shown = (
        f"{summary(agreements)}\n\n{listing([d for one in agreements for d in one.differences])}"
    )
    assert sum(one.agreeing for one in agreements) >= ALL * total, shown


def test_no_style_is_far_behind_the_others(agreements: list[Agreement]) -> None:
    behind = {one.style: one.agreeing for one in agreements if one.agreeing < EACH * one.total}
    assert behind == {}


@pytest.mark.requirement("citations:agreement:order")
def test_entries_are_in_the_order_of_citeproc_js(agreements: list[Agreement]) -> None:
    assert [one.style for one in agreements if not one.same_order] == []


@pytest.mark.requirement("citations:agreement:in-text")
def test_citations_in_the_text_are_those_of_citeproc_js(engine: CitationEngine) -> None:
    items = works()
    given = clusters(items)
    asked = [oracle.request(style, items, citations=given) for style in oracle.FIFTEEN]
    found = []
    for style, result in zip(oracle.FIFTEEN, oracle.run(asked), strict=True):
        rendered = engine.cite(items, [_citation(one) for one in given], find_style(style))
        ours = [{"id": str(n), "text": text} for n, text in enumerate(rendered.citations)]
        theirs = [{"id": str(n), **one} for n, one in enumerate(result["citations"])]
        found.append(compare(style, ours, theirs))
    shown = f"{summary(found)}\n\n{listing([one for each in found for one in each.differences])}"
    assert sum(one.agreeing for one in found) >= IN_TEXT * sum(one.total for one in found), shown


def test_only_the_author_has_text_in_a_numbered_style(engine: CitationEngine) -> None:
    names = [{"family": family, "given": "A."} for family in ("Doe", "Roe", "Poe")]
    items: list[dict[str, Any]] = [
        {"id": "two", "type": "book", "title": "Desks", "author": names[:2]},
        {"id": "three", "type": "book", "title": "Lamps", "author": names},
        {"id": "edited", "type": "book", "title": "Chairs", "editor": names[:1]},
        {"id": "unsigned", "type": "book", "title": "Tables"},
    ]
    asked = [Citation((CitationItem(one["id"], author_only=True),)) for one in items]
    for style in ("ieee", "nature"):
        rendered = engine.cite(items, asked, find_style(style))
        assert rendered.citations == ("Doe and Roe", "Doe et al.", "Doe", "Tables"), style


def _citation(given: dict[str, Any]) -> Citation:
    return Citation(
        tuple(
            CitationItem(**{name.replace("-", "_"): value for name, value in one.items()})
            for one in given["items"]
        ),
        given["note_index"],
    )
