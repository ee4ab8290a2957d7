"""Tests merged values, their provenance, and the alternatives."""

from __future__ import annotations

import pytest

from carrel.records import Alternative, Link, Update, merge, work_faults
from carrel.records.check import RawResult
from carrel.records.merge import FIELDS
from carrel.records.order import BY_FIELD, PRECEDENCE
from support.works import person, work


def test_values_are_taken_from_the_registry_before_the_index_before_the_repository() -> None:
    merged = merge(
        [
            work("arxiv", title="C", doi="10.1000/a"),
            work("zenodo", title="D", doi="10.1000/a"),
            work("eutils", title="B", doi="10.1000/a"),
            work("crossref", title="A", doi="10.1000/a"),
        ]
    )
    assert merged.work.title == "A"
    assert merged.sources == ("crossref", "eutils", "arxiv", "zenodo")
    assert merged.work.source == "crossref+eutils+arxiv+zenodo"
    assert merged.provenance["title"] == ("crossref",)
    assert merged.alternatives["title"] == (
        Alternative("B", ("eutils",)),
        Alternative("C", ("arxiv",)),
        Alternative("D", ("zenodo",)),
    )


def test_an_abstract_is_taken_from_the_index_first() -> None:
    merged = merge([work("crossref", abstract="short"), work("eutils", abstract="whole")])
    assert merged.work.abstract == "whole"
    assert merged.alternatives["abstract"] == (Alternative("short", ("crossref",)),)


def test_missing_fields_are_filled_from_another_source() -> None:
    merged = merge([work("crossref", title="A"), work("eutils", pages="1-2", pmid="7")])
    assert (merged.work.title, merged.work.pages, merged.work.ids.pmid) == ("A", "1-2", "7")
    assert merged.provenance["pages"] == ("eutils",)
    assert "pages" not in merged.alternatives


def test_sources_that_agree_are_all_named() -> None:
    merged = merge([work("eutils", volume="7"), work("crossref", volume="7")])
    assert merged.provenance["volume"] == ("crossref", "eutils")
    assert "volume" not in merged.alternatives


def test_the_case_of_a_doi_is_no_difference_and_the_registry_spells_it() -> None:
    merged = merge([work("eutils", doi="10.1000/ABC"), work("crossref", doi="10.1000/aBc")])
    assert merged.work.ids.doi == "10.1000/aBc"
    assert merged.provenance["ids.doi"] == ("crossref", "eutils")
    assert "ids.doi" not in merged.alternatives


def test_a_retraction_known_to_one_source_is_in_the_merged_work() -> None:
    retraction = Update("retraction", "10.1000/N")
    merged = merge(
        [
            work("crossref", updated_by=(Update("correction", "10.1000/c"),)),
            work("eutils", updated_by=(retraction,)),
        ]
    )
    assert merged.work.updated_by == (Update("correction", "10.1000/c"), retraction)
    assert merged.provenance["updated_by"] == ("crossref", "eutils")
    assert Alternative((retraction,), ("eutils",)) in merged.alternatives["updated_by"]


def test_a_union_has_each_doi_once_regardless_of_case() -> None:
    merged = merge(
        [
            work("crossref", updated_by=(Update("retraction", "10.1000/N"),)),
            work("eutils", updated_by=(Update("retraction", "10.1000/n"),)),
        ]
    )
    assert merged.work.updated_by == (Update("retraction", "10.1000/N"),)
    assert "updated_by" not in merged.alternatives


def test_all_authors_are_taken_from_one_source() -> None:
    spelled, short = (person("Müller", "Anna"),), (person("Mueller", "A."), person("X"))
    merged = merge([work("eutils", authors=short), work("crossref", authors=spelled)])
    assert merged.work.authors == spelled
    assert merged.alternatives["authors"] == (Alternative(short, ("eutils",)),)


def test_no_authors_is_no_answer() -> None:
    merged = merge([work("crossref", authors=()), work("eutils", authors=(person("A"),))])
    assert merged.work.authors == (person("A"),)


@pytest.mark.parametrize("newest", ["2001.00001v10", "2001.00001"])
def test_the_newest_version_of_an_eprint_takes_precedence(newest: str) -> None:
    merged = merge(
        [
            work("arxiv", arxiv="2001.00001v2", title="Draft"),
            work("arxiv", arxiv=newest, title="Final"),
            work("arxiv", arxiv="2001.00001v9", title="Late draft"),
        ]
    )
    assert (merged.work.ids.arxiv, merged.work.title) == (newest, "Final")
    assert [other.value for other in merged.alternatives["title"]] == ["Late draft", "Draft"]


def test_a_merged_work_is_a_record_of_the_contract() -> None:
    merged = merge(
        [
            work("arxiv", arxiv="2001.00001v1", links=(Link("https://arxiv.org/pdf/2001.00001"),)),
            work("crossref", doi="10.1000/a", title="A", cited_by_count=3),
        ]
    )
    payload = merged.to_json()
    assert work_faults(RawResult(payload["work"])) == []
    assert set(payload["provenance"]) <= set(FIELDS)


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="no records"):
        merge([])


def test_the_order_of_sources_names_fields_that_exist() -> None:
    assert set(BY_FIELD) <= set(FIELDS)
    assert all(sorted(order) == sorted(PRECEDENCE) for order in BY_FIELD.values())
