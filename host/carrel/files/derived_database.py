"""Defines an SQLite file that is made from other files and may be deleted at any time."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .sqlite_file import DAMAGED, SqliteFile, result_code

T = TypeVar("T")


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
        self.path = path
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._log = log
        self._lock = threading.RLock()
        self._file = SqliteFile(path, prepare, busy_seconds=busy_seconds)

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
            self._file.close()

    def __del__(self) -> None:
        self._file.close()

    def _connected(self) -> sqlite3.Connection:
        if self._file.was_replaced():
            self._file.close()
        return self._file.connect()

    def _recover(self, error: Exception, *, last: bool) -> None:
        self._file.roll_back()
        self._file.close()
        damaged = result_code(error) in DAMAGED
        if damaged:
            self._log.warning("%s was damaged and is built again", self.path)
            self._file.remove()
        unusable = last or (not damaged and isinstance(error, OSError))
        if unusable and self._file.path is not None:
            self._log.warning("%s cannot be used (%s); searching in memory", self.path, error)
            self._file = SqliteFile(None, self._prepare, busy_seconds=self._busy_seconds)
