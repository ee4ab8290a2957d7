"""Searches the entries of a paper store in an SQLite file that is made from them.

The file is in the cache folder, and may be deleted at any time: it is built again. It is compared
with the entries before each answer. The folder's modification time says whether an entry was
written, renamed or removed; Carrel's own writes also note the entry before they write it, so that
no entry is missed of a process that was killed. An answer's entries are compared with their files
one by one. Without a usable cache folder the index is in memory.

Incomplete: an entry that is edited in place, so that the folder does not change, is found under its
new words only after the next write; so is, for up to a minute, one that another program writes in
the very moment in which Carrel writes one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from carrel.files.derived_database import DerivedDatabase
from carrel.files.sqlite_file import transaction
from carrel.papers.errors import PaperError
from carrel.records import Id

from .entry import MAX_BYTES, PaperEntry
from .quick_reading import quick_entry
from .safekey import is_safekey
from .words import folded_text, search_expression

_log = logging.getLogger("carrel.papers")

T = TypeVar("T")

#: Changed with the tables below; a file of another version is replaced.
_VERSION: Final = 1
_ENDING: Final = ".toml"
#: Matches that are ranked: the latest ones.
_RANKED: Final = 1000
#: Seconds in which a change may leave the folder's modification time as it is.
_GRANULARITY: Final = 0.02
#: Seconds after which the entries are compared again although only Carrel seemed to write.
_COMPARE_AGAIN: Final = 60.0
#: Seconds after which a noted write has ended, or its process was killed.
_NOTED: Final = 60.0
#: Modification times of the folder that are remembered as Carrel's.
_MARKS: Final = 64
_BUSY_SECONDS: Final = 5.0

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, mtime INTEGER, size INTEGER, inode INTEGER,
    fetched REAL, summary TEXT, folded TEXT, fault TEXT);
CREATE INDEX IF NOT EXISTS entries_fetched ON entries (fetched);
CREATE TABLE IF NOT EXISTS ids (kind TEXT, folded TEXT, entry INTEGER);
CREATE INDEX IF NOT EXISTS ids_folded ON ids (folded, kind);
CREATE INDEX IF NOT EXISTS ids_entry ON ids (entry);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5
    (title, authors, venue, publisher, content = '', tokenize = 'unicode61', prefix = '2 3');
CREATE TABLE IF NOT EXISTS noted (key TEXT PRIMARY KEY, since REAL);
CREATE TABLE IF NOT EXISTS marks (mtime INTEGER PRIMARY KEY, own INTEGER, at REAL);
"""


