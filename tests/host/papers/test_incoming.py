"""Receiving a PDF: piece by piece, checked, capped, and resumed where a connection broke."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import pytest

from carrel.papers.errors import PaperError
from carrel.papers.store import MAX_FILE_BYTES, IncomingFile, PaperStore
from carrel.papers.store.incoming import receiving

from .conftest import PDF

KEY = "doi_10.1234_desks"


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    return tmp_path


def write_pieces(file: IncomingFile, content: bytes, sizes: list[int]) -> None:
    at = 0
    for size in sizes:
        file.write(content[at : at + size])
        at += size
    file.finish()


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_pieces_are_hashed_on_the_way(partial: Path) -> None:
    with receiving(partial, KEY) as file:
        file.begin()
        for byte in PDF:
            file.write(bytes([byte]))
        file.finish()
        assert (file.size, file.sha256) == (len(PDF), hashlib.sha256(PDF).hexdigest())
        assert file.path.read_bytes() == PDF
    assert left(partial) == []


def test_the_limit_is_the_document_s() -> None:
    assert MAX_FILE_BYTES == 100_000_000


@pytest.mark.parametrize("sizes", [[101], [100, 1], [50, 50, 1]])
def test_a_file_above_the_cap_is_refused_and_removed(partial: Path, sizes: list[int]) -> None:
    with receiving(partial, KEY, cap=100) as file:
        file.begin({"etag": '"a"'})
        content = b"%PDF-" + bytes(sum(sizes) - 5)
        with pytest.raises(PaperError) as caught:
            write_pieces(file, content, sizes)
    assert caught.value.paper_code == "NETWORK_ERROR"
    assert caught.value.denial == {"reason": "size_cap_exceeded", "cap": 100, "actual": 101}
    assert left(partial) == []


def test_a_file_of_exactly_the_cap_is_accepted(partial: Path) -> None:
    with receiving(partial, KEY, cap=100) as file:
        file.begin()
        file.write(b"%PDF-" + bytes(95))
        file.finish()


@pytest.mark.parametrize("content", [b"<html>", b"%PD", b"", b" %PDF-1.4", b"%!PS", b"%pdf-1.4"])
def test_what_does_not_begin_as_a_pdf_is_refused(partial: Path, content: bytes) -> None:
    with receiving(partial, KEY) as file:
        file.begin()
        with pytest.raises(PaperError, match="not a PDF") as caught:
            write_pieces(file, content, [1] * len(content))
    assert caught.value.denial is not None
    assert caught.value.denial["reason"] == "content_type_mismatch"
    assert content.startswith(bytes.fromhex(caught.value.denial["attempted"]))
    assert left(partial) == []


def test_a_broken_download_is_resumed_with_its_validators(partial: Path) -> None:
    validators = {"url": "https://quiet.example/a.pdf", "etag": '"a"', "last_modified": ""}
    with receiving(partial, KEY) as file:
        file.begin(validators)
        file.write(PDF[:9])
    with receiving(partial, KEY) as file:
        assert file.size == 9
        assert file.validators == {"url": "https://quiet.example/a.pdf", "etag": '"a"'}
        file.begin(file.validators, at=9)
        file.write(PDF[9:])
        file.finish()
        assert file.sha256 == hashlib.sha256(PDF).hexdigest()
        assert file.path.read_bytes() == PDF


def test_an_answer_from_the_beginning_replaces_what_is_there(partial: Path) -> None:
    with receiving(partial, KEY) as file:
        file.begin({"etag": '"a"'})
        file.write(b"%PDF-1.1 old and longer than the new one")
    with receiving(partial, KEY) as file:
        file.begin({"etag": '"b"'})
        file.write(PDF)
        file.finish()
        assert file.path.read_bytes() == PDF
        assert file.sha256 == hashlib.sha256(PDF).hexdigest()


def test_an_answer_that_begins_elsewhere_is_refused(partial: Path) -> None:
    with receiving(partial, KEY) as file:
        file.begin({"etag": '"a"'})
        file.write(PDF)
        with pytest.raises(PaperError, match=f"begins at byte 3, not {len(PDF)}"):
            file.begin({"etag": '"a"'}, at=3)


def test_without_a_validator_nothing_is_kept(partial: Path) -> None:
    with receiving(partial, KEY) as file:
        file.begin({"url": "https://quiet.example/a.pdf"})
        file.write(PDF)
    assert left(partial) == []


@pytest.mark.parametrize("notes", [b"", b"[]", b'{"etag": 1}', b"{", b'{"url": "x"}', b"\xff"])
def test_a_partial_file_with_damaged_notes_begins_again(partial: Path, notes: bytes) -> None:
    (partial / f"{KEY}.part").write_bytes(PDF)
    (partial / f"{KEY}.part.json").write_bytes(notes)
    with receiving(partial, KEY) as file:
        assert (file.size, file.validators) == (0, {})


def test_a_partial_file_that_is_no_pdf_begins_again(partial: Path) -> None:
    (partial / f"{KEY}.part").write_bytes(b"<html>")
    (partial / f"{KEY}.part.json").write_bytes(b'{"etag": "x"}')
    with receiving(partial, KEY) as file:
        assert (file.size, file.validators) == (0, {})


def test_one_process_receives_a_file_at_a_time(
    partial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from carrel.papers import locking
    from carrel.papers.store import incoming

    monkeypatch.setattr(incoming, "locked", lambda path: locking.locked(path, patience=0.02))
    with (
        receiving(partial, KEY),
        pytest.raises(PaperError) as caught,
        receiving(partial, KEY),
    ):
        pass
    assert caught.value.paper_code == "LOCK_TIMEOUT"


def test_a_large_file_is_never_in_memory(store: PaperStore) -> None:
    piece = bytes(2**20)
    with store.receive(KEY) as file:
        file.begin({"etag": '"a"'})
        file.write(b"%PDF-")
        tracemalloc.start()
        for _ in range(40):
            file.write(piece)
        file.finish()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    with store.receive(KEY) as file:
        assert file.size == 40 * 2**20 + 5
    assert peak < 2**20


def test_a_network_error_is_not_reported_as_a_disk_error(partial: Path) -> None:
    with pytest.raises(ConnectionResetError), receiving(partial, KEY):
        raise ConnectionResetError
