"""Opens SQLite files that several processes share, and distinguishes their faults.

What follows from a fault is decided by the classes that use this one: a cache does without, a store
raises an error, and a derived database is built again.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import sqlite3

# Primary result codes of SQLite, https://sqlite.org/rescode.html.
BUSY: Final = frozenset({5, 6})  # and locked
READ_ONLY: Final = 8
FULL: Final = 13
DAMAGED: Final = frozenset({11, 26})  # corrupt, and not a database

#: Attempts at opening while other processes open it too; making a WAL ignores the busy timeout.
_OPEN_ATTEMPTS: Final = 10

#: Seconds after which a busy file is not tried again, if its busy timeout is shorter.
_OPEN_SECONDS: Final = 0.5


class SqliteFile:
    """One connection to an SQLite file, for any thread; the caller has a lock.

    The journal is a WAL: a killed process leaves the whole transaction or none of it. Writes are
    not flushed to the disk, so a power cut may lose the last seconds.

    Args:
        path: the file; its folder is created if missing. None for a database in memory.
        prepare: sets up a new connection and creates missing tables.
        busy_seconds: how long to wait for another process's transaction.
        auto_vacuum: how a new file returns free pages.
    """

    def __init__(
        self,
        path: Path | None,
        prepare: Callable[[sqlite3.Connection], object],
        *,
        busy_seconds: float,
        auto_vacuum: Literal["NONE", "FULL", "INCREMENTAL"] = "NONE",
    ) -> None:
        self.path = path
        self.connection: sqlite3.Connection | None = None
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._auto_vacuum = auto_vacuum
        self._identity: tuple[int, int] | None = None

    def connect(self) -> sqlite3.Connection:
        """Returns the connection; opens the file if it is not open.

        Raises:
            sqlite3.Error: SQLite cannot use the file.
            OSError: the file or its folder cannot be created.
        """
        if self.connection is None:
            if self.path is not None:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # Created here rather than by SQLite, so that only this user can read it.
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self.connection = self._open()
            self._identity = self._find()
        return self.connection

    def was_replaced(self) -> bool:
        """Whether the file was deleted or replaced since it was opened."""
        return self.connection is not None and self._find() != self._identity

    def roll_back(self) -> None:
        """Ends a transaction that failed; closes the connection if even that fails."""
        import sqlite3

        if self.connection is not None and self.connection.in_transaction:
            try:
                self.connection.execute("ROLLBACK")
            except sqlite3.Error:
                self.close()

    def close(self) -> None:
        """Closes the connection; `connect` opens a new one."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def remove(self) -> bool:
        """Deletes the file and its journal; returns whether it could."""
        return self._unlink(("", "-wal", "-shm"))

    def rename(self, new: Path) -> bool:
        """Renames the file, and deletes its journal; returns whether it could."""
        if self.path is None:
            return False
        try:
            self.path.replace(new)
        except OSError:
            return False
        return self._unlink(("-wal", "-shm"))

    def _unlink(self, suffixes: tuple[str, ...]) -> bool:
        if self.path is None:
            return True
        try:
            for suffix in suffixes:
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _open(self) -> sqlite3.Connection:
        import sqlite3

        started = time.monotonic()
        for attempt in range(1, _OPEN_ATTEMPTS + 1):
            connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=self._busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(f"PRAGMA auto_vacuum = {self._auto_vacuum}")
                connection.execute("PRAGMA journal_mode = WAL")
                self._prepare(connection)
            except BaseException as error:
                connection.close()
                waited = time.monotonic() - started >= max(self._busy_seconds, _OPEN_SECONDS)
                if result_code(error) not in BUSY or attempt == _OPEN_ATTEMPTS or waited:
                    raise
                time.sleep(0.01 * attempt)
            else:
                return connection
        raise AssertionError("unreachable")

    def _find(self) -> tuple[int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool = True) -> Iterator[None]:
    """Commits what the block does, or rolls it back if it raises.

    Inside a transaction it begins no further one.

    Args:
        connection: to the file.
        write: whether to wait at the beginning until no other process writes.
    """
    import sqlite3

    inner = connection.in_transaction
    if inner:
        yield
        return
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def result_code(error: BaseException) -> int:
    """Returns SQLite's primary result code; 0 for other errors."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
