"""Tests what a pasted text is taken for."""

from __future__ import annotations

import pytest

from carrel.library.adding.detect import detect


def kinds(*texts: str) -> list[tuple[str, str | None]]:
    return [(one.kind, one.id.id if one.id else None) for one in detect(texts)]


@pytest.mark.requirement("reference-manager:detection:identifiers")
@pytest.mark.parametrize(
    ("text", "kind", "identifier"),
    [
        ("10.5555/tidy.2019", "doi", "10.5555/tidy.2019"),
        ("https://doi.org/10.5555/tidy.2019", "doi", "10.5555/tidy.2019"),
        ("doi: 10.5555/tidy.2019", "doi", "10.5555/tidy.2019"),
        ("https://journals.example.org/doi/full/10.5555/tidy.2019", "doi", "10.5555/tidy.2019"),
        (
            "https://journals.example.org/doi/pdf/10.5555%2Ftidy.2019?x=1",
            "doi",
            "10.5555/tidy.2019",
        ),
        ("https://journals.example.org/10.5555/tidy.2019.pdf", "doi", "10.5555/tidy.2019"),
        ("arXiv:2307.90101v2", "arxiv", "2307.90101v2"),
        ("https://arxiv.org/pdf/2307.90101", "arxiv", "2307.90101"),
        ("31452104", "pmid", "31452104"),
        ("PMID: 31452104", "pmid", "31452104"),
        ("https://pubmed.ncbi.nlm.nih.gov/31452104/", "pmid", "31452104"),
        ("PMC7096803", "pmcid", "PMC7096803"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC7096803/", "pmcid", "PMC7096803"),
        ("ISBN 978-0-306-40615-7", "isbn", "9780306406157"),
        ("0-306-40615-2", "isbn", "9780306406157"),
        ("9780306406157", "isbn", "9780306406157"),
        ("https://openlibrary.org/isbn/9780306406157", "isbn", "9780306406157"),
        ("https://www.worldcat.org/isbn/0306406152", "isbn", "9780306406157"),
    ],
)
def test_an_identifier_is_read_in_every_form(text: str, kind: str, identifier: str) -> None:
    [found] = detect([text])
    assert found.id is not None
    assert (found.kind, found.id.type, found.id.id) == ("identifier", kind, identifier)


@pytest.mark.requirement("reference-manager:detection:bibliographies")
@pytest.mark.parametrize(
    "text",
    [
        '[{"id": "a", "type": "book"}]',
        '{"id": "a", "type": "book"}',
        "@article{a, title={T}}",
        "% a comment\n@article{a, title={T}}",
        "TY  - JOUR\nTI  - T\nER  - ",
        "PMID- 1\nTI  - T",
        '<?xml version="1.0"?><xml><records></records></xml>',
        "\ufeff@book{a}",
    ],
)
def test_a_bibliography_is_one_input_with_all_its_text(text: str) -> None:
    [found] = detect([text])
    assert (found.kind, found.text) == ("bibliography", text)


@pytest.mark.requirement("reference-manager:detection:order")
@pytest.mark.parametrize(
    ("text", "kind", "identifier"),
    [
        ('[{"id": "a", "type": "book", "note": "@book{b, title={T}}"}]', "bibliography", None),
        ("@article{a, note={TY  - JOUR}, doi={10.5555/a}}", "bibliography", None),
        ("TY  - JOUR\nDO  - 10.5555/a\nAN  - PMID- 1\nER  - ", "bibliography", None),
        ("PMID- 1\nLID - 10.5555/a [doi]", "bibliography", None),
        ("https://doi.org/10.48550/arXiv.2307.90101", "identifier", "arxiv"),
        ("10.5555/2307.90101", "identifier", "doi"),
        ("2307.90101", "identifier", "arxiv"),
        ("0306406152", "identifier", "isbn"),
        ("https://pubmed.ncbi.nlm.nih.gov/30640615/", "identifier", "pmid"),
        ("30640615", "identifier", "pmid"),
    ],
)
def test_what_may_be_several_things_is_the_first_of_the_order(
    text: str, kind: str, identifier: str | None
) -> None:
    [found] = detect([text])
    assert (found.kind, found.id.type if found.id else None) == (kind, identifier)


def test_a_list_of_any_mix_is_several_inputs() -> None:
    text = "10.5555/a, 10.5555/b; PMID: 123\n\n- ISBN 0306406152\nrefs.bib\npaper.PDF\n"
    assert kinds(text) == [
        ("identifier", "10.5555/a"),
        ("identifier", "10.5555/b"),
        ("identifier", "123"),
        ("identifier", "9780306406157"),
        ("file", None),
        ("file", None),
    ]


def test_a_citation_with_one_doi_is_that_work() -> None:
    text = "Marlow A, Okafor J. The tidy desk. Ann Desks 2019;12:737. doi:10.5555/tidy(1).2019."
    assert kinds(text) == [("identifier", "10.5555/tidy(1).2019")]


def test_a_citation_that_is_broken_into_lines_is_one() -> None:
    text = "Marlow A, Okafor J. The tidy desk\nand its drawers. Annals of\nDesks 2019."
    assert kinds(text) == [("citation", None)]


def test_lines_with_a_year_each_are_citations_each() -> None:
    text = "1. Marlow A. The tidy desk. 2019.\n2. Reyes L. Posture at sloped desks. 2021."
    assert [one.text for one in detect([text])] == [
        "Marlow A. The tidy desk. 2019.",
        "Reyes L. Posture at sloped desks. 2021.",
    ]


@pytest.mark.parametrize("text", ["gibberish", "978-0-306-40615-8", "https://example.org/page"])
def test_a_text_that_is_nothing_is_unknown(text: str) -> None:
    assert kinds(text) == [("unknown", None)]


def test_a_blank_text_is_no_input() -> None:
    assert detect(["", "  \n"]) == []
