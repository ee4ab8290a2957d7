"""Every single operation on the disk fails once, and a folder is read-only: nothing is torn."""

from __future__ import annotations

import errno
import gzip
import os
import tomllib
from pathlib import Path

import pytest

from carrel.papers.errors import PaperError
from carrel.papers.provenance import LogRow, ProvenanceLog
from carrel.papers.provenance.rotation import packed_logs
from carrel.papers.store import PaperStore, safekey
from carrel.records import parse_id
from support.failing_disk import FAULTS, FailingDisk, every_fault

from .conftest import PDF, add

REFERENCE = "10.1234/desks"
KEY = safekey(parse_id(REFERENCE))


def whole(folder: Path) -> dict[str, object] | None:
    """Returns the entry as it is on the disk, its PDF checked; None if there is none."""
    path = folder / ".metadata" / f"{KEY}.toml"
    if not path.exists():
        return None
    entry = tomllib.loads(path.read_text("utf-8"))
    if "pdf_path" in entry:
        assert (folder / entry["pdf_path"]).read_bytes() == PDF
    return entry


@pytest.mark.parametrize("code", FAULTS.values(), ids=list(FAULTS))
def test_a_write_fails_as_a_whole_or_not_at_all(tmp_path: Path, code: int) -> None:
    folders = iter(range(1000))

    def work(disk: FailingDisk) -> None:
        folder = tmp_path / str(next(folders))
        store = PaperStore.open(folder, tmp_path / "cache" / folder.name)
        try:
            add(store, REFERENCE, pdf=PDF)
            acknowledged = True
        except PaperError as error:
            assert error.paper_code == "STORE_ERROR", disk.last
            acknowledged = False
        finally:
            store.close()
        with disk.paused():
            entry = whole(folder)
            assert not acknowledged or entry is not None
            again = PaperStore.open(folder, tmp_path / "cache" / folder.name)
            add(again, REFERENCE, pdf=PDF)
            assert whole(folder) is not None
            assert [one.key for one in again.search("desks")] == [KEY]
            again.close()

    assert every_fault(tmp_path, code, work) > 15


@pytest.mark.parametrize("code", FAULTS.values(), ids=list(FAULTS))
def test_a_second_write_keeps_the_first(tmp_path: Path, code: int) -> None:
    store = PaperStore.open(tmp_path / "papers", tmp_path / "cache")
    add(store, REFERENCE, pdf=PDF)
    attempts = iter(range(1000))

    def work(disk: FailingDisk) -> None:
        attempt = next(attempts)
        try:
            add(store, REFERENCE, others={f"seen_{attempt}": attempt})
            acknowledged = True
        except PaperError as error:
            assert error.paper_code == "STORE_ERROR", disk.last
            acknowledged = False
        with disk.paused():
            entry = whole(tmp_path / "papers")
            assert entry is not None
            assert entry["title"] == "Desks"
            assert not acknowledged or f"seen_{attempt}" in entry
            assert not list(tmp_path.rglob("*.tmp"))

    assert every_fault(tmp_path / "papers", code, work) > 3
    store.close()


@pytest.mark.parametrize("code", FAULTS.values(), ids=list(FAULTS))
def test_a_row_is_in_the_log_before_it_is_acknowledged(tmp_path: Path, code: int) -> None:
    log = ProvenanceLog(tmp_path / "log" / "access.log", rotate_bytes=1200)
    acknowledged: list[str] = []
    attempts = iter(range(1000))

    def work(disk: FailingDisk) -> None:
        for _ in range(3):
            ref = f"10.1234/{next(attempts)}"
            try:
                log.append(LogRow(event="fetch", ref=ref))
            except PaperError as error:
                assert error.paper_code == "LOG_ERROR", disk.last
            else:
                acknowledged.append(ref)
        with disk.paused():
            report = log.verify()
            assert report.ok, (disk.last, report.faults)

    assert every_fault(tmp_path, code, work) > 15
    text = b"".join(
        gzip.decompress(one.read_bytes()) if one.suffix == ".gz" else one.read_bytes()
        for one in packed_logs(log.path)
    )
    text += log.path.read_bytes()
    assert [ref for ref in acknowledged if f'"{ref}"'.encode() not in text] == []


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_is_read_and_says_that_it_cannot_be_written(tmp_path: Path) -> None:
    store = PaperStore.open(tmp_path / "papers", tmp_path / "cache")
    add(store, REFERENCE, pdf=PDF)
    paths = [tmp_path / "papers", *(tmp_path / "papers").glob(".*")]
    for path in paths:
        path.chmod(0o500)
    try:
        again = PaperStore.open(tmp_path / "papers", tmp_path / "cache")
        assert [one.key for one in again.search("desks")] == [KEY]
        assert not again.is_writable()
        with pytest.raises(PaperError) as caught:
            add(again, "10.1234/other")
        assert caught.value.paper_code == "STORE_ERROR"
        again.close()
    finally:
        for path in paths:
            path.chmod(0o700)
    store.close()


def test_a_read_only_disk_refuses_every_write_and_no_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PaperStore.open(tmp_path / "papers", tmp_path / "cache")
    add(store, REFERENCE, pdf=PDF)
    real = os.open

    def read_only(path: str, flags: int, *rest: int, **more: int) -> int:
        if str(path).startswith(str(tmp_path)) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", read_only)
    again = PaperStore.open(tmp_path / "papers", tmp_path / "another-cache")
    assert [one.key for one in again.search("desks")] == [KEY], "with an index in memory"
    assert again.find(parse_id(REFERENCE)) is not None
    with pytest.raises(PaperError, match="Read-only") as caught:
        add(again, "10.1234/other")
    assert caught.value.paper_code == "STORE_ERROR"
    with pytest.raises(PaperError, match="Read-only") as caught:
        ProvenanceLog(tmp_path / "access.log").append(LogRow(event="fetch"))
    assert caught.value.paper_code == "LOG_ERROR"
    again.close()
    store.close()
