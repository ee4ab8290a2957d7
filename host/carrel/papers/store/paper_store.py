"""Keeps papers in a folder: a metadata file and a PDF each, in doiget's store format.

    FOLDER/KEY.pdf                    the PDF, never rewritten
    FOLDER/.metadata/KEY.toml         the metadata
    FOLDER/.metadata/KEY.toml.lock    held while the entry is written
    FOLDER/.partial/KEY.part          a PDF that is being received

Every file is written under a temporary name, flushed and renamed, the PDF before the metadata that
names it. Several processes may use a folder at once. What cannot be known from the files alone is
not kept anywhere: the search index in the cache folder is made from them.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from carrel.files.atomic_write import OWNER_ONLY, flush_folder, write_atomically
from carrel.files.folders import may_write
from carrel.papers.errors import PaperError
from carrel.papers.locking import locked

from .entry import SCHEMA_VERSION, PaperEntry
from .filling import UNKNOWN_LICENSE, filled
from .incoming import MAX_FILE_BYTES, PDF_MAGIC, IncomingFile, receiving, storage_error
from .safekey import document_safekey, hashed_safekey, is_safekey, safekey

if TYPE_CHECKING:
    from carrel.records import Id

    from .index import PaperIndex, PaperSummary

_log = logging.getLogger("carrel.papers")

METADATA: Final = ".metadata"
_PARTIAL: Final = ".partial"
_ENDING: Final = ".toml"
#: Seconds after which a temporary file belongs to no running write.
_ABANDONED: Final = 3600.0


@dataclass(frozen=True, slots=True)
class StoredPaper:
    """An entry of the store and its key."""

    key: str
    entry: PaperEntry


class PaperStore:
    """A folder of papers.

    Args:
        folder: of the store; created by the first write.
        index_folder: for the search index, in the cache; it may be deleted at any time.
        now: the clock, seconds since 1970.
    """

    def __init__(
        self, folder: Path, index_folder: Path, *, now: Callable[[], float] = time.time
    ) -> None:
        self.folder = folder
        self._metadata = folder / METADATA
        self._partial = folder / _PARTIAL
        self._index_folder = index_folder
        self._now = now
        self._index: PaperIndex | None = None
        self._warned: set[str] = set()
        self._tidied = False

    @classmethod
    def open(cls, folder: Path, index_folder: Path) -> PaperStore:
        """Opens the store at `folder`, and creates nothing: a missing folder is an empty store.

        Raises:
            PaperError: `STORE_ERROR`; there is a file in its place.
        """
        if folder.exists() and not folder.is_dir():
            raise PaperError("STORE_ERROR", f"{folder.name}: expected a folder but it is a file")
        return cls(folder, index_folder)

    def close(self) -> None:
        """Closes the search index."""
        if self._index is not None:
            self._index.close()
            self._index = None

    # Reading

    def read(self, key: str) -> PaperEntry | None:
        """Returns the entry with this key; None if there is none.

        Raises:
            PaperError: `STORE_ERROR`; it cannot be read, or is not an entry. `INVALID_REF`: `key`
                is not the name of an entry.
        """
        path = self._metadata_path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return None
        except OSError as error:
            raise storage_error(path.name, error) from error
        try:
            entry = PaperEntry.from_toml(data)
        except PaperError as error:
            raise PaperError(error.paper_code, f"{path.name}: {error.message}") from None
        if entry.is_newer and key not in self._warned:
            self._warned.add(key)
            _log.warning(
                "%s has schema version %s; this version reads it and writes %s only",
                path.name, entry.schema_version, SCHEMA_VERSION,
            )  # fmt: skip
        return entry

    def find(self, identifier: Id) -> StoredPaper | None:
        """Returns the entry of the paper that `identifier` names; None if there is none.

        A DOI is found in any case, and under the names that doiget gives.

        Raises:
            PaperError: as `read`.
        """
        for key in _names(identifier):
            entry = self.read(key)
            if entry is not None and _is_of(entry, identifier, key):
                return StoredPaper(key, entry)
        for key in self.index.keys_of(identifier) if self._metadata.is_dir() else ():
            entry = self.read(key)
            if entry is not None and identifier in entry.ids:
                return StoredPaper(key, entry)
        return None

    def find_any_version(self, identifier: Id) -> StoredPaper | None:
        """As `find`; for an arXiv identifier without version also an entry of any version of it,
        the latest first.
        """
        found = self.find(identifier)
        exact = identifier.type != "arxiv" or identifier.is_version
        if found is not None or exact or not self._metadata.is_dir():
            return found
        for key in self.index.keys_of_versions(identifier.id):
            entry = self.read(key)
            if entry is not None and any(
                stored_id.work == identifier.work for stored_id in entry.ids
            ):
                return StoredPaper(key, entry)
        return None

    def key_for(self, identifier: Id) -> str:
        """Returns the key of the paper: of its entry if there is one, else of a new entry.

        Raises:
            PaperError: as `read`.
        """
        found = self.find(identifier)
        if found is not None:
            return found.key
        key = safekey(identifier)
        # An entry with that name is of another paper, or says of none: it keeps its name.
        return key if not self._metadata_path(key).exists() else hashed_safekey(identifier)

    def pdf_path(self, key: str) -> Path | None:
        """Returns the path of the stored PDF; None if there is none."""
        path = self._pdf_path(key)
        return path if path.is_file() else None

    def recent(self, limit: int = 50) -> list[PaperSummary]:
        """Returns the papers that were fetched last, the latest first."""
        return self.index.recent(limit) if self._metadata.is_dir() else []

    def search(self, query: str, limit: int = 50) -> list[PaperSummary]:
        """Returns papers with all words of `query` in title, authors, venue or publisher.

        Accents and case do not count, and a word may be the beginning of one: `mull` finds
        `Müller`. The best match is first.
        """
        return self.index.search(query, limit) if self._metadata.is_dir() else []

    def list_keys(self) -> list[str]:
        """Returns the keys of all metadata files, in alphabetical order."""
        try:
            names = os.listdir(self._metadata)  # noqa: PTH208 - names, not paths
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise storage_error(METADATA, error) from error
        keys = (name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING))
        return sorted(key for key in keys if is_safekey(key))

    @property
    def index(self) -> PaperIndex:
        """The search index, opened when it is first used."""
        if self._index is None:
            from .index import PaperIndex

            self._index = PaperIndex(self._metadata, self._index_folder)
        return self._index

    def is_writable(self) -> bool:
        """Returns whether a write would be permitted; creates nothing."""
        return may_write(self._metadata)

    # Writing

    @contextmanager
    def receive(
        self, key: str, *, cap: int = MAX_FILE_BYTES, magic: bytes = PDF_MAGIC
    ) -> Iterator[IncomingFile]:
        """Yields a file to write the PDF of `key` to, piece by piece; `write` keeps it.

        What a broken attempt received is there if it can be resumed: see `IncomingFile.size` and
        `validators`. Without `write` the file is removed, or kept to be resumed.

        Raises:
            PaperError: `LOCK_TIMEOUT`; another process receives the same PDF. `STORE_ERROR`: the
                disk refuses.
        """
        self._pdf_path(key)
        self._make_folders(self._partial)
        with receiving(self._partial, key, cap=cap, magic=magic) as file:
            yield file

    def write(
        self,
        identifier: Id,
        entry: PaperEntry,
        pdf: IncomingFile | None = None,
        *,
        before: Callable[[StoredPaper], None] | None = None,
    ) -> StoredPaper:
        """Stores what is known of a paper, and its PDF; returns the entry as it is stored.

        Gaps of an entry that exists are filled; a member that has a value keeps it, and a PDF that
        is stored is never replaced: the new one is discarded.

        Args:
            identifier: the reference that the paper is stored under.
            entry: what is known; `fetched` needs `source`, the rest has defaults.
            pdf: a file that was received with `receive` and finished; it is moved.
            before: called with the entry as it will be stored, before anything of it is visible;
                what it raises keeps the entry from being stored. Writes the provenance.

        Raises:
            PaperError: `SCHEMA_TOO_NEW`, `LOCK_TIMEOUT`; `STORE_ERROR`: the disk refuses, or a
                file at the entry's place is damaged.
        """
        self._make_folders(self._metadata)
        self._tidy()
        folded = safekey(identifier).lower()
        started = self.index.start()
        with self._locks(folded, lambda: self.key_for(identifier)) as key:
            paper = self._write_locked(key, entry, pdf, before)
            self.index.written(key, started)
        return paper

    def _write_locked(
        self,
        key: str,
        entry: PaperEntry,
        pdf: IncomingFile | None,
        before: Callable[[StoredPaper], None] | None,
    ) -> StoredPaper:
        stored = self.read(key)
        if stored is not None and stored.is_newer:
            raise PaperError(
                "SCHEMA_TOO_NEW",
                f"{key}{_ENDING} has schema version {stored.schema_version}, and this version "
                f"writes {SCHEMA_VERSION}; use a newer Carrel",
            )
        path, target = self._metadata_path(key), self._pdf_path(key)
        keeps = stored is not None and stored.pdf_path is not None and target.is_file()
        new = self._completed(entry, None if keeps else pdf, target)
        whole = new if stored is None else filled(stored, new, with_pdf=bool(pdf) and not keeps)
        if not keeps and pdf is None and not target.is_file():
            whole = whole.changed(pdf_path=None)
        paper = StoredPaper(key, whole)
        text = whole.to_toml().encode()
        if before is not None:
            before(paper)
        try:
            self.index.note(key)  # outlives a killed process
            if pdf is not None and keeps:
                pdf.discard()
            elif pdf is not None:
                pdf.finish()
                pdf.move_to(target)
            if stored is None or whole != stored:
                write_atomically(path, text, mode=OWNER_ONLY)
                flush_folder(self._metadata)
        except OSError as error:
            raise storage_error(f"{key}{_ENDING}", error) from error
        return paper

    def _completed(self, entry: PaperEntry, pdf: IncomingFile | None, target: Path) -> PaperEntry:
        moment = datetime.fromtimestamp(self._now(), UTC)
        fetched: dict[str, Any] = {
            "fetched_at": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "source": "unknown",
            "license": UNKNOWN_LICENSE,
            "size_bytes": 0,
            **entry.fetched,
        }
        if pdf is None:
            return entry.changed(fetched=fetched, schema_version=SCHEMA_VERSION)
        fetched["size_bytes"] = pdf.size
        return entry.changed(
            fetched=fetched,
            own={**entry.own, "sha256": pdf.sha256},
            pdf_path=target.name,
            schema_version=SCHEMA_VERSION,
        )

    @contextmanager
    def _locks(self, folded: str, choose: Callable[[], str]) -> Iterator[str]:
        """Holds the locks of a paper, and yields the key that was chosen under the first.

        The first lock is named after the key in lower case, so that two spellings of a DOI cannot
        make two entries at once; the second is the one that doiget holds.
        """
        with ExitStack() as stack:
            try:
                first = stack.enter_context(self._lock(folded))
                key = choose()
                if key != folded and self._lock_identity(key) != first:
                    stack.enter_context(self._lock(key))
            except OSError as error:
                raise storage_error(METADATA, error) from error
            yield key

    def _lock(self, key: str) -> AbstractContextManager[tuple[int, int]]:
        return locked(self._metadata / f"{key}{_ENDING}.lock")

    def _lock_identity(self, key: str) -> tuple[int, int] | None:
        try:
            found = (self._metadata / f"{key}{_ENDING}.lock").stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    # Paths

    def _metadata_path(self, key: str) -> Path:
        _require_key(key)
        return self._metadata / f"{key}{_ENDING}"

    def _pdf_path(self, key: str) -> Path:
        _require_key(key)
        return self.folder / f"{key}.pdf"

    def _make_folders(self, folder: Path) -> None:
        if folder.is_dir():
            return
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            for path in (self.folder, folder):
                if not path.is_dir():
                    path.mkdir(mode=0o700, exist_ok=True)
                    flush_folder(path.parent)
        except OSError as error:
            raise storage_error(self.folder.name, error) from error

    def _tidy(self) -> None:
        """Removes temporary files that killed processes left; once for each store object."""
        if self._tidied:
            return
        self._tidied = True
        oldest = time.time() - _ABANDONED
        for folder in (self._metadata, self._partial):
            try:
                with os.scandir(folder) as found:
                    for file in found:
                        if file.name.endswith(".tmp") and file.stat().st_mtime < oldest:
                            Path(file.path).unlink(missing_ok=True)
            except OSError:
                continue


def _require_key(key: str) -> None:
    if not is_safekey(key):
        raise PaperError("INVALID_REF", f"{key[:100]!r} is not the key of a paper")


def _names(identifier: Id) -> tuple[str, ...]:
    """Returns the keys that the paper may have, the most likely first, each once."""
    names = (safekey(identifier), document_safekey(identifier), hashed_safekey(identifier))
    return tuple(name for name in dict.fromkeys(names) if is_safekey(name))


def _is_of(entry: PaperEntry, identifier: Id, key: str) -> bool:
    """Returns whether the entry is of that paper; one without identifiers is if only it has the
    name.
    """
    same = [stored_id for stored_id in entry.ids if stored_id.type == identifier.type]
    if same:
        return any(stored_id.work == identifier.work for stored_id in same)
    return key == safekey(identifier)
