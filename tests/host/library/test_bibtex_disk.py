"""A BibTeX file as the library on a disk that is full, or refuses writes, and a big file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.library.errors import LibraryError
from carrel.library.library import Library
from support.failing_disk import FAULTS, FailingDisk, every_fault

from .conftest import SMITH, Open, code_of

TEXT = "% My desks\n@book{holm, title = {Shelves}, year = 2001} % kept\n"
#: Lets no file grow beyond a number of bytes, as a full disk does, and adds a reference.
_FULL = """
import resource, signal, sys
from pathlib import Path
from carrel.library.errors import LibraryError
from carrel.library.library import Library

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
library = Library(folder / "refs.bib", cache_folder=folder / "none" / "cache",
                  backup_folder=folder / "backups")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    library.add([{"id": "big", "type": "book", "title": "Desks", "note": "x" * 5000}])
except LibraryError as error:
    print(error.library_code, error.error_code)
library.close()
"""
#: Bytes that a big library has at least.
BIG = 20_000_000


@pytest.fixture
def bib(tmp_path: Path, open_library: Open) -> Library:
    path = tmp_path / "refs.bib"
    path.write_text(TEXT)
    return open_library(path)


@pytest.mark.parametrize("code", FAULTS.values(), ids=list(FAULTS))
def test_a_failing_disk_leaves_the_old_file_or_the_new_one(tmp_path: Path, code: int) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(TEXT)
    library = Library.open(
        path, cache_folder=tmp_path.parent / "cache", backup_folder=tmp_path / "backups"
    )
    attempts = iter(range(1000))

    def work(disk: FailingDisk) -> None:
        attempt = next(attempts)
        with disk.paused():
            before = path.read_bytes()
        try:
            library.update("holm", {"volume": f"V{attempt}"})
            acknowledged = True
        except LibraryError as error:
            assert error.library_code in ("READ_ERROR", "WRITE_ERROR"), disk.last
            acknowledged = False
        with disk.paused():
            now = path.read_bytes()
            assert (f"V{attempt}".encode() in now) == acknowledged
            assert acknowledged or now == before
            assert now.startswith(b"% My desks\n@book{holm, title = {Shelves}, year = 2001")

    assert every_fault(tmp_path, code, work) > 3
    library.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the size of files")
def test_a_disk_without_room_for_the_new_file_keeps_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(TEXT)
    command = [sys.executable, "-c", _FULL, str(tmp_path)]
    done = subprocess.run([*command, "1000"], capture_output=True, text=True, check=True)
    assert done.stdout == "WRITE_ERROR storage\n"
    assert path.read_text() == TEXT
    assert [one.name for one in tmp_path.glob("*.tmp")] == []
    done = subprocess.run([*command, "1000000"], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert path.read_text().startswith(TEXT)


def test_a_read_only_file_is_a_write_error_and_is_still_read(
    bib: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write every file
    for change in (
        lambda: bib.add([SMITH]),
        lambda: bib.update("holm", {"volume": "1"}),
        lambda: bib.remove("holm"),
    ):
        error = code_of(change)
        assert (error.library_code, "read-only" in error.message) == ("WRITE_ERROR", True)
    assert bib.path.read_text() == TEXT
    assert bib.get("holm")["title"] == "Shelves"


def test_a_folder_that_refuses_writes_is_a_write_error(bib: Library) -> None:
    # A folder in the place of the lock file refuses writing to every user, root included.
    (bib.path.parent / ".refs.bib.lock").mkdir()
    assert code_of(lambda: bib.add([SMITH])).library_code == "WRITE_ERROR"
    assert bib.path.read_text() == TEXT
    assert [one["id"] for one in bib.items()] == ["holm"]


@pytest.mark.long("load")
def test_a_big_file_is_edited_in_one_entry_and_loses_nothing(
    tmp_path: Path, open_library: Open
) -> None:
    entry = (
        "@article{{k{0}, title = {{Desk number {0}}}, author = {{Marlow, Ada}}, note = {{{1}}}}}\n"
    )
    entries = [entry.format(number, "oak " * 75) for number in range(54_000)]
    path = tmp_path / "big.bib"
    path.write_text("".join(entries))
    assert path.stat().st_size >= BIG
    library = open_library(path)
    assert library.list(limit=1).total == len(entries)
    assert [one["id"] for one in library.search('"number 53999"').items] == ["k53999"]
    library.update("k27000", {"title": "A desk of ash"})
    now = path.read_text().splitlines(keepends=True)
    changed = [place for place, line in enumerate(now) if line != entries[place]]
    assert (len(now), changed) == (len(entries), [27000])
    library.remove("k100")
    assert len(path.read_text().splitlines()) == len(entries) - 1
    [added] = library.add([SMITH])
    assert library.get(added.id)["DOI"] == SMITH["DOI"]
    with pytest.raises(LibraryError):
        library.get("k100")
