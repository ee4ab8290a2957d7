"""Searches: the index returns what a plain reading of the rules returns."""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.library.library import Library
from carrel.library.search import asking, blocks, index
from carrel.library.search import matching as search_matching
from carrel.text.folding import folded_letters as letters

from .conftest import SMITH, Open

_LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}


def plain(text: str) -> str:
    """Folds a text by the rules of the reference page, one character at a time."""
    folded = []
    for one in unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.combining(one):
            continue
        letters = _LETTERS.get(one, one)
        folded.append(letters if letters.isalnum() or letters == "/" else " ")
    return " ".join("".join(folded).split())


def runs(text: str) -> list[str]:
    bare = "".join(
        one for one in unicodedata.normalize("NFKD", text) if not unicodedata.combining(one)
    )
    return re.findall("[A-Z]{2,}", bare)


def fields(item: dict[str, Any]) -> dict[str, list[str]]:
    people = [
        " ".join(part for part in (one.get("family", ""), one.get("given", "")) if part)
        for one in item.get("author", [])
    ]
    return {
        "title": [item.get("title", "")],
        "author": people,
        "venue": [item.get("container-title", "")],
        "publisher": [item.get("publisher", "")],
        "keyword": [one.strip() for one in item.get("keyword", "").split(";")],
        "tag": item.get("custom", {}).get("tags", []),
        "abstract": [item.get("abstract", "")],
    }


def in_field(term: str, values: list[str]) -> bool:
    wanted = plain(term)
    if not wanted:
        return True
    cased = [run for value in values for run in runs(value)]
    return any(wanted in plain(value) for value in values) and all(
        any(run in other for other in cased) for run in runs(term)
    )


def year(item: dict[str, Any]) -> str:
    return str(item["issued"]["date-parts"][0][0]) if "issued" in item else ""


_WEIGHTS = {
    "title": 32, "author": 16, "keyword": 8, "tag": 8, "venue": 4, "publisher": 2, "abstract": 1,
}  # fmt: skip


def in_order(
    items: list[dict[str, Any]], terms: Sequence[tuple[str | None, str]], sort: str
) -> list[str]:
    """Returns the keys of matches, the best or highest first."""
    places = {item["id"]: place for place, item in enumerate(items)}

    def value(item: dict[str, Any]) -> tuple[Any, ...]:
        if sort == "relevance":
            names = [text for field, text in terms if field is None]
            named = [item["id"], item.get("DOI", "").lower(), item.get("PMID"), item.get("URL")]
            first = [
                number
                for number, name in enumerate(names)
                if name in named or (name.lower() == named[1] and name)
            ]
            if first:
                return 0, first[0], -places[item["id"]]
            score = sum(
                next((w for name, w in _WEIGHTS.items() if in_field(text, fields(item)[name])), 0)
                for field, text in terms
                if field is None or field in _WEIGHTS
            )
            return 1, -score, -int(year(item) or 0), places[item["id"]]
        texts = {
            "created": item.get("custom", {}).get("created_at", ""),
            "published": f"{year(item)}-00-00" if year(item) else "",
            "title": letters(item.get("title", "")),
            "author": letters(
                " ; ".join(one.get("family", "") for one in item["author"])
                if "author" in item
                else ""
            ),
        }
        return texts[sort], places[item["id"]]

    found = sorted((item for item in items if matches(item, terms)), key=value)
    return [item["id"] for item in (found if sort == "relevance" else reversed(found))]


def matches(item: dict[str, Any], terms: Sequence[tuple[str | None, str]]) -> bool:
    exact = {
        "id": item["id"],
        "year": year(item),
        "type": item["type"],
        "doi": item.get("DOI", ""),
        "pmid": item.get("PMID", ""),
        "url": item.get("URL", ""),
    }

    def one(field: str | None, text: str) -> bool:
        if field == "doi":
            return bool(exact["doi"].lower() == text.lower())
        if field in exact:
            return bool(exact[field] == text)
        if field:
            return in_field(text, fields(item)[field])
        return (
            any(in_field(text, values) for values in fields(item).values())
            or text in (exact["id"], exact["year"], exact["pmid"] or None, exact["url"] or None)
            or bool(exact["doi"] and exact["doi"].lower() == text.lower())
        )

    return all(one(field, text) for field, text in terms)


