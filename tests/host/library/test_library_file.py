"""The file itself: links, permissions, full disks, backups, and editors that write meanwhile."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.files.exchange import exchange
from carrel.files.locking import locked
from carrel.library.errors import LibraryError
from carrel.library.file import library_file
from carrel.library.file.backups import MOST, OLDEST, Backups
from carrel.library.file.library_file import LibraryFile
from carrel.library.library import Library
from support.failing_disk import FAULTS, FailingDisk, every_fault

from .conftest import SMITH, Open, code_of

posix = pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")


@posix
def test_a_symbolic_link_stays_one_and_its_target_is_written(
    tmp_path: Path, open_library: Open
) -> None:
    target = tmp_path / "elsewhere" / "real.json"
    target.parent.mkdir()
    target.write_text("[]")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    library = open_library(link)
    library.add([SMITH])
    assert link.is_symlink()
    assert json.loads(target.read_text("utf-8"))[0]["id"] == "smith-2023"
    assert [one.name for one in tmp_path.iterdir() if one.suffix == ".tmp"] == []
    direct = open_library(target)
    assert direct.get("smith-2023") == library.get("smith-2023")


@posix
def test_a_dangling_link_is_an_empty_library_and_its_target_is_made(
    tmp_path: Path, open_library: Open
) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "new" / "real.json")
    library = open_library(link)
    assert library.items() == []
    library.add([SMITH])
    assert link.is_symlink()
    assert len(json.loads((tmp_path / "new" / "real.json").read_text("utf-8"))) == 1


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_are_kept(library: Library, mode: int) -> None:
    library.path.write_text("[]")
    library.path.chmod(mode)
    library.add([SMITH])
    assert stat.S_IMODE(library.path.stat().st_mode) == mode


@posix
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo] if os.name == "posix" else [])
def test_what_is_no_ordinary_file_is_a_read_error(
    library: Library, make: Callable[[Path], None]
) -> None:
    make(library.path)
    assert code_of(library.items).library_code == "READ_ERROR"
    assert code_of(lambda: library.add([SMITH])).library_code == "READ_ERROR"


@pytest.mark.requirement("reference-manager:atomic:disk")
@pytest.mark.parametrize("code", FAULTS.values(), ids=list(FAULTS))
@pytest.mark.parametrize("exchanges", [True, False])
def test_a_failing_disk_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, code: int, exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not exchanges:
        monkeypatch.setattr(library_file, "exchange", lambda *_: False)
    path = tmp_path / "library.json"
    library = Library.open(
        path, cache_folder=tmp_path.parent / "cache", backup_folder=tmp_path / "backups"
    )
    library.add([SMITH])
    attempts = iter(range(1000))

    def work(disk: FailingDisk) -> None:
        attempt = next(attempts)
        with disk.paused():
            before = path.read_bytes()
        try:
            library.update("smith-2023", {"volume": str(attempt)})
            acknowledged = True
        except LibraryError as error:
            assert error.library_code in ("READ_ERROR", "WRITE_ERROR"), disk.last
            acknowledged = False
        with disk.paused():
            now = json.loads(path.read_bytes())
            if acknowledged:
                assert now[0]["volume"] == str(attempt)
            else:
                assert path.read_bytes() == before
            assert not list(tmp_path.rglob("*.tmp")) or "unlink" in disk.last

    assert every_fault(tmp_path, code, work) > 3
    library.close()


def test_a_read_only_file_is_a_write_error(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.path.write_text("[]")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write every file
    error = code_of(lambda: library.add([SMITH]))
    assert error.library_code == "WRITE_ERROR"
    assert "read-only" in error.message
    assert library.path.read_text() == "[]"


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_read_only_folder_is_a_write_error(library: Library) -> None:
    library.path.write_text("[]")
    library.path.parent.chmod(0o500)
    try:
        assert code_of(lambda: library.add([SMITH])).library_code == "WRITE_ERROR"
    finally:
        library.path.parent.chmod(0o700)


def test_a_lock_that_is_held_is_an_error_after_a_while(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([SMITH])
    monkeypatch.setattr(library_file, "PATIENCE", 0.05)
    with locked(library.path.with_name(".library.json.lock")):
        error = code_of(lambda: library.add([SMITH]))
        assert error.library_code == "LOCK_TIMEOUT"
        assert error.retryable
        assert library.list().total == 1


@pytest.mark.requirement("reference-manager:backups")
def test_each_write_keeps_what_it_replaced(library: Library, tmp_path: Path) -> None:
    library.add([SMITH])
    contents = [library.path.read_bytes()]
    for volume in range(MOST + 5):
        library.update("smith-2023", {"volume": str(volume)})
        contents.append(library.path.read_bytes())
    kept = sorted((tmp_path / "backups").rglob("*.json"))
    assert [one.read_bytes() for one in kept] == contents[-MOST - 1 : -1]


@pytest.mark.requirement("reference-manager:backups:year")
def test_backups_older_than_a_year_go_but_never_the_latest(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    backups = Backups(tmp_path / "b", tmp_path / "library.json", now=lambda: now[0])
    for content in ("1", "2"):
        (tmp_path / "replaced").write_text(content)
        backups.keep(tmp_path / "replaced")
    now[0] += OLDEST + 10
    (tmp_path / "replaced").write_text("3")
    backups.keep(tmp_path / "replaced")
    assert [one.read_text() for one in backups.all()] == ["3"]


def test_two_libraries_of_one_name_have_backups_of_their_own(tmp_path: Path) -> None:
    first, second = (Backups(tmp_path, Path(f"/{name}/library.json")) for name in "ab")
    assert first.folder != second.folder


class Editor:
    """Saves the file at a chosen moment of Carrel's write."""

    def __init__(self, path: Path, real: Callable[[Path, Path], bool], *, moments: int) -> None:
        self._path = path
        self._real = real
        self._left = moments
        self.count = 0

    def __call__(self, first: Path, second: Path) -> bool:
        if self._left:
            self._left -= 1
            self.count += 1
            data = json.loads(self._path.read_text("utf-8"))
            data.append({"id": f"editor-{self.count}", "title": "By the editor"})
            new = self._path.with_name("saved")
            new.write_text(json.dumps(data, indent=2), "utf-8")
            new.replace(self._path)
        return self._real(first, second)


