"""Compares RIS as programs and databases export it with citation-js, and names each difference."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from carrel.bibliography import Item, read_bibliography, write_bibliography
from conftest import CORPUS
from support.citation_js import items_of

FIXTURES = Path(__file__).parents[2] / "fixtures" / "ris"
#: The exports; `odd.ris` is what no program writes on purpose, and citation-js refuses it.
EXPORTS = sorted(path for path in FIXTURES.glob("*.ris") if path.name != "odd.ris")

#: Members that differ for the same reason in all files.
ALWAYS = {
    "id": "citation-js makes one where there is no ID",
    "custom": "values that CSL has no variable for are kept",
    "page-first": "the pages have it",
    "language": "we give language tags",
}
_DATABASE = "DB is CSL's archive, DP its source"
_PLACE = "C1 is the place of the conference, CY that of the publisher"
#: Members that differ for a reason of their own, by file, title and member.
DIFFERS = {
    ("databases", "Desks in Offices", "ISSN"): "each number once",
    ("databases", "Desks in Schools.", "archive_location"): "AV is the availability of a text",
    ("databases", "Desks in Schools.", "source"): _DATABASE,
    ("databases", "Desks and backs.", "source"): _DATABASE,
    ("jstor", "The Desk in Antiquity", "source"): _DATABASE,
    ("scopus", "Walls around desks", "source"): _DATABASE,
    ("scopus", "Lamps in walls", "source"): _DATABASE,
    ("databases", "Desks & lamps", "note"): "the note is the DOI",
    ("publishers", "Desks of the north", "note"): "the note is the DOI",
    ("publishers", "Desks of the north", "genre"): "the genre is the DOI",
    ("jstor", "The Desk in Antiquity", "genre"): "the genre is the DOI",
    ("endnote", "Walled desks: a review of the evidence", "issued"): "`Mar 5` has no year",
    ("endnote", "Walled desks: a review of the evidence", "URL"): "each line is a URL",
    ("endnote", "Walled desks: a review of the evidence", "ISSN"): "without what it is of",
    ("endnote", "On Desks", "page"): "the pages of a book are their number",
    ("refworks", "On desks", "page"): "the pages of a book are their number",
    ("endnote", "The Collected Desk", "container-title"): "the second title of a book, its series",
    ("endnote", "Lamps on desks", "event-title"): "styles show the container",
    ("endnote", "Lamps on desks", "event-place"): _PLACE,
    ("zotero", "A desk for everyone", "publisher-place"): _PLACE,
    ("zotero", "A desk for everyone", "event-date"): "the date is that of the proceedings",
    ("publishers", "A desk network", "event-date"): "the date is that of the proceedings",
    ("scopus", "Lamps in walls", "event-date"): "the date is that of the proceedings",
    ("publishers", "A desk network", "event-title"): "styles show the container",
    ("scopus", "Lamps in walls", "event-title"): "styles show the container",
    ("publishers", "A desk network", "ISBN"): "the number is an ISSN",
    ("zotero", "About desks", "collection-title"): "the second title of a page is its site",
    ("publishers", "Desks as systems", "container-title"): "ScienceDirect's T2 is an issue's title",
    ("jstor", "Review of On Desks", "container-title"): "JF is the full title, JO the short one",
    ("refworks", "Desks: an introduction", "container-title"): "JF is the full title",
    ("scopus", "Walls around desks", "ISSN"): "the ISBN beside it is an ISBN",
    ("web_of_science", "WALLED DESKS", "issued"): "DA without a year",
    ("web_of_science", "LAMPS", "issued"): "DA without a year",
    ("web_of_science", "LAMPS", "author"): "A1 is an organisation beside the authors",
    ("web_of_science", "LAMPS", "event-title"): "CP is the title of the conference",
    ("web_of_science", "LAMPS", "publisher-place"): "C1 are the addresses of the authors",
}  # fmt: skip
#: The same in files of other projects.
CORPUS_DIFFERS = {
    ("example_empty_tag", "ISSN"): "without what it is of",
    ("example_full_write", "container-title-short"): "JA alone is the title of the journal",
    ("example_urls", "URL"): "the first of two; the other is kept",
}


def names(value: object) -> list[str]:
    order = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal")
    return [
        letters("".join(sorted(" ".join(one[key] for key in order if one.get(key)))))
        for one in (value if isinstance(value, list) else ())
    ]


def letters(value: object) -> str:
    return re.sub(r"\W|_", "", str(value or "")).lower()


def same(name: str, ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list) or name in {"author", "editor", "collection-editor", "translator"}:
        return names(ours) == names(theirs)
    if name == "issued" and isinstance(theirs, dict) and "raw" in theirs:
        text = write_bibliography([{"id": "a", "issued": theirs}], "ris")
        [entry] = read_bibliography(text).entries
        return bool(entry.item.get("issued") == ours)
    if isinstance(ours, dict):
        parts = (theirs or {}).get("date-parts")
        return parts is not None and ours["date-parts"][0][: len(parts[0])] == parts[0]
    if isinstance(theirs, list):
        theirs = " ".join(theirs)
    return letters(ours) == letters(theirs)


def differences(path: Path, theirs: list[Item]) -> dict[tuple[str, str, str], Any]:
    found = {}
    entries = read_bibliography(path.read_bytes()).entries
    assert len(entries) == len(theirs)
    for entry, other in zip(entries, theirs, strict=True):
        for name in {*entry.item, *other} - ALWAYS.keys() - {"_graph"}:
            ours = entry.item.get(name)
            if other.get(name) and not same(name, ours, other[name]):
                found[path.stem, str(entry.item.get("title")), name] = (ours, other[name])
    return found


def test_exports_are_read_as_citation_js_reads_them() -> None:
    found: dict[tuple[str, str, str], Any] = {}
    for path, theirs in items_of(EXPORTS).items():
        assert theirs, path
        found |= differences(path, theirs)
    assert {key: both for key, both in found.items() if key not in DIFFERS} == {}
    assert [key for key in DIFFERS if key not in found] == []


@pytest.mark.long("corpus")
def test_files_of_other_projects_are_read_as_citation_js_reads_them(corpus: Path) -> None:
    assert corpus.is_dir()
    compared = 0
    found: dict[tuple[str, str, str], Any] = {}
    for path, theirs in items_of(sorted((CORPUS / "bib").rglob("*.ris"))).items():
        if theirs is not None:
            compared += len(theirs)
            found |= differences(path, theirs)
    assert compared > 15
    others = {(key[0], key[2]): both for key, both in found.items()}
    assert {key: both for key, both in others.items() if key not in CORPUS_DIFFERS} == {}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.ris")), ids=lambda path: path.stem)
@pytest.mark.parametrize("how", ["crlf", "cr", "bom", "latin-1", "utf-16", "no-end", "small-gaps"])
def test_an_export_is_read_alike_in_other_bytes(path: Path, how: str) -> None:
    text = path.read_text("utf-8")
    if how == "small-gaps" and path.name == "odd.ris":
        pytest.skip("it has small gaps of its own")
    data = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "cr": text.replace("\n", "\r").encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "latin-1": text.encode("cp1252"),
        "utf-16": text.encode("utf-16"),
        "no-end": re.sub(r"(?m)^ER.*$", "", text).encode(),
        "small-gaps": re.sub(r"(?m)^([A-Z][A-Z0-9])  -", r"\1 -", text).encode(),
    }[how]
    if how == "no-end" and path.name == "odd.ris":
        pytest.skip("without an end, a record without a type is part of the one before")
    expected = [entry.item for entry in read_bibliography(text).entries]
    assert [entry.item for entry in read_bibliography(data).entries] == expected


def test_no_word_of_an_odd_file_is_lost() -> None:
    text = (FIXTURES / "odd.ris").read_text("utf-8").replace("junk between records\n", "")
    found = read_bibliography(text)
    rendered = str([entry.item for entry in found.entries])
    values = (line.partition("- ")[2] or line for line in text.splitlines() if "TY" not in line)
    words = {word for value in values for word in re.findall(r"\w{2,}", value)}
    assert sorted(word for word in words if word not in rendered) == ["AU", "ER", "TI", "rprt"]
    assert [(one.line, one.problem) for one in found.unread] == [
        (48, "it has no type (TY); it was read as a document"),
        (51, "it has no tags besides its type"),
    ]
