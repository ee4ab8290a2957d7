"""Checks the files of a paper store: damaged entries, missing PDFs, PDFs that were changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.errors import PaperError

from .incoming import storage_error

if TYPE_CHECKING:
    from .entry import PaperEntry
    from .paper_store import PaperStore

_PIECE: Final = 2**20


@dataclass(frozen=True, slots=True)
class StoreFault:
    """A fault in the files of one entry."""

    key: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """Returns the fault as JSON."""
        return {"key": self.key, "message": self.message}


def check_store(store: PaperStore, *, contents: bool = False) -> Iterator[StoreFault]:
    """Yields what is wrong with the store's files, entry by entry.

    Args:
        store: the store.
        contents: whether to read every PDF and compare it with the hash in its entry.

    Raises:
        PaperError: `STORE_ERROR`; the folder cannot be read.
    """
    for key in store.list_keys():
        try:
            entry = store.read(key)
        except PaperError as error:
            yield StoreFault(key, error.message)
            continue
        if entry is not None and entry.pdf_path:
            yield from _pdf_faults(store, key, entry, contents=contents)


def _pdf_faults(
    store: PaperStore, key: str, entry: PaperEntry, *, contents: bool
) -> Iterator[StoreFault]:
    path = store.pdf_path(key)
    if path is None:
        yield StoreFault(key, f"its PDF {key}.pdf is missing")
        return
    size = entry.fetched.get("size_bytes")
    actual = path.stat().st_size
    if isinstance(size, int) and size and size != actual:
        yield StoreFault(key, f"its PDF has {actual:,} bytes, and {size:,} were stored")
        return
    expected = entry.own.get("sha256")
    if contents and isinstance(expected, str) and _sha256(path) != expected:
        yield StoreFault(key, "its PDF is not the one that was stored: the SHA-256 differs")


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                found.update(piece)
    except OSError as error:
        raise storage_error(path.name, error) from error
    return found.hexdigest()
