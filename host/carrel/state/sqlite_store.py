"""Implements the key-value store in one SQLite file for each namespace.

Transactions are short and immediate, and the journal is a WAL: a killed process leaves the whole
change or none of it. Entries that have expired are invisible at once and deleted by the next write.
"""

from __future__ import annotations

import logging
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from carrel.errors import StateError
from carrel.files.sqlite_file import (
    BUSY,
    DAMAGED,
    FULL,
    READ_ONLY,
    SqliteFile,
    result_code,
    transaction,
)

from .store import (
    UPDATE_ATTEMPTS,
    Change,
    StoreLimits,
    decode_key,
    encode_key,
    parse_count,
)

log = logging.getLogger("carrel.state")

T = TypeVar("T")

# The table `total_v1` has the entries and bytes of the file, so that a write need not count them.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entry_v1 (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    expires REAL,
    size INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_v1_expiry ON entry_v1 (expires, id);
CREATE TABLE IF NOT EXISTS total_v1 (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO total_v1 SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM total_v1);
CREATE TRIGGER IF NOT EXISTS entry_v1_added AFTER INSERT ON entry_v1 BEGIN
    UPDATE total_v1 SET entries = entries + 1, bytes = bytes + new.size;
END;
CREATE TRIGGER IF NOT EXISTS entry_v1_removed AFTER DELETE ON entry_v1 BEGIN
    UPDATE total_v1 SET entries = entries - 1, bytes = bytes - old.size;
