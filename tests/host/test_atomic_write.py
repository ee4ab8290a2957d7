"""Tests atomic writes: readers see the old or the new file, and no temporary file remains."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.files.atomic_write import write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and lengths are POSIX's")


@pytest.fixture(params=[0o022, 0o077], ids=["umask-022", "umask-077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644], ids=oct)
def test_an_explicit_mode_is_independent_of_the_umask(
    tmp_path: Path, umask: int, mode: int
) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"new", mode=mode)
    assert path.stat().st_mode & 0o777 == mode, oct(umask)


@posix
def test_without_a_mode_the_umask_decides(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"new", mode=None)
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


@posix
def test_the_file_has_its_mode_before_it_has_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(os.fstat(handle).st_mode & 0o777))
    write_atomically(tmp_path / "file", b"new", mode=0o644)
    assert seen == [0o600]


def test_an_existing_file_is_replaced_without_temporary_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"what was there")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("operation", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError("the disk is broken")

    path = tmp_path / "file"
    path.write_bytes(b"what was there")
    monkeypatch.setattr(os, operation, refuse)
    with pytest.raises(OSError, match="the disk is broken"):
        write_atomically(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_flushed_unless_that_is_not_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_size))
    write_atomically(tmp_path / "file", b"hurry", flush=False)
    assert flushed == []
    write_atomically(tmp_path / "file", b"keep")
    assert flushed == [4]


@posix
def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 251 + ".bin")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
