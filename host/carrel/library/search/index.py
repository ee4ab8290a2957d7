"""Holds a library's entries in an SQLite file that is made from the library file.

The file is in the cache folder, and may be deleted at any time: it is made again. Before each
question, modification time, size and inode of the library file are compared with those in the
index; if they differ, the entries whose source changed are put in again. Without a usable cache
folder the index is in memory.

Texts are in a trigram index, so that a term is found inside of words, and in blocks, for terms that
many entries have.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import time
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from carrel.bibliography.item import Item
from carrel.files.derived_database import DerivedDatabase
from carrel.files.sqlite_file import transaction
from carrel.library.errors import LibraryError
from carrel.library.file.library_file import Content, Stamp
from carrel.library.file.library_text import LibraryText, entry_digest
from carrel.library.names import (
    custom_of,
    date_of,
    family_of,
    key_of,
    people_of,
    text_of,
    uuid_of,
    year_of,
)
from carrel.text.folding import folded_letters

from .blocks import BLOCK_SCHEMA, refresh_blocks
from .fields import COLUMN_END, SHORT_COLUMNS, columns_of, exact_names_of, type_of
from .sources import encoded_item

_log = logging.getLogger("carrel.library")

T = TypeVar("T")

#: Changed with the tables below and with what is in them; a file of another version is replaced.
_VERSION: Final = 2
#: Nanoseconds within which a change may leave a file's modification time as it is.
_GRANULARITY: Final = 100_000_000
#: What the index has for the stamp of a missing file.
_NO_FILE: Final = (0, 0, 0)
#: Seconds to wait for another process that builds the same index.
_BUSY_SECONDS: Final = 60.0

_TABLES: Final = ("state", "entries", "sources", "names", "texts", "words", "abstracts", "blocks")
_COLUMNS: Final = ", ".join(SHORT_COLUMNS)
_MARKS: Final = ", ?" * len(SHORT_COLUMNS)
#: What entries are sorted by; each has an index with the place, which decides between equals.
SORT_COLUMNS: Final = ("created", "updated", "published", "author", "title")
#: Places that are changed one by one; for more, the indexes of the orders are made again.
_FEW: Final = 2000
_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS state (
    one INTEGER PRIMARY KEY CHECK (one = 1), digest TEXT, mtime INTEGER, size INTEGER,
    inode INTEGER, looked INTEGER);
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, place INTEGER, key TEXT, folded TEXT, uuid TEXT, digest BLOB,
    created TEXT, updated TEXT, published TEXT, author TEXT, title TEXT, superseded INTEGER,
    type TEXT, year TEXT);
CREATE INDEX IF NOT EXISTS entries_key ON entries (key);
CREATE INDEX IF NOT EXISTS entries_folded ON entries (folded);
CREATE INDEX IF NOT EXISTS entries_uuid ON entries (uuid);
CREATE INDEX IF NOT EXISTS entries_superseded ON entries (id) WHERE superseded;
CREATE TABLE IF NOT EXISTS sources (id INTEGER PRIMARY KEY, source BLOB);
CREATE TABLE IF NOT EXISTS names (
    text TEXT, kind TEXT, entry INTEGER, PRIMARY KEY (text, kind, entry)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS names_entry ON names (entry);
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, body TEXT, abstract TEXT);
{BLOCK_SCHEMA};
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5
    ({_COLUMNS}, content = '', tokenize = 'trigram case_sensitive 1');
CREATE VIRTUAL TABLE IF NOT EXISTS abstracts USING fts5
    (abstract, content = '', tokenize = 'trigram case_sensitive 1');
"""
_PLACES: Final = {f"entries_by_{name}": f"{name}, place" for name in SORT_COLUMNS} | {
    "entries_by_place": "place"
}


