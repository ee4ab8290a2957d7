"""A paper store of the test's own, and one as doiget leaves it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.papers.store import PaperEntry, PaperStore, StoredPaper, safekey
from carrel.records import parse_id

PDF = b"%PDF-1.7\n% a small one\n"
DOIGET = Path(__file__).parent / "doiget_store"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "papers"


@pytest.fixture
def open_store(folder: Path, tmp_path: Path) -> Iterator[Callable[[], PaperStore]]:
    """Opens the store again, as another process would."""
    opened: list[PaperStore] = []

    def open_one() -> PaperStore:
        opened.append(PaperStore.open(folder, tmp_path / "cache"))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], PaperStore]) -> PaperStore:
    return open_store()


@pytest.fixture
def doiget_store(folder: Path, open_store: Callable[[], PaperStore]) -> PaperStore:
    shutil.copytree(DOIGET, folder)
    return open_store()


def add(
    store: PaperStore, reference: str, *, pdf: bytes | None = None, **members: object
) -> StoredPaper:
    """Stores a paper, and returns it."""
    identifier = parse_id(reference)
    named = {"doi": {"doi": identifier.id}, "arxiv": {"arxiv_id": identifier.id}}
    given = {
        "title": "Desks",
        "authors": ("Ada Reader",),
        "year": 2024,
        "fetched": {"source": "unpaywall"},
        **named.get(identifier.type, {"own": {identifier.type: identifier.id}}),
        **members,
    }
    entry = PaperEntry(**given)  # type: ignore[arg-type]
    if pdf is None:
        return store.write(identifier, entry)
    with store.receive(safekey(identifier)) as file:
        file.begin()
        file.write(pdf)
        return store.write(identifier, entry, file)
