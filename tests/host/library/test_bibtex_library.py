"""A BibTeX file as the library: everything but the edited fields stays the same bytes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.bibliography.item import Item
from carrel.library.errors import LibraryError
from carrel.library.file.bibtex import BibtexLibraryText
from carrel.library.library import Library

from .conftest import SMITH, Open, code_of

TEXT = r"""% My library
@string{jod = "Journal of Desks"}

@Article{smith2020,
  title   = {The {RNA} of \"Oak},   % a comment in an entry
  author  = "Smith, John and M{\"u}ller, Ä.",
  journal = jod,
  year    = 2020,
  doi     = {10.1234/Oak.1},
  mykey   = {kept}
}
Some words between.
@book{jones,title={Chairs},author={Jones, Ann},year={1999},isbn={0-306-40615-2}}

@comment{jabref-meta: databaseType:biblatex;}
"""


@pytest.fixture
def bib(tmp_path: Path, open_library: Open) -> Library:
    path = tmp_path / "library.bib"
    path.write_bytes(TEXT.encode())
    return open_library(path)


def test_a_bibtex_file_opens_and_stays_as_it_is(bib: Library) -> None:
    assert {one["id"] for one in bib.items()} == {"smith2020", "jones"}
    assert bib.get("smith2020")["container-title"] == "Journal of Desks"
    assert bib.search("muller RNA").total == 1
    assert bib.search("doi:10.1234/OAK.1").total == 1
    assert bib.path.read_bytes() == TEXT.encode()


@pytest.mark.requirement("library:kept:bibtex")
def test_an_update_keeps_all_bytes_besides_its_fields(bib: Library) -> None:
    bib.update("smith2020", {"volume": "7"})
    text = bib.path.read_text("utf-8")
    start, end = TEXT.index("@Article"), TEXT.index("Some words")
    assert text.startswith(TEXT[:start])
    assert text.endswith(TEXT[end:])
    for line in TEXT[start:end].splitlines()[:-2]:
        assert line in text
    item = bib.get("smith2020")
    assert item["volume"] == "7"
    assert item["custom"]["uuid"]
    assert item["custom"]["bibtex"] == {"mykey": "kept"}


def test_added_and_removed_entries_leave_the_others_as_they_are(bib: Library) -> None:
    [added] = bib.add([SMITH])
    [again] = bib.add([{"type": "book", "ISBN": "9780306406157", "title": "Chairs"}])
    assert (again.status, again.existing_id, again.duplicate_type) == ("skipped", "jones", "isbn")
    text = bib.path.read_text("utf-8")
    for part in TEXT.split("\n\n"):
        assert part.strip() in text
    assert bib.get(added.id)["custom"]["uuid"] == added.uuid
    bib.remove("jones")
    text = bib.path.read_text("utf-8")
    assert "Chairs" not in text
    assert text.startswith(TEXT[: TEXT.index("@book")])
    assert "@comment{jabref-meta: databaseType:biblatex;}" in text


def test_a_changed_string_changes_the_entries_that_use_it(bib: Library) -> None:
    assert bib.search("tables").total == 0
    bib.path.write_text(TEXT.replace("Journal of Desks", "Journal of Tables"), "utf-8")
    assert bib.search("tables").total == 1


def test_line_ends_and_encodings_are_kept(tmp_path: Path, open_library: Open) -> None:
    windows = TEXT.replace("\n", "\r\n").encode("latin-1")
    path = tmp_path / "old.bib"
    path.write_bytes(windows)
    library = open_library(path)
    library.update("jones", {"note": "n"})
    data = path.read_bytes()
    start = windows.index(b"@book")
    assert data.startswith(windows[:start])
    assert b"\n" not in data.replace(b"\r\n", b"")
    error = code_of(lambda: library.update("jones", {"title": "深層"}))
    assert error.library_code == "INVALID"
    assert "UTF-8" in error.advice
    assert path.read_bytes() == data


def test_a_file_that_was_cut_off_is_refused(bib: Library) -> None:
    bib.update("jones", {"note": "n"})
    cut = TEXT[: TEXT.index("mykey")].encode()
    bib.path.write_bytes(cut)
    error = code_of(lambda: bib.add([SMITH]))
    assert error.library_code == "READ_ERROR"
    assert error.position == {"line": 4, "column": 1}
    assert "latest backup" in error.message
    assert bib.path.read_bytes() == cut


@pytest.mark.requirement("library:damaged:cut-bibtex")
@pytest.mark.parametrize(
    "end",
    ["@string{a = {b", "@string{a", "@comment{x {y}", '@preamble{ "', "@book", "@", "@book{k"],
)
def test_a_file_cut_off_in_a_block_is_refused(bib: Library, end: str) -> None:
    bib.path.write_text(TEXT + end, "utf-8")
    error = code_of(lambda: bib.add([SMITH]))
    assert error.library_code == "READ_ERROR"
    assert error.position == {"line": TEXT.count("\n") + 1, "column": 1}
    assert bib.path.read_text("utf-8") == TEXT + end


@pytest.mark.requirement("library:damaged:cut-bibtex-anywhere")
def test_a_file_cut_off_anywhere_is_refused_or_takes_what_is_added(
    tmp_path: Path, open_library: Open
) -> None:
    text = TEXT + "\n@misc{last, title={Last}}\n"
    path = tmp_path / "cut.bib"
    refused = 0
    for length in range(1, len(text), 3):
        path.write_bytes(cut := text.encode()[:length])
        library = open_library(path)
        try:
            before = [one["id"] for one in library.items()]
            library.add([{"id": "added", "type": "book", "title": "Added"}])
        except LibraryError as error:
            assert (error.library_code, path.read_bytes()) == ("READ_ERROR", cut)
            refused += 1
        else:
            assert [one["id"] for one in library.items()] == [*before, "added"], cut[-40:]
            assert all(line in path.read_bytes() for line in cut.splitlines())
        library.close()
        library.path.unlink()
        shutil.rmtree(tmp_path / "backups", ignore_errors=True)
    assert refused > len(text) / 9  # most of it is inside of something


def test_a_library_without_entries_is_still_one(tmp_path: Path, open_library: Open) -> None:
    library = open_library(tmp_path / "new.bib")
    library.add([SMITH])
    library.remove("smith-2023")
    assert library.list().total == 0
    [added] = library.add([SMITH])
    assert [one["id"] for one in library.items()] == [added.id]


@pytest.mark.requirement("library:damaged:other-kinds")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<!DOCTYPE html><p>a@b</p>", "HTML"),
        (b'[{"id": "a"}]', "JSON"),
        (b"%PDF-1.7 x", "PDF"),
        (TEXT.encode("utf-16"), "UTF-16"),
    ],
)
def test_a_file_of_another_kind_is_refused(bib: Library, data: bytes, words: str) -> None:
    bib.path.write_bytes(data)
    for call in (bib.items, lambda: bib.add([SMITH])):
        error = code_of(call)
        assert error.library_code == "READ_ERROR"
        assert words in error.message
    assert bib.path.read_bytes() == data


_WORD = st.text('aä {}\\"%@,=#é\n', max_size=8).map(lambda text: text.replace("\\", ""))
_INSIDE = _WORD.map(lambda text: re.sub("[{}@]", "", text))
_FIELD = st.tuples(
    st.sampled_from(["title", "note", "mykey", "author", "x-y", "Year"]),
    st.one_of(
        _INSIDE.map(lambda text: f"{{a {text}}}"),
        _INSIDE.map(lambda text: '"b ' + text.replace('"', "") + '"'),
        st.sampled_from(["2001", "jod", 'jod # " and " # {x}', "{}", "{{A} b}"]),
    ),
    st.sampled_from([" = ", "=", "\n=\t"]),
)
_ENTRY = st.tuples(
    st.sampled_from(["@book", "@ARTICLE", "@ misc"]),
    st.lists(_FIELD, max_size=4, unique_by=lambda field: field[0]),
    st.sampled_from([",\n  ", ", ", ",\n\t"]),
    st.sampled_from(["", ",", ",\n", "\n"]),
)
_BETWEEN = st.sampled_from([
    "% a comment with @book{inside}\n", "\n\n", "@comment{jabref-meta: x;}\n", "words between\n",
    "@string{other = {Other}}\n", "@preamble{ {\\x} }\n", "",
])  # fmt: skip


@pytest.mark.requirement("library:kept:bibtex-property")
@pytest.mark.property
@given(
    st.lists(st.tuples(_ENTRY, _BETWEEN), min_size=1, max_size=4),
    st.dictionaries(st.integers(0, 3), st.booleans(), max_size=2),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_an_edit_keeps_the_bytes_of_all_that_it_does_not_touch(
    parts: list[tuple[tuple[str, list[tuple[str, str, str]], str, str], str]],
    changes: dict[int, bool],
    adds: bool,
    end: str,
) -> None:
    entries = [
        f"{kind}{{k{number}"
        + "".join(f"{comma}{name}{equals}{value}" for name, value, equals in fields)
        + f"{last}}}"
        for number, ((kind, fields, comma, last), _) in enumerate(parts)
    ]
    text = "@string{jod = {J}}\n" + "".join(
        f"{entry}\n{between}" for entry, (_, between) in zip(entries, parts, strict=True)
    )
    data = text.replace("\n", end).encode()
    before = BibtexLibraryText(data)
    keys = [(before.item(place) or {})["id"] for place in range(len(before.sources))]
    changed: dict[int, Item | None] = {}
    for place, removes in changes.items():
        item = before.item(place) if place < len(keys) else None
        if item is not None:
            changed[place] = None if removes else {**item, "publisher": "Other"}
    added: list[Item] = [{"id": "new", "type": "book", "title": "New"}] if adds else []
    after = BibtexLibraryText(before.edited(changed, added))
    written = after.edited({}, [])
    kept = [key for place, key in enumerate(keys) if changed.get(place, 1) is not None]
    found = [after.item(place) or {} for place in range(len(after.sources))]
    assert [one["id"] for one in found] == [*kept, *(["new"] if adds else [])]
    for place, key in enumerate(keys):
        if place not in changed:
            assert after.sources[kept.index(key)] == before.sources[place]
        elif changed[place] is not None:
            assert found[kept.index(key)]["publisher"] == "Other"
    # What is outside of all entries is there still, in its order.
    outside, at = [], 0
    for source in before.sources:
        start = data.index(source, at)
        outside.append(data[at:start].strip())
        at = start + len(source)
    outside.append(data[at:].strip())
    at = 0
    for one in outside:
        at = written.index(one, at) + len(one)


def test_a_missing_bibtex_file_is_made(tmp_path: Path, open_library: Open) -> None:
    library = open_library(tmp_path / "new.bib")
    [added] = library.add([SMITH])
    assert library.path.read_text("utf-8").startswith("@article{smith-2023,")
    assert library.get(added.id)["DOI"] == SMITH["DOI"]
