"""Appends rows to the provenance log, from any number of processes.

The log fails closed: a row is on the disk when `append` returns, and an event whose row cannot be
written must not continue. Beside the log are `NAME.lock`, which is held while a row is appended,
and `NAME.head`, which says how far the log went, so that a removed end is found.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from carrel.files.atomic_write import flush_folder
from carrel.papers.errors import PaperError
from carrel.papers.locking import locked

from .head import write_head
from .rotation import ROTATE_BYTES, pack_all, prune, rotate
from .row import GENESIS, LogRow, new_ulid, row_hash, row_line

if TYPE_CHECKING:
    from .verify import LogReport

#: Bytes of the longest row.
MAX_ROW: Final = 2**20


class ProvenanceLog:
    """The log of one session, usable from any thread.

    Args:
        path: the file; its folder is created by the first row.
        session_id: a ULID; a new one by default. One for each process.
        retention_days: days after which packed logs are deleted; 0 keeps them.
        rotate_bytes: size at which the log is packed; 0 never packs it.
        now: the clock, seconds since 1970.
    """

    def __init__(
        self,
        path: Path,
        *,
        session_id: str | None = None,
        retention_days: int = 90,
        rotate_bytes: int = ROTATE_BYTES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.path = path
        self.session_id = session_id or new_ulid(now())
        self.retention_days = retention_days
        self._rotate_bytes = rotate_bytes
        self._now = now
        self._mutex = threading.Lock()
        self._sequence = 0
        #: Device, inode, size and last hash of the log as this object left it.
        self._left: tuple[tuple[int, int, int], str] | None = None
        self._pruned = False

    def append(self, row: LogRow) -> dict[str, Any]:
        """Appends a row; when this returns it is on the disk. Returns the row with its hashes.

        Raises:
            PaperError: `LOG_ERROR`; the row could not be written, or the log's end is damaged. The
                caller must not continue. `LOCK_TIMEOUT`: another process held the log.
        """
        with self._mutex, _explained(self.path):
            self._make_folder()
            with locked(self.path.with_name(f"{self.path.name}.lock")):
                self._tidy()
                return self._append_locked(row)

    def verify(self) -> LogReport:
        """Checks the log and all packed ones; see `verify_log`.

        Raises:
            PaperError: `LOG_ERROR`; a file cannot be read.
        """
        from .verify import verify_log

        return verify_log(self.path)

    def _append_locked(self, row: LogRow) -> dict[str, Any]:
        created = not self.path.exists()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags | getattr(os, "O_BINARY", 0), 0o600)
        try:
            if created:
                flush_folder(self.path.parent)
            previous = self._end(handle)
            line_members = row.members(
                now=self._now(),
                sequence=self._sequence + 1,
                session_id=self.session_id,
                previous=previous,
            )
            line = row_line(line_members)
            if len(line) > MAX_ROW:
                raise PaperError("LOG_ERROR", f"the row has more than {MAX_ROW:,} bytes")
            size = os.fstat(handle).st_size
            try:
                _write(handle, line)
                os.fsync(handle)
            except BaseException:
                os.ftruncate(handle, size)
                raise
            self._sequence += 1
            self._left = (_identity(handle), line_members["this_hash"])
        finally:
            os.close(handle)
        write_head(self.path, line_members["this_hash"])
        return line_members

    def _end(self, handle: int) -> str:
        """Returns the hash of the last row.

        A row whose line feed is missing was being written when its process was killed. It was not
        acknowledged: it is completed if it is whole, else removed.
        """
        if self._left is not None and self._left[0] == _identity(handle):
            return self._left[1]
        size = os.fstat(handle).st_size
        begin = max(0, size - 2 * MAX_ROW)
        *lines, torn = _read_from(handle, begin, size).split(b"\n")
        # The first line is whole only if it is the first of the file.
        whole = lines if begin == 0 else lines[1:]
        if size and not whole and (begin or not torn):
            raise self._damaged()
        previous = GENESIS
        if whole:
            found = _hash_of(whole[-1])
            if found is None:
                raise self._damaged()
            previous = found
        if not torn:
            return previous
        found = _hash_of(torn)
        if found is not None and json.loads(torn)["prev_hash"] == previous:
            _write(handle, b"\n")
            return found
        os.ftruncate(handle, size - len(torn))
        return previous

    def _damaged(self) -> PaperError:
        return PaperError(
            "LOG_ERROR",
            f"the last row of {self.path.name} was changed or is damaged; see `carrel papers "
            "verify`, and move the file away to begin a new log",
        )

    def _tidy(self) -> None:
        """Packs a full log, and once for each session deletes old packed ones."""
        if not self._pruned:
            pack_all(self.path)
            prune(self.path, days=self.retention_days, now=self._now())
            self._pruned = True
        if self._rotate_bytes:
            try:
                size = self.path.stat().st_size
            except FileNotFoundError:
                return
            if size >= self._rotate_bytes:
                rotate(self.path, now=self._now())

    def _make_folder(self) -> None:
        folder = self.path.parent
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flush_folder(folder.parent)


def _write(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _read_from(handle: int, begin: int, end: int) -> bytes:
    pieces = []
    os.lseek(handle, begin, os.SEEK_SET)
    while begin < end and (piece := os.read(handle, end - begin)):
        pieces.append(piece)
        begin += len(piece)
    return b"".join(pieces)


def _hash_of(line: bytes) -> str | None:
    """Returns the hash of a row that has the right one; None for any other line."""
    try:
        members = json.loads(line)
        this = members["this_hash"]
        return this if isinstance(this, str) and row_hash(members) == this else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _identity(handle: int) -> tuple[int, int, int]:
    found = os.fstat(handle)
    return found.st_dev, found.st_ino, found.st_size


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
            reason += "; free some space"
        raise PaperError(
            "LOG_ERROR", f"{path.name}: {reason}; nothing is fetched or stored without its row"
        ) from error