_VOCABULARY = """
    desk desks Desk DESK RNA mRNA DNA Müller muller MÜLLER oak-table oak table Ø ärger a ab Al AI
    深層 学習 深層学習 習 ß Strasse Straße ﬁne fine 1999 2001 10.1234/a x/y Łódź İ - & …
"""
_WORDS = st.sampled_from(_VOCABULARY.split())
#: Terms that many entries have: parts of words.
_FREQUENT = st.sampled_from(["desk", "a", "e", "s", "r", "-", "oak", "1999", "book"])
_TEXT = st.lists(_WORDS, max_size=4).map(" ".join)
_ITEMS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["book", "article"])},
        optional={
            "title": _TEXT,
            "publisher": _TEXT,
            "URL": st.just("https://a.example/1"),
            "PMID": st.just("31452104"),
            "author": st.lists(
                st.fixed_dictionaries({"family": _TEXT, "given": _TEXT}), max_size=2
            ),
            "container-title": _TEXT,
            "keyword": st.lists(_TEXT, max_size=3).map("; ".join),
            "abstract": _TEXT,
            "custom": st.fixed_dictionaries(
                {"tags": st.lists(_TEXT, max_size=2)},
                optional={"created_at": st.sampled_from(["2026-01-01", "2026-02-01"])},
            ),
            "issued": st.sampled_from([1999, 2001]).map(lambda year: {"date-parts": [[year]]}),
            "DOI": st.sampled_from(["10.1234/a", "10.1234/B"]),
        },
    ),
    max_size=6,
)
_TERMS = st.lists(
    st.tuples(
        st.sampled_from([None, None, None, "title", "author", "keyword", "tag", "year", "doi", "id",
                         "type", "pmid", "url"]),
        st.one_of(_FREQUENT, _FREQUENT, _WORDS,
                  st.lists(_WORDS, min_size=2, max_size=3).map(" ".join),
                  st.sampled_from(["e0", "e1", "book", "esk", "学", "earn", "31452104",
                                   "https://a.example/1"])),
    ),
    min_size=1, max_size=2,
)  # fmt: skip
#: What is done for large libraries only, and what for small ones.
_LARGE = {"_RARE": 0, "_SORTED": 0, "_FEW": 0, "BLOCK": 2}


@pytest.mark.requirement("library:found:rules")
@pytest.mark.property
@given(_ITEMS, st.lists(_TERMS, min_size=1, max_size=5), st.booleans())
def test_a_search_returns_what_the_rules_say(
    items: list[dict[str, Any]], queries: list[list[tuple[str | None, str]]], is_large: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (asking, blocks, index, search_matching):
            for name, value in _LARGE.items():
                if is_large and hasattr(module, name):
                    patch.setattr(module, name, value)
        check(items, queries)


def check(items: list[dict[str, Any]], queries: list[list[tuple[str | None, str]]]) -> None:
    items = [{"id": f"e{number}", **item} for number, item in enumerate(items)]
    with TemporaryDirectory() as name:
        path = Path(name, "library.json")
        path.write_text(json.dumps(items), "utf-8")
        library = Library.open(path, cache_folder=Path(name), backup_folder=Path(name, "b"))
        try:
            for terms in queries:
                query = " ".join(
                    (f"{field}:" if field else "") + f'"{text}"' for field, text in terms
                )
                for sort in ("relevance", "created", "published", "author", "title"):
                    expected = in_order(items, terms, sort)
                    assert ids(library, query, sort=sort, limit=0) == expected, (query, sort)
                    upwards = ids(library, query, sort=sort, order="asc", limit=0)
                    assert upwards == expected[::-1], (query, sort)
                    page = library.search(query, sort=sort, limit=2, offset=1)
                    assert [one["id"] for one in page.items] == expected[1:3], (query, sort)
                    assert page.total == len(expected)
        finally:
            library.close()


def ids(library: Library, query: str, **options: Any) -> list[str]:
    return [one["id"] for one in library.search(query, **options).items]


ENTRIES = [
    {"id": "desk", "type": "book", "title": "Oak desks", "author": [{"family": "Müller"}],
     "ISBN": "0-306-40615-2", "URL": "https://a.example/desk"},
    {"id": "rna", "type": "article-journal", "title": "Folding of RNA", "PMID": "31452104",
     "container-title": "Journal of Desks", "issued": {"date-parts": [[2001]]},
     "custom": {"tags": ["to read"], "additional_urls": ["https://b.example"]}},
    {"id": "2001", "type": "book", "title": "A journey", "PMCID": "PMC7096803",
     "keyword": "space; ships", "DOI": "10.1234/Space.1"},
]  # fmt: skip


@pytest.mark.requirement("reference-manager:query:fields")
@pytest.mark.requirement("reference-manager:folding")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("desks", {"desk", "rna"}),
        ("desks oak", {"desk"}),
        ("muller", {"desk"}),
        ("MÜLLER", set()),  # capitals match with case
        ("Müller", {"desk"}),
        ("author:muller", {"desk"}),
        ("title:muller", set()),
        ("RNA", {"rna"}),
        ("rna", {"rna", "2001"} - {"2001"}),
        ("jour", {"rna", "2001"}),
        ('"of rna"', {"rna"}),
        ("year:2001", {"rna"}),
        ("2001", {"rna", "2001"}),
        ("isbn:9780306406157", {"desk"}),
        ("isbn:0306406152", {"desk"}),
        ("pmid:31452104", {"rna"}),
        ("31452104", {"rna"}),
        ("3145210", set()),
        ("pmcid:7096803", {"2001"}),
        ("PMC7096803", {"2001"}),
        ("doi:10.1234/SPACE.1", {"2001"}),
        ("https://doi.org/10.1234/space.1", {"2001"}),
        ("url:https://b.example", {"rna"}),
        ("https://a.example/desk", {"desk"}),
        ("id:rna", {"rna"}),
        ("id:RNA", set()),
        ("type:book", {"desk", "2001"}),
        ("type:article", set()),
        ("keyword:ships", {"2001"}),
        ('"space ships"', set()),
        ("tag:read", {"rna"}),
        ('tag:"to read"', {"rna"}),
        ("o", {"desk", "rna", "2001"}),
        ("title:o desks", {"desk", "rna"}),
        ("-", {"desk", "rna", "2001"}),
    ],
)
def test_a_search_finds_entries(open_library: Open, query: str, found: set[str]) -> None:
    library = open_library()
    library.path.write_text(json.dumps(ENTRIES), "utf-8")
    assert set(ids(library, query)) == found