@dataclass(frozen=True, slots=True)
class PaperSummary:
    """A paper as lists show it.

    Attributes:
        fetched_at: RFC 3339, as the entry has it.
        size_bytes: of the PDF; 0 without one.
    """

    key: str
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    fetched_at: str | None = None
    size_bytes: int = 0
    has_pdf: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns the members that are known."""
        members: dict[str, Any] = {"key": self.key, "title": self.title}
        if self.authors:
            members["authors"] = list(self.authors)
        for name in ("year", "venue", "doi", "arxiv_id", "fetched_at"):
            value = getattr(self, name)
            if value is not None:
                members[name] = value
        return {**members, "size_bytes": self.size_bytes, "has_pdf": self.has_pdf}


class PaperIndex:
    """The index of one store. Usable from any thread.

    Args:
        metadata: the folder of metadata files.
        folder: for the index; created if missing.
    """

    def __init__(self, metadata: Path, folder: Path) -> None:
        self._metadata = metadata
        name = hashlib.sha256(os.fsencode(os.path.realpath(metadata))).hexdigest()[:16]
        self.path = folder / f"papers-{name}.sqlite3"
        self._database = DerivedDatabase(self.path, _prepare, busy_seconds=_BUSY_SECONDS, log=_log)

    # Questions

    def search(self, query: str, limit: int) -> list[PaperSummary]:
        """Returns the best matches of all words; see `PaperStore.search`."""
        expression = search_expression(query)
        if not expression:
            return []
        part = " ".join(folded_text(query).split())

        def work(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
            found = connection.execute(
                "SELECT entries.* FROM (SELECT rowid AS hit, rank AS score FROM words "
                "WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) "
                "JOIN entries ON id = hit ORDER BY score, hit DESC LIMIT ?",
                (expression, _RANKED, limit),
            ).fetchall()
            if found:
                return found
            return connection.execute(
                "SELECT * FROM entries WHERE instr(folded, ?) ORDER BY id DESC LIMIT ?",
                (part, limit),
            ).fetchall()

        return self._answer(work)

    def recent(self, limit: int) -> list[PaperSummary]:
        """Returns the entries that were fetched last; those without a time come last."""
        return self._answer(
            lambda connection: connection.execute(
                "SELECT * FROM entries WHERE fault IS NULL ORDER BY fetched DESC, key LIMIT ?",
                (limit,),
            ).fetchall()
        )

    def keys_of(self, identifier: Id) -> list[str]:
        """Returns the keys of the entries with that identifier."""

        def work(connection: sqlite3.Connection) -> list[str]:
            self._refresh(connection, names_only=True)
            rows = connection.execute(
                "SELECT key FROM ids JOIN entries ON entry = id WHERE ids.folded = ? AND kind = ? "
                "ORDER BY key",
                (identifier.folded, identifier.type),
            )
            return [key for (key,) in rows]

        return self._run(work)

    def keys_of_versions(self, arxiv: str) -> list[str]:
        """Returns the keys of the entries of any version of an e-print, the latest first."""

        def work(connection: sqlite3.Connection) -> list[str]:
            self._refresh(connection, names_only=True)
            rows = connection.execute(
                "SELECT key, ids.folded FROM ids JOIN entries ON entry = id "
                "WHERE ids.folded > ? AND ids.folded < ? AND kind = 'arxiv'",
                (f"{arxiv}v", f"{arxiv}w"),
            )
            versions = sorted((-int(text[len(arxiv) + 1 :]), key) for key, text in rows)
            return [key for _, key in versions]

        return self._run(work)

    def faults(self) -> dict[str, str]:
        """Returns key → what is wrong, for the files that are not entries."""

        def work(connection: sqlite3.Connection) -> dict[str, str]:
            self._refresh(connection)
            return dict(
                connection.execute(
                    "SELECT key, fault FROM entries WHERE fault IS NOT NULL ORDER BY key"
                )
            )

        return self._run(work)

    def count(self) -> int:
        """Returns the number of entries."""

        def work(connection: sqlite3.Connection) -> int:
            self._refresh(connection)
            [count] = connection.execute(
                "SELECT count(*) FROM entries WHERE fault IS NULL"
            ).fetchone()
            return int(count)

        return self._run(work)

    # Writes of this process

    def start(self) -> int | None:
        """Returns the folder's modification time, to be passed to `note` of the same write."""
        return _mtime(self._metadata)

    def note(self, key: str) -> None:
        """Notes that an entry is about to be written, so that it is looked at again."""
        self._try(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO noted VALUES (?, ?)", (key, time.time())
            )
        )

    def written(self, key: str, before: int | None) -> None:
        """Puts an entry that was written into the index.

        Args:
            key: of the entry.
            before: the folder's modification time before the write, see `start`.
        """

        def work(connection: sqlite3.Connection) -> None:
            self._put(connection, key)
            connection.execute("DELETE FROM noted WHERE key = ?", (key,))
            after = _mtime(self._metadata)
            mark = connection.execute(
                "SELECT own, at FROM marks WHERE mtime = ?", (before,)
            ).fetchone()
            if mark is not None and after is not None and after != before:
                # `at` stays that of the last comparison, which ends the trust in own marks.
                self._mark(connection, after, own=True, at=mark[1])

        self._try(work)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    # Keeping up

    def _answer(
        self, work: Callable[[sqlite3.Connection], list[tuple[Any, ...]]]
    ) -> list[PaperSummary]:
        def checked(connection: sqlite3.Connection) -> list[PaperSummary]:
            self._refresh(connection)
            rows = work(connection)
            if self._renew(connection, rows):
                rows = work(connection)
            return [_summary(row) for row in rows]

        return self._run(checked)

    def _refresh(self, connection: sqlite3.Connection, *, names_only: bool = False) -> None:
        """Compares the index with the folder, as far as something may have changed."""
        noted = connection.execute("SELECT key, since FROM noted").fetchall()
        if noted:
            with transaction(connection):
                for key, since in noted:
                    self._put(connection, key)
                    if time.time() - since > _NOTED:
                        connection.execute("DELETE FROM noted WHERE key = ?", (key,))
        mtime = _mtime(self._metadata)
        mark = connection.execute("SELECT own, at FROM marks WHERE mtime = ?", (mtime,)).fetchone()
        if mark is not None and not (mark[0] and time.time() - mark[1] > _COMPARE_AGAIN):
            return
        if names_only:
            self._add_unknown(connection)
        else:
            self._compare(connection, mtime)

    def _compare(self, connection: sqlite3.Connection, mtime: int | None) -> None:
        """Compares every file with its row."""
        at = time.time()
        there: dict[str, os.stat_result] = {}
        for file in self._files():
            with contextlib.suppress(OSError):  # it was removed meanwhile
                there[file.name[: -len(_ENDING)]] = file.stat()
        rows = connection.execute("SELECT key, mtime, size, inode FROM entries")
        indexed = {key: (when, size, inode) for key, when, size, inode in rows}
        with transaction(connection):
            for key in indexed.keys() - there.keys():
                self._remove(connection, key)
            changed = [key for key, status in there.items() if indexed.get(key) != _stamp(status)]
            self._put_all(connection, changed)
            if mtime is not None:
                # What changed within the clock's granularity may have escaped the listing.
                own = at - mtime / 1e9 < _GRANULARITY
                self._mark(connection, mtime, own=own, at=at)

    def _add_unknown(self, connection: sqlite3.Connection) -> None:
        """Adds the files whose names are new."""
        indexed = {key for (key,) in connection.execute("SELECT key FROM entries")}
        new = [file.name[: -len(_ENDING)] for file in self._files()]
        new = [key for key in new if key not in indexed]
        if new:
            with transaction(connection):
                self._put_all(connection, new)

    def _files(self) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(self._metadata) as found:
                for file in found:
                    if file.name.endswith(_ENDING) and is_safekey(file.name[: -len(_ENDING)]):
                        yield file
        except (FileNotFoundError, NotADirectoryError):
            return

    def _renew(self, connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> bool:
        """Reads the entries of an answer again that have changed; returns whether any had."""
        changed = []
        for _, key, mtime, size, inode, *_ in rows:
            try:
                same = _stamp((self._metadata / f"{key}{_ENDING}").stat()) == (mtime, size, inode)
            except OSError:
                same = False
            if not same:
                changed.append(key)
        if changed:
            with transaction(connection):
                for key in changed:
                    self._put(connection, key)
        return bool(changed)

    def _put_all(self, connection: sqlite3.Connection, keys: list[str]) -> None:
        # New entries in the order of their files' times: later matches are ranked first.
        for key in sorted(keys):
            self._put(connection, key)

    def _put(self, connection: sqlite3.Connection, key: str) -> None:
        """Reads one file, and replaces its row; removes the row of a file that is gone."""
        path = self._metadata / f"{key}{_ENDING}"
        try:
            with path.open("rb") as file:
                stamp = _stamp(os.fstat(file.fileno()))
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            self._remove(connection, key)
            return
        except OSError as error:
            stamp, data = (0, 0, 0), b""
            fault: str | None = error.strerror or str(error)
        else:
            fault = None
        entry: PaperEntry | None = None
        if fault is None:
            try:
                entry = quick_entry(data) or PaperEntry.from_toml(data)
            except PaperError as error:
                fault = error.message
        self._remove(connection, key)
        if entry is None:
            connection.execute(
                "INSERT INTO entries (key, mtime, size, inode, fault) VALUES (?, ?, ?, ?, ?)",
                (key, *stamp, fault),
            )
            return
        self._insert(connection, key, stamp, entry)

    def _insert(
        self,
        connection: sqlite3.Connection,
        key: str,
        stamp: tuple[int, int, int],
        entry: PaperEntry,
    ) -> None:
        shown, fetched = _shown(entry)
        words = tuple(
            folded_text(text)
            for text in (
                entry.title,
                " ; ".join(entry.authors),
                entry.venue or "",
                entry.publisher or "",
            )
        )
        row = connection.execute(
            "INSERT INTO entries (key, mtime, size, inode, fetched, summary, folded) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (key, *stamp, fetched, shown, "\n".join(words)),
        ).lastrowid
        connection.execute(
            "INSERT INTO words (rowid, title, authors, venue, publisher) VALUES (?, ?, ?, ?, ?)",
            (row, *words),
        )
        connection.executemany(
            "INSERT INTO ids VALUES (?, ?, ?)",
            [(identifier.type, identifier.folded, row) for identifier in dict.fromkeys(entry.ids)],
        )

    def _remove(self, connection: sqlite3.Connection, key: str) -> None:
        row = connection.execute("SELECT id, folded FROM entries WHERE key = ?", (key,)).fetchone()
        if row is None:
            return
        number, folded = row
        if folded is not None:
            # A table without content needs the old values to remove a row.
            connection.execute(
                "INSERT INTO words (words, rowid, title, authors, venue, publisher) "
                "VALUES ('delete', ?, ?, ?, ?, ?)",
                (number, *folded.split("\n")),
            )
        connection.execute("DELETE FROM ids WHERE entry = ?", (number,))
        connection.execute("DELETE FROM entries WHERE id = ?", (number,))

    @staticmethod
    def _mark(connection: sqlite3.Connection, mtime: int, *, own: bool, at: float) -> None:
        """Remembers a modification time at which the index had all entries."""
        if not own:
            connection.execute("DELETE FROM marks")
        connection.execute("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)", (mtime, own, at))
        connection.execute(
            "DELETE FROM marks WHERE mtime NOT IN "
            "(SELECT mtime FROM marks ORDER BY mtime DESC LIMIT ?)",
            (_MARKS,),
        )

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._database.run(work)
        except (sqlite3.Error, OSError) as error:
            raise PaperError("STORE_ERROR", f"the search index failed: {error}") from error

    def _try(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Runs a change; a failure costs a comparison later, and never the caller's write."""

        def change(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                work(connection)

        self._database.attempt(change)


def _prepare(connection: sqlite3.Connection) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    with transaction(connection):
        if version != _VERSION:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN "
                "('entries', 'ids', 'words', 'noted', 'marks')"
            ).fetchall():
                connection.execute(f"DROP TABLE {name}")
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _mtime(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    # The inode as SQLite's signed integer.
    return found.st_mtime_ns, found.st_size, found.st_ino & (2**63 - 1)


def _shown(entry: PaperEntry) -> tuple[str, float | None]:
    """Returns what a list says of an entry, as JSON, and when it was fetched."""
    fetched_at = entry.fetched.get("fetched_at")
    moment: float | None = None
    if isinstance(fetched_at, datetime):
        fetched_at = fetched_at.isoformat()
    if isinstance(fetched_at, str):
        with contextlib.suppress(ValueError, OverflowError):
            when = datetime.fromisoformat(fetched_at)
            moment = (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    else:
        fetched_at = None
    size = entry.fetched.get("size_bytes", 0)
    fields = [
        entry.title, entry.authors, entry.year, entry.venue, entry.doi, entry.arxiv_id, fetched_at,
        size if isinstance(size, int) else 0, entry.pdf_path is not None,
    ]  # fmt: skip
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")), moment


def _summary(row: tuple[Any, ...]) -> PaperSummary:
    title, authors, year, venue, doi, arxiv_id, fetched_at, size, pdf = json.loads(row[6])
    return PaperSummary(
        row[1], title, tuple(authors), year, venue, doi, arxiv_id, fetched_at, size, pdf
    )
