"""A small SQLite file that is optional: its failures never fail a call.

Cache and pace must not fail a call because a folder is read-only, a disk full or a file damaged. So
faults of the file are not raised: operations return None, callers do without, and the log has one
warning.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Seconds before a file that failed is tried again.
_TRY_AGAIN = 60.0

#: Seconds between checks that the open file is still the one at its path.
_LOOK_EVERY = 1.0

#: Attempts at opening while other processes open it too; making a WAL ignores the busy timeout.
_OPEN_ATTEMPTS = 10

# Primary result codes of SQLite, https://sqlite.org/rescode.html.
_BUSY, _LOCKED, _CORRUPT, _NOT_A_DATABASE = 5, 6, 11, 26


class Database:
    """One connection to one file, usable from any thread.

    Several processes may use the file concurrently: transactions are short and immediate, the
    journal is a WAL, and a process that dies leaves the whole transaction or none of it.

    Args:
        path: the file; its folder is created if missing.
        schema: statements that create missing tables.
        purpose: what is lost without it, for the warning.
        busy_seconds: how long to wait for another process's transaction.
    """

    def __init__(self, path: Path, schema: str, *, purpose: str, busy_seconds: float) -> None:
        self._path = path
        self._schema = schema
        self._purpose = purpose
        self._busy = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()
        self._warned = False
        self._closed = False
        self._try_again = 0.0
        self._identity: tuple[int, int] | None = None
        self._look_again = 0.0

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Returns what `work` returns, or None when the file cannot be used now."""
        with self._lock:
            if self._connection is not None and time.monotonic() > self._look_again:
                self._look()
            for attempt in (1, 2):
                try:
                    connection = self._connection or self._open()
                    return None if connection is None else work(connection)
                except Exception as fault:
                    if not _is_of_the_file(fault):
                        raise
                    self._undo()
                    if not self._recover(fault) or attempt == 2:
                        return None
        return None

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Like `run`, inside one write transaction."""

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            result = work(connection)
            connection.execute("COMMIT")
            return result

        return self.run(transaction)

    def close(self) -> None:
        """Closes the file; later operations return None."""
        with self._lock:
            self._closed = True
            self._drop()

    def _open(self) -> sqlite3.Connection | None:
        import sqlite3

        if self._closed or time.monotonic() < self._try_again:
            return None
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Created here rather than by SQLite, so that only this user can read it.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        for attempt in range(_OPEN_ATTEMPTS):
            connection = sqlite3.connect(
                self._path, timeout=self._busy, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except sqlite3.Error as fault:
                connection.close()
                if _code(fault) not in {_BUSY, _LOCKED} or attempt == _OPEN_ATTEMPTS - 1:
                    raise
                time.sleep(0.01 * (attempt + 1))
            else:
                self._connection = connection
                self._identity = self._find()
                self._look_again = time.monotonic() + _LOOK_EVERY
                return connection
        return None

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        # Losing the last seconds to a power cut costs nothing here; a killed process loses nothing.
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(self._schema)

    def _look(self) -> None:
        """Closes the connection if the file was deleted or replaced."""
        self._look_again = time.monotonic() + _LOOK_EVERY
        if self._find() != self._identity:
            self._drop()

    def _find(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _undo(self) -> None:
        import sqlite3

        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._drop()

    def _recover(self, fault: Exception) -> bool:
        """Whether to try once more after the fault."""
        code = _code(fault)
        if code in {_BUSY, _LOCKED}:
            log.debug("%s is busy; going on without %s", self._path, self._purpose)
            return False
        replaced = self._connection is not None and self._find() != self._identity
        self._drop()
        if replaced:
            return True
        if code in {_CORRUPT, _NOT_A_DATABASE} and self._discard():
            log.warning("%s was damaged and has been replaced", self._path)
            return True
        self._try_again = time.monotonic() + _TRY_AGAIN
        if not self._warned:
            self._warned = True
            log.warning(
                "%s cannot be used (%s); going on without %s",
                self._path,
                type(fault).__name__,
                self._purpose,
            )
        return False

    def _discard(self) -> bool:
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_of_the_file(fault: Exception) -> bool:
    import sqlite3

    return isinstance(fault, sqlite3.Error | OSError)


def _code(fault: Exception) -> int:
    """SQLite's primary result code; 0 for other faults."""
    code: int = getattr(fault, "sqlite_errorcode", 0)
    return code & 0xFF
