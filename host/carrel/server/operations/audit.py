"""Writes the audit log: denials, refusals of clients and approvals, one JSON object a line.

The file is only appended to, and only its owner may read it. Each line is one write, so several
processes may share the file. Before each line the path is compared with the open file; if the file
was renamed or deleted, a new one is made at the path.

While the file cannot be written, lines are kept in memory, `is_failing` is true, and one error is
logged. Unwritten lines are kept and precede the next line that can be written. A part of a line
that a full disk or a crash has left at the end of the file is ended before the next line.
"""

from __future__ import annotations

import json
import logging
import os
import stat
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from carrel.errors import ConfigError, StorageError
from carrel.text.printable import escaped_json, printable

logger = logging.getLogger(__name__)

#: Lines that are kept while the file cannot be written.
_KEPT: Final = 10_000
_LONGEST: Final = 2000


class AuditLog:
    """An audit log that is open. Thread-safe.

    Args:
        path: of the file; made if it does not exist.
        redact: removes secrets from every text.
        write: writes bytes to a descriptor, as `os.write`; another one in tests.

    Attributes:
        lines: that were written.
        is_failing: whether the last line could not be written.

    Raises:
        ConfigError: the file cannot be opened, is not a file, or others may read it.
    """

    def __init__(
        self,
        path: Path,
        *,
        redact: Callable[[str], str] = str,
        write: Callable[[int, bytes], int] = os.write,
    ) -> None:
        self._path = path
        self._redact = redact
        self._write_bytes = write
        self._lock = threading.Lock()
        self._waiting: deque[bytes] = deque()
        self._lost = 0
        self._file: int | None = None
        self.lines = 0
        self.is_failing = False
        self._file = _opened(path)
        self._is_torn = _ends_torn(self._file)

    def write(self, event: str, **facts: Any) -> None:
        """Appends a line; never raises for what the disk does."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {
            "time": at,
            "event": event,
            **{key: self._shown(value) for key, value in facts.items()},
        }
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
        with self._lock:
            if len(self._waiting) >= _KEPT:
                self._waiting.popleft()
                self._lost += 1
            self._waiting.append(escaped_json(text) + b"\n")
            self._flush()

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._path

    def retry(self) -> bool:
        """Writes the lines that were kept; returns whether the log is complete."""
        with self._lock:
            if self.is_failing:
                self._flush()
            return not self.is_failing

    def reopen(self) -> None:
        """Opens the file by its path again, after a rotation."""
        with self._lock:
            self._close()
            self._flush()

    def close(self) -> None:
        """Closes the file, after a last attempt to write what was kept."""
        with self._lock:
            self._flush()
            self._close()

    def _shown(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(printable(value, _LONGEST))
        if isinstance(value, list | tuple):
            return [self._shown(item) for item in value]
        return value

    def _flush(self) -> None:
        try:
            self._follow_path()
            while self._waiting or self._lost:
                if self._lost:
                    lost = b'{"event":"lost","lines":%d}\n' % self._lost
                    self._append(lost)
                    self._lost = 0
                    continue
                self._append(self._waiting[0])
                self._waiting.popleft()
                self.lines += 1
        except (OSError, ConfigError) as error:
            if not self.is_failing:
                self.is_failing = True
                reason = getattr(error, "strerror", None) or str(error)
                logger.error(  # noqa: TRY400 - the message says it all
                    "the audit log %s cannot be written: %s; lines are kept in memory",
                    self._path,
                    reason,
                )
            return
        if self.is_failing:
            self.is_failing = False
            logger.warning("the audit log %s is written again", self._path)

    def _append(self, line: bytes) -> None:
        assert self._file is not None, "opened before"
        if self._is_torn:
            line = b"\n" + line
        written = self._write_bytes(self._file, line)
        # A part of a line, on a full disk: it is ended, and the whole line written again.
        self._is_torn = written < len(line) if written else self._is_torn
        if written < len(line):
            raise OSError(28, "No space left on device")

    def _follow_path(self) -> None:
        """Opens the path again if another file has its name now."""
        if self._file is not None:
            try:
                there, here = self._path.stat(), os.fstat(self._file)
            except FileNotFoundError:
                self._close()
            else:
                if (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino):
                    return
                self._close()
        self._file = _open(self._path)
        self._is_torn = _ends_torn(self._file)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


class AuditUnavailableError(StorageError):
    """A call is refused, because its denials could not be recorded."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), "the audit log cannot be written, and no call runs without it")


def check_audit_log(path: Path) -> None:
    """Checks that a log can be written to; makes no file.

    Raises:
        ConfigError: the file, or its folder, cannot be used.
    """
    if os.path.lexists(path):
        os.close(_opened(path))
    elif not (path.parent.is_dir() and os.access(path.parent, os.W_OK | os.X_OK)):
        raise ConfigError(
            [f"server.audit_log: {path.parent} is not a folder that can be written to"]
        )


def _opened(path: Path) -> int:
    try:
        return _open(path)
    except OSError as error:
        raise ConfigError(
            [f"server.audit_log: {path} cannot be opened: {error.strerror or error}"]
        ) from None


def _open(path: Path) -> int:
    """Opens a file for appending, readable by its owner only.

    Raises:
        OSError: it cannot be opened.
        ConfigError: others may read it, or it is no file.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)
    file = os.open(path, flags, 0o600)
    found = os.fstat(file)
    fault = ""
    if not stat.S_ISREG(found.st_mode):
        fault = "is not a file"
    elif os.name == "posix" and found.st_mode & 0o077:
        fault = f"may be read or written by others (mode {found.st_mode & 0o777:o}); chmod 600 it"
    if fault:
        os.close(file)
        raise ConfigError([f"server.audit_log: {path} {fault}"])
    return file


def _ends_torn(file: int) -> bool:
    """Returns whether the last line of a file has no end."""
    size = os.lseek(file, 0, os.SEEK_END)
    if not size:
        return False
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) != b"\n"