class LibraryIndex:
    """The index of one library file. Usable from any thread.

    Args:
        library: the path of the library.
        folder: for the index; created if missing.
    """

    def __init__(self, library: Path, folder: Path) -> None:
        name = hashlib.sha256(os.fsencode(library.absolute())).hexdigest()[:16]
        self.path = folder / f"library-{name}.sqlite3"
        self._database = DerivedDatabase(self.path, _prepare, busy_seconds=_BUSY_SECONDS, log=_log)

    def ask(
        self,
        work: Callable[[sqlite3.Connection], T],
        stamp: Stamp,
        read: Callable[[], tuple[Content, Callable[[], LibraryText]]],
    ) -> T:
        """Runs a question, on the state of the library that the stamp is of, or a later one.

        Args:
            work: the question.
            stamp: of the library file.
            read: reads the file, and returns its content and what parses it; called if the index
                is not of this state.
        """

        def checked(connection: sqlite3.Connection) -> T:
            with transaction(connection, write=False):
                if _is_fresh(connection, stamp):
                    return work(connection)
            return self._about(connection, work, *read())

        return self._run(checked)

    def ask_about(
        self,
        work: Callable[[sqlite3.Connection], T],
        content: Content,
        text: Callable[[], LibraryText],
    ) -> T:
        """Runs a question on one state of the library.

        Args:
            work: the question.
            content: the state.
            text: parses it.
        """
        return self._run(lambda connection: self._about(connection, work, content, text))

    def _about(
        self,
        connection: sqlite3.Connection,
        work: Callable[[sqlite3.Connection], T],
        content: Content,
        text: Callable[[], LibraryText],
    ) -> T:
        with transaction(connection, write=False):
            if _digest(connection) == content.digest and _is_fresh(connection, content.stamp):
                return work(connection)
        with transaction(connection, write=True):
            if _digest(connection) != content.digest:
                self._put_all(connection, text())
            _set_state(connection, content)
            return work(connection)

    def written(
        self,
        before: Content,
        after: Content,
        changed: Mapping[int, Item | None],
        added: Sequence[Item],
        text: LibraryText,
    ) -> None:
        """Puts the entries of a write of this process in, without comparing all others.

        A failure costs a comparison before the next question, and never the write.
        """

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection, write=True):
                if _digest(connection) == before.digest:
                    _apply(connection, changed, added, text)
                    _set_state(connection, after)

        try:
            self._run(work)
        except LibraryError as error:
            _log.debug("%s: %s", self.path, error)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    # Keeping up

    def _put_all(self, connection: sqlite3.Connection, text: LibraryText) -> None:
        """Puts in entries with a new source, and removes those whose source is gone."""
        existing: dict[bytes, list[tuple[int, int]]] = {}
        for number, position, digest in connection.execute(
            "SELECT id, place, digest FROM entries ORDER BY place DESC"
        ):
            existing.setdefault(digest, []).append((number, position))
        moved, new = [], []
        for position in range(len(text.sources)):
            digest = entry_digest(text, position)
            same = existing.get(digest)
            if same:
                number, before = same.pop()
                if before != position:
                    moved.append((position, number))
            else:
                new.append((position, digest))
        touched = [number for left in existing.values() for number, _ in left]
        for number in touched:
            _remove(connection, number)
        with _many_places(connection, len(moved) + len(new)):
            connection.executemany("UPDATE entries SET place = ? WHERE id = ?", moved)
            for position, digest in new:
                item = text.item(position)
                if item is not None:
                    touched.append(_insert(connection, position, digest, item))
        refresh_blocks(connection, touched)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._database.run(work)
        except (sqlite3.Error, OSError) as error:
            raise LibraryError("READ_ERROR", f"the search index failed: {error}") from error


def _insert(connection: sqlite3.Connection, position: int, digest: bytes, item: Item) -> int:
    """Puts an entry in, except in the blocks, and returns its number."""
    custom = custom_of(item)
    key = key_of(item)
    times = (custom.get(name) for name in ("created_at", "timestamp"))
    number = connection.execute(
        "INSERT INTO entries (place, key, folded, uuid, digest, created, updated, published, "
        "author, title, superseded, type, year) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            position,
            key,
            key.casefold(),
            uuid_of(item),
            digest,
            *(timestamp if isinstance(timestamp, str) else "" for timestamp in times),
            date_of(item),
            folded_letters(" ; ".join(family_of(person) for person in people_of(item)))[:200],
            folded_letters(text_of(item, "title"))[:200],
            bool(custom.get("superseded_by")),
            type_of(item),
            year_of(item),
        ),
    ).lastrowid
    *columns, abstract = columns_of(item)
    connection.execute("INSERT INTO sources VALUES (?, ?)", (number, encoded_item(item)))
    connection.execute(
        "INSERT INTO texts VALUES (?, ?, ?)", (number, COLUMN_END.join(columns), abstract)
    )
    connection.execute(
        f"INSERT INTO words (rowid, {_COLUMNS}) VALUES (?{_MARKS})",  # noqa: S608
        (number, *columns),
    )
    if abstract:
        connection.execute(
            "INSERT INTO abstracts (rowid, abstract) VALUES (?, ?)", (number, abstract)
        )
    connection.executemany(
        "INSERT OR IGNORE INTO names (kind, text, entry) VALUES (?, ?, ?)",
        [(*name, number) for name in exact_names_of(item)],
    )
    assert number is not None
    return number


