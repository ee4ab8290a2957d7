"""Defines an SQLite file that is made from other files and may be deleted at any time."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

#: Primary result codes of SQLite, https://sqlite.org/rescode.html: damaged, and not a database.
_DAMAGED: Final = frozenset({11, 26})


class DerivedDatabase:
    """An SQLite file in the cache folder. Usable from any thread.

    The file is opened when it is first needed, and again when it was deleted or replaced. A damaged
    file is made again. If the file cannot be used, the database is in memory.

    Args:
        path: of the file; its folder is created if missing.
        prepare: sets up a new connection, and creates what is missing.
        busy_seconds: seconds to wait for another process that writes.
        log: of the feature that the file belongs to.
    """

    def __init__(
        self,
        path: Path,
        prepare: Callable[[sqlite3.Connection], None],
        *,
        busy_seconds: float,
        log: logging.Logger,
    ) -> None:
        self._connection: sqlite3.Connection | None = None
        self.path = path
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._log = log
        self._lock = threading.RLock()
        self._identity: tuple[int, int] | None = None
        self._in_memory = False

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs a question; up to three times, the last time in memory.

        Raises:
            sqlite3.Error: it failed each time; likewise `OSError`.
        """
        with self._lock:
            for attempt in range(3):
                try:
                    return work(self._connected())
                except (sqlite3.Error, OSError) as error:
                    self._recover(error, last=attempt == 1)
                    if attempt == 2:
                        raise
        raise AssertionError("unreachable")

    def attempt(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Runs a change once; a failure is logged for debugging only."""
        with self._lock:
            try:
                work(self._connected())
            except (sqlite3.Error, OSError) as error:
                self._log.debug("%s: %s", self.path, error)
                self._recover(error, last=False)

    def close(self) -> None:
        """Closes the file; a later question opens it again."""
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        self._drop()

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._in_memory or _identity(self.path) == self._identity:
                return self._connection
            self._drop()
        if self._in_memory:
            self._connection = self._opened(":memory:")
            return self._connection
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        self._connection = self._opened(self.path)
        self._identity = _identity(self.path)
        return self._connection

    def _opened(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing; after a power cut the file is built again.
            connection.execute("PRAGMA synchronous = OFF")
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception, *, last: bool) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        self._drop()
        if code in _DAMAGED:
            self._log.warning("%s was damaged and is built again", self.path)
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(OSError):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        if last or (code not in _DAMAGED and isinstance(error, OSError)):
            if not self._in_memory:
                self._log.warning("%s cannot be used (%s); searching in memory", self.path, error)
            self._in_memory = True

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