@pytest.mark.parametrize("moments", [1, 2, 3, 5])
def test_an_editor_that_saves_at_the_very_moment_of_the_write_loses_nothing(
    library: Library, moments: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add([SMITH])
    editor = Editor(library.path, exchange, moments=moments)
    monkeypatch.setattr(library_file, "exchange", editor)
    library.add([{"id": "mine", "title": "Mine"}])
    found = {one["id"] for one in library.items()}
    backups = [
        {one["id"] for one in json.loads(path.read_bytes())}
        for path in (library.path.parent / "backups").rglob("*.json")
    ]
    assert "mine" in found
    written = {f"editor-{number + 1}" for number in range(editor.count)}
    # An editor that saves again while its change is put back is found in a backup at least.
    assert written <= (found if moments == 1 else found.union(*backups))
    assert "smith-2023" in found
    assert not list(library.path.parent.glob("*.tmp"))


def test_a_large_file_is_refused(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_file, "MAX_BYTES", 10)
    library.path.write_text(json.dumps([SMITH]))
    assert "more than" in code_of(library.items).message


def test_temporary_files_of_killed_processes_are_removed_later(library: Library) -> None:
    library.add([SMITH])
    old, new = (library.path.with_name(f".library.json.{name}.tmp") for name in ("old", "new"))
    for path in (old, new):
        path.write_text("x")
    os.utime(old, (1, 1))
    library.update("smith-2023", {"volume": "1"})
    assert not old.exists()
    assert new.exists()


def test_a_file_reads_as_it_is(tmp_path: Path) -> None:
    file = LibraryFile(tmp_path / "library.json", tmp_path / "backups")
    assert (file.read().data, file.stamp()) == (b"", None)
    with file.lock():
        written: Any = file.replace(file.read(), b"[]")
    assert file.read() == written
    with file.lock():
        stale = file.read()
        (tmp_path / "library.json").write_bytes(b"[1]")
        assert file.replace(stale, b"[2]") is None
    assert file.read().data == b"[1]"