def _remove(connection: sqlite3.Connection, number: int) -> None:
    [body, abstract] = connection.execute(
        "SELECT body, abstract FROM texts WHERE id = ?", (number,)
    ).fetchone()
    # A table without content needs the values of the row that is deleted.
    connection.execute(
        f"INSERT INTO words (words, rowid, {_COLUMNS}) VALUES ('delete', ?{_MARKS})",  # noqa: S608
        (number, *body.split(COLUMN_END)),
    )
    if abstract:
        connection.execute(
            "INSERT INTO abstracts (abstracts, rowid, abstract) VALUES ('delete', ?, ?)",
            (number, abstract),
        )
    for table, column in (
        ("names", "entry"), ("texts", "id"), ("sources", "id"), ("entries", "id"),
    ):  # fmt: skip
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608


def _apply(
    connection: sqlite3.Connection,
    changed: Mapping[int, Item | None],
    added: Sequence[Item],
    text: LibraryText,
) -> None:
    """Changes the index as the file was changed; `text` is the new one."""
    touched = []
    for position in sorted(changed, reverse=True):
        for (number,) in connection.execute("SELECT id FROM entries WHERE place = ?", (position,)):
            _remove(connection, number)
            touched.append(number)
    gone = sorted(position for position, item in changed.items() if item is None)
    with _many_places(connection, len(text.sources) - gone[0] if gone else 0):
        for position in reversed(gone):
            connection.execute("UPDATE entries SET place = place - 1 WHERE place > ?", (position,))
    moved = (
        position - bisect(gone, position) for position, item in changed.items() if item is not None
    )
    whole = len(text.sources)
    for position in (*moved, *range(whole - len(added), whole)):
        item = text.item(position)
        if item is not None:
            touched.append(_insert(connection, position, entry_digest(text, position), item))
    refresh_blocks(connection, touched)


@contextlib.contextmanager
def _many_places(connection: sqlite3.Connection, count: int) -> Iterator[None]:
    """Makes the indexes of the orders again after many changes of places: that is quicker."""
    if count > _FEW:
        for name in _PLACES:
            connection.execute(f"DROP INDEX {name}")
    yield
    if count > _FEW:
        _index_places(connection)


def _index_places(connection: sqlite3.Connection) -> None:
    for name, columns in _PLACES.items():
        connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON entries ({columns})")


def _is_fresh(connection: sqlite3.Connection, stamp: Stamp) -> bool:
    """Returns whether the index is of the file with this stamp."""
    row = connection.execute("SELECT mtime, size, inode, looked FROM state").fetchone()
    if row is None or stamp is None:
        return row is not None and row[:3] == _NO_FILE
    # A file that was read right after it was written may have been written once more.
    return bool(row[:3] == stamp and row[3] - row[0] > _GRANULARITY)


def _set_state(connection: sqlite3.Connection, content: Content) -> None:
    connection.execute("DELETE FROM state")
    connection.execute(
        "INSERT INTO state VALUES (1, ?, ?, ?, ?, ?)",
        (content.digest, *(content.stamp or _NO_FILE), time.time_ns()),
    )


def _digest(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT digest FROM state").fetchone()
    return row[0] if row else None


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA mmap_size = 1073741824")
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version != _VERSION:
        with transaction(connection, write=True):
            for name in _TABLES:
                connection.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            _index_places(connection)
            connection.execute(f"PRAGMA user_version = {_VERSION}")


def sources_of(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[bytes]:
    """Returns the JSON texts of entries, in the order of their numbers."""
    marks = ", ".join("?" * len(numbers))
    found = dict(
        connection.execute(f"SELECT id, source FROM sources WHERE id IN ({marks})", numbers)  # noqa: S608
    )
    return [found[number] for number in numbers]
