"""Duplicates: which entries are of one work, and by what they are recognised."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.library.identity import isbns_in
from carrel.library.library import Library

TITLE = {
    "title": "Desks, their history",
    "author": [{"family": "Smith", "given": "John"}],
    "issued": {"date-parts": [[2023]]},
}


@pytest.mark.requirement("reference-manager:duplicates")
@pytest.mark.parametrize(
    ("there", "added", "kind"),
    [
        ({"DOI": "10.1234/Desk"}, {"DOI": "10.1234/DESK"}, "doi"),
        ({"DOI": "10.1234/desk"}, {"DOI": "https://doi.org/10.1234/desk"}, "doi"),
        ({"DOI": "10.1234/desk"}, {"URL": "https://doi.org/10.1234/desk"}, "doi"),
        ({"PMID": "123"}, {"PMID": 123}, "pmid"),
        ({"PMID": "123"}, {"URL": "https://pubmed.ncbi.nlm.nih.gov/123/"}, "pmid"),
        ({"PMCID": "PMC123"}, {"PMCID": "123"}, "pmcid"),
        ({"PMCID": "PMC123.1"}, {"PMCID": "pmc123"}, "pmcid"),
        (
            {"custom": {"arxiv_id": "2301.00001v1"}},
            {"custom": {"arxiv_id": "arXiv:2301.00001v3"}},
            "arxiv",
        ),
        (
            {"custom": {"arxiv_id": "2301.00001"}},
            {"DOI": "10.48550/arXiv.2301.00001"},
            "arxiv",
        ),
        ({"URL": "https://arxiv.org/abs/2301.00001"}, {"number": "arXiv:2301.00001"}, "arxiv"),
        (
            {"type": "book", "ISBN": "0-306-40615-2"},
            {"type": "book", "ISBN": "978-0-306-40615-7"},
            "isbn",
        ),
        (
            {"type": "chapter", "ISBN": "9780306406157", "title": "Legs"},
            {"type": "chapter", "ISBN": "0306406152", "title": "LEGS."},
            "isbn",
        ),
        (TITLE, {**TITLE, "title": "Desks: their History"}, "title"),
        (
            {**TITLE, "PMID": "1"},
            {**TITLE, "DOI": "10.1234/x", "author": [{"family": "Smith", "given": "J."}]},
            "title",
        ),
    ],
)
def test_one_work_is_added_once(
    library: Library, there: dict[str, Any], added: dict[str, Any], kind: str
) -> None:
    library.add([there])
    [outcome] = library.add([added])
    assert (outcome.status, outcome.duplicate_type) == ("skipped", kind)


@pytest.mark.requirement("reference-manager:duplicates:different")
@pytest.mark.parametrize(
    ("there", "added"),
    [
        ({"DOI": "10.1234/desk"}, {"DOI": "10.1234/desk.2"}),
        ({"PMID": "123"}, {"PMCID": "PMC123"}),
        ({"URL": "https://a.example"}, {"URL": "https://a.example"}),
        (
            {"type": "chapter", "ISBN": "9780306406157", "title": "Legs"},
            {"type": "chapter", "ISBN": "9780306406157", "title": "Tops"},
        ),
        (
            {"type": "book", "ISBN": "9780306406157"},
            {"type": "chapter", "ISBN": "9780306406157", "title": "Tops"},
        ),
        (TITLE, {**TITLE, "issued": {"date-parts": [[2022]]}}),
        (TITLE, {**TITLE, "author": [{"family": "Jones"}]}),
        ({**TITLE, "DOI": "10.1234/1"}, {**TITLE, "DOI": "10.1234/2"}),
        ({"title": "Editorial"}, {"title": "Editorial"}),
        ({"PMID": "", "DOI": None}, {"PMID": "", "DOI": None}),
    ],
)
def test_different_works_are_both_added(
    library: Library, there: dict[str, Any], added: dict[str, Any]
) -> None:
    library.add([there])
    assert library.add([added])[0].status == "added"


@pytest.mark.requirement("reference-manager:duplicates:order")
def test_an_identifier_decides_before_the_title(library: Library) -> None:
    library.add([{**TITLE, "PMID": "1"}, {"title": "Other", "DOI": "10.1234/x"}])
    [outcome] = library.add([{**TITLE, "DOI": "10.1234/x"}])
    assert (outcome.duplicate_type, outcome.existing_id) == ("doi", "anon-nd-other")


def test_isbns_are_found_in_any_form() -> None:
    assert isbns_in("978-0-306-40615-7 (print), 080442957X") == ["9780306406157", "9780804429573"]
    assert isbns_in("12345678901234567890") == []