def test_the_best_match_is_first(library: Library) -> None:
    library.add([
        {"id": "in-abstract", "type": "book", "abstract": "desks"},
        {"id": "in-title", "type": "book", "title": "Of desks"},
        {"id": "desks", "type": "book", "title": "Chairs"},
        {"id": "in-venue", "type": "book", "container-title": "Desks"},
    ])  # fmt: skip
    assert ids(library, "desks") == ["desks", "in-title", "in-venue", "in-abstract"]
    assert ids(library, "desks", order="asc")[0] == "in-abstract"


def test_pages_of_a_search_are_disjoint_and_complete(library: Library) -> None:
    library.add([{"type": "book", "title": f"Desk {n}"} for n in range(25)])
    pages = [library.search("desk", limit=10, offset=offset) for offset in (0, 10, 20)]
    assert [page.next_offset for page in pages] == [10, 20, None]
    assert len({one["id"] for page in pages for one in page.items}) == 25
    assert {page.total for page in pages} == {25}


def test_a_change_by_another_program_is_found_at_once(library: Library) -> None:
    library.add([SMITH])
    for number in range(20):
        data = json.loads(library.path.read_text("utf-8"))
        data[0]["title"] = f"Number {number % 10}"
        library.path.write_text(json.dumps(data), "utf-8")  # of the same size
        assert library.search(f"number {number % 10}").total == 1
        assert library.get("smith-2023")["title"] == f"Number {number % 10}"


def test_an_index_that_is_deleted_or_damaged_is_made_again(open_library: Open) -> None:
    library = open_library()
    library.add([SMITH])
    [path] = (library.path.parent / "cache").glob("*.sqlite3")
    for ruin in (path.unlink, lambda: path.write_bytes(b"x" * 5000)):
        ruin()
        assert ids(library, "desks") == ["smith-2023"]
        other = open_library()
        assert ids(other, "desks") == ["smith-2023"]
        other.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert ids(open_library(), "desks") == ["smith-2023"]


def test_without_a_cache_folder_the_index_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    library = Library.open(
        tmp_path / "library.json",
        cache_folder=tmp_path / "file" / "cache",
        backup_folder=tmp_path / "backups",
    )
    library.add([SMITH])
    assert ids(library, "desks") == ["smith-2023"]
    library.update("smith-2023", {"title": "Chairs"})
    assert ids(library, "desks") == []
    library.close()


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abcdef")),
        st.tuples(st.just("remove"), st.integers(0, 5)),
        st.tuples(st.just("update"), st.integers(0, 5)),
    ),
    max_size=12,
)


@pytest.mark.requirement("library:found:index")
@pytest.mark.property
@given(_STEPS)
def test_the_index_of_own_writes_equals_one_that_is_built_anew(
    steps: list[tuple[str, Any]],
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        library = Library.open(folder / "l.json", cache_folder=folder / "a", backup_folder=folder)
        for number, (what, which) in enumerate(steps):
            keys = [one["id"] for one in library.items()]
            if what == "add":
                library.add([{"type": "book", "title": f"{which} {number}"}])
            elif which < len(keys) and what == "remove":
                library.remove(keys[which])
            elif which < len(keys):
                library.update(keys[which], {"title": f"changed {number}"})
        anew = Library.open(folder / "l.json", cache_folder=folder / "b", backup_folder=folder)
        expected = [one["id"] for one in library.items()]
        for one in (library, anew):
            assert [i["id"] for i in one.list(sort="relevance", order="asc", limit=0).items] == (
                expected
            )
            for key in expected:
                assert one.get(key) in library.items()
        assert {i["id"] for i in library.search("changed").items} == {
            i["id"] for i in anew.search("changed").items
        }
        library.close()
        anew.close()
