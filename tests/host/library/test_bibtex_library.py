"""A BibTeX file as the library: everything but the edited fields stays the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_a_missing_bibtex_file_is_made(tmp_path: Path, open_library: Open) -> None:
    library = open_library(tmp_path / "new.bib")
    [added] = library.add([SMITH])
    assert library.path.read_text("utf-8").startswith("@article{smith-2023,")
    assert library.get(added.id)["DOI"] == SMITH["DOI"]
