"""Tests bibliographies of other projects against bibtexparser, rispy, and the items beside them.

The tables name every difference, with its reason.
"""

from __future__ import annotations

import copy
import json
import logging
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.bibliography import WRITABLE, Bibliography, Item, read_bibliography, write_bibliography
from carrel.bibliography.bibtex.in_place import BibtexText
from carrel.bibliography.decoding import decode
from conftest import CORPUS
from support.citation_js import items_of

pytestmark = pytest.mark.long("corpus")

FOLDER = CORPUS / "bib"
BIBTEX = [
    path
    for path in sorted(FOLDER.rglob("*.bib*"))
    if path.suffix in {".bib", ".bibtex", ".biblatex"}
]
#: Files whose content is BetterBibTeX's JSON, despite their names.
NOT_BIBTEX = {path for path in BIBTEX if path.read_bytes().lstrip()[:1] in {b"{", b""}}
BIBTEX = [path for path in BIBTEX if path not in NOT_BIBTEX]
RIS = sorted((FOLDER / "rispy").glob("*.ris"))


def ids(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"[:70]


def read(path: Path) -> Bibliography:
    return read_bibliography(path.read_bytes())


def letters(value: object) -> str:
    """Returns the letters and digits of a text, without tags, accents and case."""
    text = re.sub(r"<[^<>]*>", "", str(value or ""))
    return re.sub(
        r"\W|_", "", unicodedata.normalize("NFKD", text.casefold()).replace("\u0131", "i")
    )


# bibtexparser

#: Keys that bibtexparser reads and we do not, by file.
OTHER_ENTRIES = {
    "biber/names.bib": dict.fromkeys(("L27", "L28"), "in lines that begin with %, as biber has it"),
    "typst-biblatex/valid-comments.bib": {"rlang": "in lines that begin with %, as biber has it"},
}


@pytest.mark.requirement("reference-manager:bibtex-read")
@pytest.mark.parametrize("path", BIBTEX, ids=ids)
def test_every_entry_that_bibtexparser_reads_is_read(path: Path) -> None:
    from bibtexparser.splitter import Splitter

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    text, _ = decode(path.read_bytes())
    found = read(path)
    labels = [one.label for one in found.entries] + [one.label for one in found.unread]
    blocks = Splitter(text).split()
    theirs = [one.key for one in blocks.entries if one.key]
    explained = OTHER_ENTRIES.get(f"{path.parent.name}/{path.name}", {})
    assert [key for key in theirs if key.strip() not in labels and key not in explained] == []
    data = [note for note in found.unread if note.problem.startswith("@xdata")]
    assert len(found.entries) + len(data) >= len(blocks.entries) - len(explained)


def test_only_these_entries_are_not_read() -> None:
    """The others of `unread` are notes on entries that were read, and xdata."""
    lost = {}
    for path in BIBTEX:
        found = read(path)
        labels = {one.label for one in found.entries}
        for one in found.unread:
            known = one.label in labels or one.label == "encoding"
            if not known and not one.problem.startswith("@xdata"):
                lost[f"{path.parent.name}/{path.name}", one.label] = one.problem
    assert lost == {}


# The items of BetterBibTeX's tests, which Zotero imported

#: Why members of an imported item are others in Zotero, by key and member.
_EXPANDED = "Zotero expands the abbreviation of the journal"
ZOTERO_DIFFERS = {
    ("AbbottSnidal:1998", "URL"): "Zotero makes a URL of the DOI",
    ("AbbottSnidal", "URL"): "Zotero makes a URL of the DOI",
    ("minock-kraus-LIAI02", "DOI"): "Zotero's chapters have none; it is in extra",
    ("Kirk:2002er", "DOI"): "Zotero's books have none; it is in extra",
    ("westfall1973a", "publisher"): "Zotero's articles have none",
    ("Straube14infreqPerfEstImbal", "publisher"): "Zotero's articles have none",
    ("kuhne2006matters", "publisher"): "Zotero's articles have none",
    ("test_citation1", "ISSN"): "the item was made from another file",
    ("test_citation2", "ISSN"): "the item was made from another file",
    ("apa-test.9.46:8", "author"): "CSL has a suffix, Zotero writes it into the given name",
    ("Marka.S:2011movie", "author"): "the director is CSL's director",
    ("Marka.S:2011video", "author"): "the director is CSL's director",
    ("DAISYConsortium1", "year"): "Calibre's year of unknown dates, 0100",
    ("DAISYConsortium1", "volume"): "the number in Calibre's series",
    ("MittelbachLaTeXCompanion2006", "title"): "Zotero keeps the command as text",
    ("Zhang_2015", "container-title"): _EXPANDED,
    ("Held_1998", "container-title"): _EXPANDED,
    ("Keller_2014", "container-title"): _EXPANDED,
    ("Shojiki_2015", "container-title"): _EXPANDED,
    ("Song_2015", "container-title"): _EXPANDED,
    ("Zywietz_1998", "container-title"): _EXPANDED,
    ("zcosm02", "container-title"): "the book title is the title itself",
    ("Roy.O:2017a", "title"): "the subtitle follows a colon, in Zotero a full stop",
}
_CREATORS = {"author", "inventor", "programmer", "presenter", "artist", "performer", "director"}
_TITLES = ("title", "caseName", "nameOfAct", "subject")
_CONTAINERS = ("publicationTitle", "bookTitle", "proceedingsTitle")
_PUBLISHERS = ("publisher", "institution", "university")


def zotero_members(item: dict[str, Any]) -> dict[str, str]:
    def first(names: tuple[str, ...]) -> str:
        return next((str(item[name]) for name in names if item.get(name)), "")

    people = [one for one in item.get("creators", ()) if one["creatorType"] in _CREATORS]
    year = re.search(r"\d{4}", str(item.get("date", "")))
    return {
        "title": letters(first(_TITLES)),
        "author": "|".join(sorted(letters(" ".join(words(one))) for one in people)),
        "year": year[0] if year else "",
        "container-title": letters(first(_CONTAINERS)),
        "publisher": letters(first(_PUBLISHERS)),
        **{name: letters(item.get(name)) for name in ("DOI", "ISBN", "ISSN", "volume")},
        "page": letters(item.get("pages")),
        "URL": letters(item.get("url")),
        "abstract": letters(item.get("abstractNote"))[:100],
    }


def words(person: dict[str, Any]) -> list[str]:
    names = ("firstName", "lastName", "name")
    return [str(person[name]) for name in names if person.get(name)]


def our_members(item: Item) -> dict[str, str]:
    order = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal")
    people = [
        letters(" ".join(one[name] for name in order if name in one))
        for one in item.get("author", ())
    ]
    date = item.get("issued", {}).get("date-parts", [[""]])
    names = (
        "title",
        "container-title",
        "publisher",
        "DOI",
        "ISBN",
        "ISSN",
        "volume",
        "page",
        "URL",
    )
    return {
        **{name: letters(item.get(name)) for name in names},
        "author": "|".join(sorted(people)),
        "year": str(date[0][0]),
        "abstract": letters(item.get("abstract"))[:100],
    }


def zotero_pairs(folder: str) -> Iterator[tuple[Item, dict[str, Any]]]:
    for path in BIBTEX:
        beside = path.with_suffix(".json")
        if path.parent.name != folder or not beside.exists():
            continue
        theirs = {
            one.get("citationKey"): one
            for one in json.loads(beside.read_text("utf-8")).get("items", ())
        }
        for entry in read(path).entries:
            if entry.item["id"] in theirs:
                yield entry.item, theirs[entry.item["id"]]


def test_imported_items_are_those_of_zotero(corpus: Path) -> None:
    assert corpus.is_dir()
    compared = 0
    differences = {}
    for item, theirs in zotero_pairs("bbt-import"):
        ours, other = our_members(item), zotero_members(theirs)
        for name in ours:
            compared += 1
            if ours[name] != other[name]:
                differences[item["id"], name] = (ours[name], other[name])
    assert compared > 700
    assert {key: both for key, both in differences.items() if key not in ZOTERO_DIFFERS} == {}


# citation-js's own expectations

CITATION_JS = FOLDER / "citation-js"
#: Members that differ for a reason of their own, by key; `*` is any key.
CITATION_JS_DIFFERS = {
    ("*", "citation-key"): "a copy of the id",
    ("*", "custom"): "fields that CSL has no variable for are kept",
    ("*", "language"): "we give language tags: nl for Dutch",
    ("*", "keyword"): "a blank follows the comma",
    ("*", "type/pamphlet"): "pandoc and Zotero read booklets as pamphlets, citation-js as books",
    ("*", "type/book"): "pandoc and Zotero read manuals as books, citation-js as reports",
    ("*", "type/chapter"): "a book in a book is a part of one",
    ("*", "type/entry-encyclopedia"): "the more specific type of inreference",
    ("*", "genre"): "we write out the names of BibLaTeX: mathesis",
    ("InProceedings", "collection-number"): "with a series, the number is in the series",
    ("InProceedings", "issue"): "with a series, the number is in the series",
    ("swat4hcls:paper", "collection-number"): "with a series, the number is in the series",
    ("swat4hcls:paper", "issue"): "with a series, the number is in the series",
    ("terano:thesis", "number"): "the number of the thesis is kept",
    ("Ekstrand:2009:RYD", "number"): "the article number is kept",
    ("doerr:report", "author"): "`May, Keith, and` is a name with an empty part, not a suffix",
    ("batori_river_2020", "page"): "pages are pages, also of legislation",
    ("batori_river_2020", "section"): "pages are pages, also of legislation",
    ("math", "title"): "a formula with variables is kept",
    ("mathcommand", "title"): "a formula with commands of text is kept",
}


def citation_js_pairs() -> Iterator[tuple[Item, Item]]:
    for name in ("bibtex", "biblatex"):
        found = read(CITATION_JS / f"bibtex-test-mapping-{name}-input.bib").entries
        expected = json.loads(
            (CITATION_JS / f"bibtex-test-mapping-{name}-csl.json").read_text("utf-8")
        )
        yield from zip((one.item for one in found), expected, strict=True)
    for title in ("math", "langid", "date-range", "whitespace and unknown fields",
                  "year and month with date", "year and month without date"):  # fmt: skip
        path = CITATION_JS / f"bibtex-test-input-{title.replace(' ', '_')}.bib"
        cases = json.loads((CITATION_JS / "bibtex-test-input.json").read_text("utf-8"))
        expected = cases["@biblatex/text"][f"with {title}"][1]
        yield from zip((one.item for one in read(path).entries), expected, strict=True)


def test_items_have_all_members_that_citation_js_expects(corpus: Path) -> None:
    assert corpus.is_dir()
    unexplained = {}
    compared = 0
    for ours, theirs in citation_js_pairs():
        for name in {*ours, *theirs}:
            compared += 1
            member = f"type/{ours['type']}" if name == "type" else name
            key = ours["id"]
            if plain_names(ours.get(name)) == plain_names(theirs.get(name)):
                continue
            if not {(key, name), ("*", member)} & CITATION_JS_DIFFERS.keys():
                unexplained[key, name] = (ours.get(name), theirs.get(name))
    assert compared > 450
    assert unexplained == {}


def plain_names(value: object) -> object:
    """Returns names with organisations as family names, as citation-js has them."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [
            {"family" if key == "literal" else key: part for key, part in one.items()}
            for one in value
        ]
    return value


# RIS

#: Files whose records rispy reads otherwise.
RISPY_DIFFERS = {"example_wos.ris": "Web of Science's format, which rispy has another parser for"}


@pytest.mark.requirement("reference-manager:ris-read")
@pytest.mark.parametrize("path", RIS, ids=ids)
def test_records_are_those_of_rispy(path: Path) -> None:
    import rispy

    found = read(path)
    if path.name in RISPY_DIFFERS:
        assert len(found.entries) == 2
        return
    theirs = rispy.loads(path.read_text("utf-8-sig"))
    assert len(found.entries) == len(theirs)
    for entry, record in zip(found.entries, theirs, strict=True):
        names = ("given", "non-dropping-particle", "family", "literal")
        people = [
            letters(" ".join(one.get(n, "") for n in names)) for one in entry.item.get("author", ())
        ]
        expected = record.get("authors") or record.get("first_authors") or []
        swapped = [letters(" ".join(reversed(one.split(",")))) for one in expected]
        assert [sorted(one) for one in people] == [sorted(one) for one in swapped]
        title = record.get("title") or record.get("primary_title") or record.get("short_title")
        if title:
            assert letters(entry.item.get("title")) == letters(title)
        assert letters(entry.item.get("DOI")) == letters(record.get("doi")).removeprefix(
            "httpdxdoiorg"
        )
        volume = record.get("volume") or "".join(record.get("unknown_tag", {}).get("VO", ()))
        assert str(entry.item.get("volume", "")) == volume


# Writing and editing


@pytest.mark.parametrize("path", [*BIBTEX, *RIS], ids=ids)
def test_every_bibliography_is_written_in_every_format_without_loss_of_entries(path: Path) -> None:
    items = [one.item for one in read(path).entries]
    for name in WRITABLE:
        text = write_bibliography(items, name)
        if name != "word" and items:
            again = read_bibliography(text, name)
            assert len(again.entries) == len(items), name


@pytest.mark.parametrize("path", BIBTEX, ids=ids)
def test_an_edit_changes_only_the_bytes_of_its_entry(path: Path) -> None:
    text, _ = decode(path.read_bytes())
    bibliography = BibtexText(text)
    assert bibliography.edited({}, ()) == text
    for place, (_, item, (start, end)) in list(enumerate(bibliography.entries))[:12]:
        assert bibliography.edited({place: copy.deepcopy(item)}, ()) == text
        new = {
            **item,
            "title": "Desks & chairs",
            "issued": {"date-parts": [[1999, 4]]},
            "note": "x",
        }
        edited = bibliography.edited({place: new}, ())
        assert edited[:start] == text[:start]
        assert edited.endswith(text[end:])
        again = BibtexText(edited).entries
        assert len(again) == len(bibliography.entries)
        found = again[place][1]
        assert [found[name] for name in ("title", "issued", "note")] == [
            "Desks & chairs", {"date-parts": [[1999, 4]]}, "x",
        ]  # fmt: skip
        removed = bibliography.edited({place: None}, ())
        assert removed[:start] == text[:start]
        assert text[end:].endswith(removed[start:])


# citation-js, run over all files

#: Commands that citation-js keeps as text.
_COMMANDS = (
    "acute", "noopsort", "relax", "hspace", "null", "cdot", "mbox", "quad", "bar", "overline",
    "left", "rightarrow", "backslash", "dots", "space",
)  # fmt: skip
#: Members that are others for a reason of their own, by key.
RUN_DIFFERS = {
    ("Yeh1985", "title"): "a `less than` that Zotero wrote as a tag",
    ("test_citation1", "title"): "commands for space and units",
    ("test_citation2", "title"): "commands for space",
    ("kastenholz", "title"): "the command for a hyphen",
    ("InputWikiGoLaTeX", "title"): "the command for a backslash",
    ("test1", "title"): "the encoding is guessed otherwise",
    ("math", "title"): "a formula with variables is kept",
    ("mathcommand", "title"): "a formula with commands of text is kept",
    ("b", "title"): "\\href has its text, an undefined string its name",
    ("c", "title"): "an unknown command has its argument",
    ("d", "title"): "an article does not inherit the title of a book",
    ("ill-defined", "title"): "a work of several volumes has its main title",
    ("ill-defined", "container-title"): "a work of several volumes has its main title",
    ("zcosm02", "container-title"): "the book title is the title itself",
    ("westfahl:frontier", "container-title"): "the book title is the title itself",
    ("rashid2016", "year"): "19XXX is no year",
    ("conigliocorbalan", "year"): "2012-XX-1X is no date",
    ("seco2016", "author"): "an accent over a dotless i",
    ("doerr:report", "author"): "`May, Keith, and` is a name with an empty part",
    ("Doerr2019Definition", "author"): "a suffix with an empty given name",
    ("b", "author"): "names are split as BibTeX does",
    ("badname", "author"): "an `and` before the first name is none",
    ("brausse2019", "URL"): "the escape of an underscore is none of the URL's",
    ("Foo2021", "URL"): "a blank is no character of a URL",
    ("a", "URL"): "other characters are kept as they are written",
    ("c", "URL"): "percent signs are kept as they are written",
    ("weirdUrl2023", "URL"): "escapes are none of the URL's",
    ("xdann1", "publisher"): "xdata",
}


def run_members(item: Item) -> dict[str, str]:
    date = (item.get("issued") or {}).get("date-parts") or [[""]]
    members = our_members({**item, "author": item.get("author") or [], "issued": {}})
    return {**members, "year": str((date[0] or [""])[0])}


def is_explained(key: str, name: str, ours: str, theirs: str) -> bool:
    return (
        theirs
        in {"", "0"}  # we read more: inherited fields, journals of books, years before Christ
        or any(command in theirs for command in _COMMANDS)
        or theirs.startswith("|")  # options among names, and references to xdata
        or "xdata" in ours + theirs
        or ours.replace("and", "") == theirs.replace("and", "")  # lists stay as they are written
        or (key, name) in RUN_DIFFERS
    )


def test_items_are_those_of_citation_js(corpus: Path) -> None:
    assert corpus.is_dir()
    unexplained = {}
    compared = 0
    for path, expected in items_of(BIBTEX).items():
        entries = [one.item for one in read(path).entries]
        for theirs in expected or ():
            key = theirs.get("citation-key", "")
            item = next((one for one in entries if one["id"] == key), None)
            if item is None:  # xdata; `test_every_entry…` is about entries
                continue
            entries.remove(item)
            ours, other = run_members(item), run_members(theirs)
            for name in ours:
                compared += 1
                if ours[name] != other[name] and not is_explained(
                    key, name, ours[name], other[name]
                ):
                    unexplained[path.name, key, name] = (ours[name], other[name])
    assert compared > 15_000
    assert unexplained == {}
