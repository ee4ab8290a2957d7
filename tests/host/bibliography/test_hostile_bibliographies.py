"""Reads bibliographies with the faults that people and programs make: nothing is lost silently."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.bibliography import Bibliography, Item, read_bibliography, write_bibliography


def bibtex(text: str) -> Bibliography:
    return read_bibliography(text, "bibtex")


def items(found: Bibliography) -> dict[str, Item]:
    return {entry.label: entry.item for entry in found.entries}


def problems(found: Bibliography) -> list[tuple[str, int | None, str]]:
    return [(one.label, one.line, one.problem) for one in found.unread]


# Values that are not closed


def test_a_brace_that_is_not_closed_costs_no_entry_and_no_field() -> None:
    found = bibtex(
        "@article{bad,\n  title = {On {desks},\n  author = {Desk, Ann},\n  year = 2001\n}\n"
        "@article{good, title={Lamps}}\n"
    )
    assert items(found) == {
        "bad": {
            "id": "bad", "type": "article-journal", "title": "On desks",
            "author": [{"family": "Desk", "given": "Ann"}], "issued": {"date-parts": [[2001]]},
        },
        "good": {"id": "good", "type": "article-journal", "title": "Lamps"},
    }  # fmt: skip
    [(label, line, problem)] = problems(found)
    assert (label, line) == ("bad", 1)
    assert "the brace of 'title' is not closed" in problem


def test_a_quote_that_is_not_closed_swallows_no_entry() -> None:
    found = bibtex(
        '@article{bad, title = "On desks,\n  year = 2001\n}\n'
        '@article{next, title = "Lamps"}\n@book{last, title = "Walls"}\n'
    )
    assert {key: one["title"] for key, one in items(found).items()} == {
        "bad": "On desks", "next": "Lamps", "last": "Walls",
    }  # fmt: skip
    assert items(found)["bad"]["issued"] == {"date-parts": [[2001]]}
    assert [(label, line) for label, line, _ in problems(found)] == [("bad", 1)]


def test_a_quoted_address_of_mail_is_no_entry() -> None:
    found = bibtex('@misc{a, title = "Desks", note = "write to\n @desk or a@desk.example"}')
    assert items(found)["a"]["note"] == "write to @desk or a@desk.example"
    assert found.unread == ()


def test_the_last_entry_without_its_end_is_read() -> None:
    found = bibtex("@article{a, title={Desks},\n author={Desk, Ann},\n note={open")
    assert items(found)["a"]["note"] == "open"
    assert items(found)["a"]["author"] == [{"family": "Desk", "given": "Ann"}]
    assert len(found.unread) == 1


# Fields and strings


def test_a_field_that_is_given_twice_is_reported() -> None:
    found = bibtex("@book{a, title={One}, title={Two},\n author={A, B}, author={C, D}}")
    assert items(found)["a"]["title"] == "One"
    assert [one["family"] for one in items(found)["a"]["author"]] == ["A", "C"]
    assert problems(found) == [("a", 1, "it has a second 'title', 'Two', which was left out")]


def test_an_undefined_string_is_reported() -> None:
    found = bibtex("@string{d = {Desks}}\n@article{a, title = D # { and } # lamps, month = July}")
    assert items(found)["a"]["title"] == "Desks and lamps"
    assert problems(found) == [
        ("a", 2, "the string 'lamps' is not defined; its name was read"),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2003/04", {"issued": {"date-parts": [[2003], [2004]]}}),
        ("2003/04}, month = {Jul.", {"custom": {"bibtex": {"month": "Jul."}}}),
        ("1999}, month = jan # {~15", {"issued": {"date-parts": [[1999, 1, 15]]}}),
        ("1999/2001", {"issued": {"date-parts": [[1999], [2001]]}}),
    ],
)
def test_years_of_two_and_months_are_kept(source: str, expected: Item) -> None:
    found = items(bibtex(f"@article{{a, year = {{{source}}}}}"))["a"]
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"A, B and \v{C}apek, Karel", [("A", "B"), ("Čapek", "Karel")]),
        ("A, B and", [("A", "B")]),
        ("and A, B", [("A", "B")]),
        ("A, B and and C, D", [("A", "B"), ("C", "D")]),
        ("A, B AND C, D\n  and E, F", [("A", "B"), ("C", "D"), ("E", "F")]),
        ("A, B; C, D", [("A", "B"), ("C", "D")]),
        ("Smith, John, III", [("Smith", "John", "III")]),
        ("Smith, Jr., John", [("Smith", "John", "Jr.")]),
        (r"\textsc{Desk}, Ann", [("Desk", "Ann")]),
        ("A, B and et al.", [("A", "B"), ("others",)]),
        ("{A and B}", [("A and B",)]),
    ],
)
def test_names_are_split_as_they_are_meant(source: str, expected: list[tuple[str, ...]]) -> None:
    found = items(bibtex(f"@book{{a, author = {{{source}}}}}"))["a"]["author"]
    assert [
        tuple(one[part] for part in ("literal", "family", "given", "suffix") if part in one)
        for one in found
    ] == expected


def test_formulas_in_parentheses_are_formulas() -> None:
    assert items(bibtex(r"@book{a, title={\(\beta\) to $\pi$}}"))["a"]["title"] == "β to π"


# CSL-JSON


def written(item: dict[str, Any], name: str = "biblatex") -> Item:
    [entry] = read_bibliography(json.dumps([{"id": "a", "type": "book", **item}])).entries
    [again] = read_bibliography(write_bibliography([entry.item], name), name).entries
    return again.item


@pytest.mark.parametrize("name", ["biblatex", "ris", "endnote"])
@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ({"date-parts": [["2019", "05", "14"]]}, {"date-parts": [[2019, 5, 14]]}),
        ({"date-parts": [2019, 5]}, {"date-parts": [[2019, 5]]}),
        ({"date-parts": [[2019, 21]]}, {"date-parts": [[2019]], "season": 1}),
        ({"date-parts": [[2019]], "season": "Winter"}, {"date-parts": [[2019]], "season": 4}),
        ({"raw": "14 May 2019"}, {"date-parts": [[2019, 5, 14]]}),
        ({"edtf": "2019-05"}, {"date-parts": [[2019, 5]]}),
        ({"year": 2019, "month": 5, "day": 3}, {"date-parts": [[2019, 5, 3]]}),
        ({"literal": "in press"}, {"literal": "in press"}),
        ("2019-05-14", {"date-parts": [[2019, 5, 14]]}),
        (2019, {"date-parts": [[2019]]}),
    ],
)
def test_dates_of_any_shape_are_written(name: str, date: Any, expected: Any) -> None:
    assert written({"issued": date}, name)["issued"] == expected


def test_members_of_other_shapes_are_written() -> None:
    found = written(
        {
            "type": "journal-article", "title": ["Desks", "Second"], "volume": 12, "page": 7,
            "container-title": ["Annals"], "ISSN": ["1234-5679", "2345-6780"],
            "author": [{"firstName": "Ann", "lastName": "Desk"}, {"name": "Desk Office"}, "Plain"],
        }
    )  # fmt: skip
    assert found == {
        "id": "a", "type": "article-journal", "title": "Desks", "volume": "12", "page": "7",
        "container-title": "Annals", "ISSN": "1234-5679, 2345-6780",
        "author": [{"given": "Ann", "family": "Desk"}, {"literal": "Desk Office"},
                   {"literal": "Plain"}],
    }  # fmt: skip


# EndNote XML


def endnote(inner: str, kind: str = "17") -> Bibliography:
    return read_bibliography(
        f"<xml><records>\n<record><ref-type>{kind}</ref-type>{inner}</record></records></xml>"
    )


def test_an_ampersand_that_is_not_escaped_is_read_and_reported() -> None:
    found = endnote("<titles><title>Desks & lamps&nbsp;&eacute; &lt;</title></titles>")
    assert found.entries[0].item["title"] == "Desks & lamps é <"
    [(label, line, problem)] = problems(found)
    assert (label, line) == ("record 1", 2)
    assert "ampersand" in problem


def test_elements_that_no_variable_has_are_kept_and_written_again() -> None:
    inner = (
        "<titles><title>Desks</title></titles><auth-address>Here &amp; there</auth-address>"
        "<urls><related-urls><url>https://a.example</url><url>https://b.example</url>"
        "</related-urls><pdf-urls><url>a.pdf</url></pdf-urls></urls><custom5>five</custom5>"
    )
    found = endnote(inner).entries[0].item
    assert found["URL"] == "https://a.example"
    assert found["custom"]["endnote"] == {
        "auth-address": ["Here & there"], "custom5": ["five"], "pdf-urls": ["a.pdf"],
        "related-urls": ["https://b.example"],
    }  # fmt: skip
    text = write_bibliography([found], "endnote")
    assert "<auth-address>Here &amp; there</auth-address><custom5>five</custom5>" in text


def test_books_have_the_editors_of_their_series_second() -> None:
    inner = (
        "<contributors><authors><author>A, B</author></authors>"
        "<secondary-authors><author>Series, S</author></secondary-authors>"
        "<tertiary-authors><author>Editor, E</author></tertiary-authors></contributors>"
        "<pages>320</pages>"
    )
    found = endnote(inner, "6").entries[0].item
    assert found["collection-editor"] == [{"family": "Series", "given": "S"}]
    assert found["editor"] == [{"family": "Editor", "given": "E"}]
    assert found["number-of-pages"] == "320"
    again = read_bibliography(write_bibliography([found], "endnote")).entries[0].item
    assert again == {**found, "id": again["id"]}


def test_papers_in_proceedings_keep_the_conference() -> None:
    inner = (
        "<titles><title>Desks</title><secondary-title>Third Conference</secondary-title></titles>"
        "<custom3>Proceedings</custom3><custom1>Example Town</custom1>"
    )
    found = endnote(inner, "10").entries[0].item
    values = [found[name] for name in ("container-title", "event-title", "event-place")]
    assert values == ["Proceedings", "Third Conference", "Example Town"]
    again = read_bibliography(write_bibliography([found], "endnote")).entries[0].item
    assert again == {**found, "id": again["id"]}
