"""Tests that the table of members is what round trips keep."""

from __future__ import annotations

from carrel.bibliography import FORMATS
from carrel.bibliography.errors import BIBLIOGRAPHY_CODES
from support.bibliographies import EXPRESSED, MERGED
from support.pages import page

REFERENCE = "docs/reference/bibliography-formats.md"


def rows(columns: int) -> dict[str, list[str]]:
    found = [row for row in page(REFERENCE).rows() if len(row) == columns]
    return {row[0].strip("`"): row[1:] for row in found if row[0].startswith("`")}


def test_the_members_of_each_format_are_those_that_a_round_trip_keeps() -> None:
    documented = {name: cells for name, cells in rows(4).items() if name not in FORMATS}
    expected = {
        name: ["yes" if name in EXPRESSED[one] else "no" for one in ("biblatex", "ris", "endnote")]
        for members in EXPRESSED.values()
        for name in members
    }
    assert documented == expected


def test_every_format_and_every_code_is_described() -> None:
    assert set(FORMATS) <= set(rows(4))
    assert set(rows(2)) == set(BIBLIOGRAPHY_CODES)


def test_types_that_become_others_are_named() -> None:
    text = page(REFERENCE).prose
    for merged in MERGED.values():
        assert [name for name in merged if f"`{name}`" not in text] == []
