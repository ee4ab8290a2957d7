"""A small SQLite file that is optional: its failures never fail a call.

Cache and pace must not fail a call because a folder is read-only, a disk full or a file damaged. So
faults of the file are not raised: operations return None, callers do without, and the log has one
warning.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from carrel.files.sqlite_file import BUSY, DAMAGED, SqliteFile, result_code, transaction

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger("carrel.fetch")

T = TypeVar("T")

#: Seconds before a file that failed is tried again.
_TRY_AGAIN = 60.0

#: Seconds between checks that the open file is still the one at its path.
_LOOK_EVERY = 1.0


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
        self._purpose = purpose
        self._file = SqliteFile(
            path,
            lambda connection: connection.executescript(schema),
            busy_seconds=busy_seconds,
            auto_vacuum="INCREMENTAL",
        )
        self._lock = threading.Lock()
        self._warned = False
        self._closed = False
        self._try_again = 0.0
        self._look_again = 0.0

    def run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Returns what `work` returns, or None when the file cannot be used now."""
        with self._lock:
            self._look()
            for attempt in (1, 2):
                try:
                    connection = self._connected()
                    return None if connection is None else work(connection)
                except Exception as fault:
                    if not _is_of_the_file(fault):
                        raise
                    self._file.roll_back()
                    if not self._recover(fault) or attempt == 2:
                        return None
        return None

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Like `run`, inside one write transaction."""

        def whole(connection: sqlite3.Connection) -> T:
            with transaction(connection):
                return work(connection)

        return self.run(whole)

    def close(self) -> None:
        """Closes the file; later operations return None."""
        with self._lock:
            self._closed = True
            self._file.close()

    def _connected(self) -> sqlite3.Connection | None:
        if self._file.connection is None:
            if self._closed or time.monotonic() < self._try_again:
                return None
            self._look_again = time.monotonic() + _LOOK_EVERY
        return self._file.connect()

    def _look(self) -> None:
        """Closes the connection from time to time if the file was deleted or replaced."""
        now = time.monotonic()
        if self._file.connection is not None and now > self._look_again:
            self._look_again = now + _LOOK_EVERY
            if self._file.was_replaced():
                self._file.close()

    def _recover(self, fault: Exception) -> bool:
        """Whether to try once more after the fault."""
        code = result_code(fault)
        if code in BUSY:
            log.debug("%s is busy; continuing without %s", self._path, self._purpose)
            return False
        replaced = self._file.was_replaced()
        self._file.close()
        if replaced:
            return True
        if code in DAMAGED and self._file.remove():
            log.warning("%s was damaged and has been replaced", self._path)
            return True
        self._try_again = time.monotonic() + _TRY_AGAIN
        if not self._warned:
            self._warned = True
            log.warning(
                "%s cannot be used (%s); continuing without %s",
                self._path,
                type(fault).__name__,
                self._purpose,
            )
        return False


def _is_of_the_file(fault: Exception) -> bool:
    import sqlite3

    return isinstance(fault, sqlite3.Error | OSError)