END;
"""

#: Seconds to wait for another process's transaction.
_BUSY_SECONDS: Final = 5.0

#: Entries that one write deletes because they have expired.
_PURGED: Final = 1000


class SqliteStore:
    """The entries of one file; see `KeyValueStore`."""

    def __init__(
        self, path: Path, limits: StoreLimits, *, wall: Callable[[], float] = time.time
    ) -> None:
        self.path = path
        self._limits = limits
        self._wall = wall
        self._lock = threading.RLock()
        self._file = SqliteFile(
            path, _create_tables, busy_seconds=_BUSY_SECONDS, auto_vacuum="FULL"
        )
        self._closed = False

    def get(self, key: str) -> bytes | None:
        """See `KeyValueStore`."""
        data = encode_key(key)
        return self._run(lambda connection: self._read(connection, data)[0])

    def put(self, key: str, value: bytes, *, seconds: float | None = None) -> None:
        """See `KeyValueStore`."""
        data = encode_key(key)
        self._check_value(value)
        self._transact(lambda connection: self._write(connection, data, value, self._end(seconds)))

    def delete(self, key: str) -> bool:
        """See `KeyValueStore`."""
        data = encode_key(key)

        def work(connection: sqlite3.Connection) -> bool:
            found, _ = self._read(connection, data)
            connection.execute("DELETE FROM entry_v1 WHERE key = ?", (data,))
            self._purge(connection)
            return found is not None

        return self._transact(work)

    def update(self, key: str, change: Change, *, seconds: float | None = None) -> bytes | None:
        """See `KeyValueStore`. No lock is held while `change` runs."""
        data = encode_key(key)
        for attempt in range(UPDATE_ATTEMPTS):
            before = self._run(lambda connection: self._read(connection, data)[0])
            after = change(before)
            if after is not None:
                self._check_value(after)
            end = self._end(seconds)
            if self._transact(
                partial(self._exchange, key=data, before=before, after=after, end=end)
            ):
                return after
            time.sleep(random.random() * min(0.0005 * (attempt + 1), 0.02))  # noqa: S311
        raise self._fault("other processes change the entry all the time", retryable=True)

    def increment(self, key: str, amount: int, *, limit: int, seconds: float) -> int | None:
        """See `KeyValueStore`."""
        data = encode_key(key)

        def work(connection: sqlite3.Connection) -> int | None:
            value, end = self._read(connection, data)
            count = 0 if value is None else parse_count(value)
            if count is None:
                raise self._fault("the entry is no counter")
            count = max(count + amount, 0)
            if amount > 0 and count > limit:
                return None
            end = self._end(seconds) if value is None else end
            self._write(connection, data, b"%d" % count, end)
            return count

        return self._transact(work)

    def clock(self) -> float | None:
        """See `KeyValueStore`: the processes have the machine's clock."""
        return None

    def keys(self, prefix: str) -> list[str]:
        """See `KeyValueStore`."""
        low = encode_key(prefix)

        def work(connection: sqlite3.Connection) -> list[str]:
            # No byte of UTF-8 is 0xff, so nothing with the prefix is beyond.
            rows = connection.execute(
                "SELECT key FROM entry_v1 WHERE key >= ? AND key < ? "
                "AND (expires IS NULL OR expires > ?) ORDER BY key",
                (low, low + b"\xff", self._wall()),
            )
            return [decode_key(key) for (key,) in rows]

        return self._run(work)

    def close(self) -> None:
        """See `KeyValueStore`."""
        with self._lock:
            self._closed = True
            self._file.close()

    def _end(self, seconds: float | None) -> float | None:
        return None if seconds is None else self._wall() + seconds

    def _check_value(self, value: bytes) -> None:
        allowed = self._limits.max_value_bytes
        if len(value) > allowed:
            raise self._fault(f"a value of {len(value):,} bytes; at most {allowed:,} are allowed")

    def _read(
        self, connection: sqlite3.Connection, key: bytes
    ) -> tuple[bytes | None, float | None]:
        """Returns the value and when it expires."""
        row = connection.execute(
            "SELECT value, expires FROM entry_v1 WHERE key = ?", (key,)
        ).fetchone()
        if row is None or (row[1] is not None and row[1] <= self._wall()):
            return None, None
        value, expires = row
        return value, expires

    def _exchange(
        self,
        connection: sqlite3.Connection,
        *,
        key: bytes,
        before: bytes | None,
        after: bytes | None,
        end: float | None,
    ) -> bool:
        """Writes the new value if the present one is still `before`; returns whether it was."""
        if self._read(connection, key)[0] != before:
            return False
        if after is not None:
            self._write(connection, key, after, end)
        else:
            connection.execute("DELETE FROM entry_v1 WHERE key = ?", (key,))
        return True

    def _write(
        self, connection: sqlite3.Connection, key: bytes, value: bytes, end: float | None
    ) -> None:
        self._purge(connection)
        connection.execute("DELETE FROM entry_v1 WHERE key = ?", (key,))
        self._make_room(connection, len(key) + len(value))
        connection.execute(
            "INSERT INTO entry_v1 (key, expires, size, value) VALUES (?, ?, ?, ?)",
            (key, end, len(key) + len(value), value),
        )

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Deletes entries that have expired."""
        connection.execute(
            "DELETE FROM entry_v1 WHERE id IN "
            "(SELECT id FROM entry_v1 WHERE expires <= ? ORDER BY expires LIMIT ?)",
            (self._wall(), _PURGED),
        )

    def _make_room(self, connection: sqlite3.Connection, size: int) -> None:
        limits = self._limits
        entries, used = connection.execute("SELECT entries, bytes FROM total_v1").fetchone()
        while entries + 1 > limits.max_entries or used + size > limits.max_bytes:
            row = None
            if limits.evict:
                row = connection.execute(
                    "SELECT id, size FROM entry_v1 ORDER BY expires IS NULL, expires, id LIMIT 1"
                ).fetchone()
            if row is None:
                raise self._fault(
                    f"full: {entries:,} of {limits.max_entries:,} entries and {used:,} of "
                    f"{limits.max_bytes:,} bytes are in use",
                    remedy="try again when entries have expired",
                    retryable=True,
                )
            connection.execute("DELETE FROM entry_v1 WHERE id = ?", (row[0],))
            entries, used = entries - 1, used - row[1]

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def whole(connection: sqlite3.Connection) -> T:
            with transaction(connection):
                return work(connection)

        return self._run(whole)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            for attempt in (1, 2):
                try:
                    return work(self._connected())
                except (sqlite3.Error, OSError) as fault:
                    self._file.roll_back()
                    code = result_code(fault)
                    replaced = self._file.was_replaced()
                    if code not in BUSY and code != FULL:
                        self._file.close()
                    if attempt == 1 and (replaced or (code in DAMAGED and self._set_aside())):
                        continue
                    raise self._translated(fault, code) from fault
        raise AssertionError("unreachable")

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise self._fault("the store is closed")
        if self._file.was_replaced():
            self._file.close()
        return self._file.connect()

    def _set_aside(self) -> bool:
        """Renames a damaged file, so that a new one is made; returns whether it could."""
        target = self.path.with_name(f"{self.path.name}.damaged-{int(self._wall())}")
        if not self._file.rename(target):
            return False
        log.warning("%s was damaged and starts anew; what was in it is %s", self.path, target)
        return True

    def _translated(self, fault: Exception, code: int) -> StateError:
        if code in BUSY:
            message = f"another process has used the file for {_BUSY_SECONDS:g} s"
            return self._fault(message, remedy="try again", retryable=True)
        if code == FULL:
            return self._fault("the disk is full", remedy="free space on it")
        if code == READ_ONLY:
            return self._fault("it cannot be written to", remedy="fix its permissions")
        reason: str | None = fault.strerror if isinstance(fault, OSError) else str(fault)
        return self._fault(reason or type(fault).__name__, remedy="check the disk and its folder")

    def _fault(self, reason: str, *, remedy: str = "", retryable: bool = False) -> StateError:
        return StateError(str(self.path), reason, remedy=remedy, retryable=retryable)


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}COMMIT;")
