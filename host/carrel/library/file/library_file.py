"""Reads the library file, and replaces it atomically if nobody else changed it meanwhile.

A write holds a lock file beside the library, which all of Carrel's processes respect. Editors do
not: so the new content is *exchanged* with the old one, and what comes out is compared with what
was expected. If it differs, the exchange is undone and the caller starts again from the new
content. Where the system cannot exchange files, the content is compared just before the rename.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from carrel.files.atomic_write import flush_folder, write_temporary
from carrel.files.exchange import exchange
from carrel.files.locking import LockTimeout, locked
from carrel.library.errors import LibraryError

from .backups import MOST, Backups

_log = logging.getLogger("carrel.library")

#: Bytes of the largest library that is read.
MAX_BYTES: Final = 2**30
#: Seconds to wait for another process's write.
PATIENCE: Final = 30.0
#: Seconds after which a temporary file belongs to no running write.
_ABANDONED: Final = 3600.0

#: Modification time, size and inode of a file; None for a missing one.
Stamp = tuple[int, int, int] | None


@dataclass(frozen=True)
class Content:
    """The content of the file at one time.

    Attributes:
        data: the bytes; empty for a missing file.
        stamp: of the file.
    """

    data: bytes
    stamp: Stamp

    @cached_property
    def digest(self) -> str:
        """Returns the SHA-256 in hexadecimal digits."""
        return hashlib.sha256(self.data).hexdigest()


class LibraryFile:
    """A library file, which may be missing, or a symbolic link to one.

    Args:
        path: of the file.
        backup_folder: for earlier contents.
        most_backups: earlier contents that are kept.
    """

    def __init__(self, path: Path, backup_folder: Path, *, most_backups: int = MOST) -> None:
        self.path = path
        self._backup_folder = backup_folder
        self._most_backups = most_backups

    @property
    def backups(self) -> Backups:
        """The earlier contents."""
        return Backups(self._backup_folder, self._target(), most=self._most_backups)

    def stamp(self) -> Stamp:
        """Returns what changes when the file changes.

        Raises:
            LibraryError: `READ_ERROR`; it is there and cannot be looked at.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._cannot("read", error) from error
        return _stamp(found)

    def read(self) -> Content:
        """Returns the content.

        Raises:
            LibraryError: `READ_ERROR`; it is not a file, is too large, or cannot be read.
        """
        try:
            mode = self.path.stat().st_mode
            if not stat.S_ISREG(mode):
                kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
                raise LibraryError(
                    "READ_ERROR",
                    f"{self.path}: it is {kind}, not a file",
                    advice="give the path of the library's file, or remove what is there",
                    path=str(self.path),
                )
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                if found.st_size > MAX_BYTES:
                    raise LibraryError(
                        "READ_ERROR",
                        f"{self.path}: {found.st_size} bytes are more than a library may have",
                        path=str(self.path),
                    )
                data = file.read(MAX_BYTES)
                return Content(data, _stamp(os.fstat(file.fileno())))
        except FileNotFoundError:
            return Content(b"", None)
        except OSError as error:
            raise self._cannot("read", error) from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the lock file beside the library.

        Raises:
            LibraryError: `LOCK_TIMEOUT`; another process held it for too long. `WRITE_ERROR`: the
                folder is missing or cannot be written to.
        """
        target = self._target()
        with contextlib.ExitStack() as stack:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(
                    locked(target.with_name(f".{target.name}.lock"), patience=PATIENCE)
                )
            except LockTimeout as error:
                raise LibraryError("LOCK_TIMEOUT", f"{self.path}: {error}") from None
            except OSError as error:
                raise self._cannot("write", error) from error
            yield

    def replace(self, expected: Content, data: bytes) -> Content | None:
        """Replaces the content, if it still is `expected`; the caller holds the lock.

        The earlier content becomes a backup. Permissions are kept, and so is a symbolic link.

        Returns:
            The new content; None if the file was changed meanwhile, and nothing was written.

        Raises:
            LibraryError: `WRITE_ERROR`; nothing was written.
        """
        target = self._target()
        try:
            self._tidy(target)
            mode = _mode(target)
            if mode is not None and not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, "the file is read-only")
            temporary = write_temporary(target, data, mode=mode)
            try:
                _keep_group(target, temporary)
                written = _stamp(temporary.stat())
                if self.stamp() != expected.stamp:
                    return None
                if not self._swap(target, temporary, expected, written):
                    return None
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                flush_folder(target.parent)
        except OSError as error:
            raise self._cannot("write", error) from error
        return Content(data, written)

    def _swap(self, target: Path, temporary: Path, expected: Content, written: Stamp) -> bool:
        """Puts the new content in place; returns False, and undoes it, if the old one was not
        `expected`.
        """
        if expected.stamp is None:
            try:
                os.link(temporary, target)  # fails if there is a file now
            except FileExistsError:
                return False
            except OSError:  # a file system without links
                os.replace(temporary, target)  # noqa: PTH105 - tests make this function fail
            return True
        if not exchange(temporary, target):
            if self.read() != expected:
                return False
            replaced = temporary.with_name(f"{temporary.name}.old.tmp")
            with contextlib.suppress(OSError):
                os.link(target, replaced)
            try:
                os.replace(temporary, target)  # noqa: PTH105
                if replaced.exists():
                    self.backups.keep(replaced)
            finally:
                with contextlib.suppress(OSError):
                    replaced.unlink(missing_ok=True)
            return True
        try:
            as_expected = _is(temporary, expected)
        except OSError:
            exchange(temporary, target)
            raise
        if as_expected:
            self.backups.keep(temporary)
            return True
        # Another program replaced the file at this very moment: its content goes back.
        exchange(temporary, target)
        if _stamp(temporary.stat()) != written:
            # It did so once more before: the later content goes back, and the earlier is kept.
            exchange(temporary, target)
            self.backups.keep(temporary)
        return False

    def check_emptiness(self, content: Content) -> None:
        """Refuses an empty file of which there were other contents: a write was cut off.

        Raises:
            LibraryError: `READ_ERROR`.
        """
        if content.stamp and not content.data.strip() and self.backups.all():
            raise LibraryError("READ_ERROR", "the file is empty")

    def damaged(self, error: LibraryError) -> LibraryError:
        """Returns the error of a file that cannot be read as a library, with the latest backup."""
        found = self.backups.all()
        advice = error._advice  # noqa: SLF001 - an error of this package
        backup = f"the latest backup is {found[0]}" if found else "there is no backup"
        return LibraryError(
            "READ_ERROR",
            f"{self.path}: {error.message}; nothing was written, and {backup}",
            advice=advice or "correct the file, or run: carrel library restore latest",
            position=error.position,
            path=str(self.path),
        )

    def _target(self) -> Path:
        return Path(os.path.realpath(self.path))

    def _tidy(self, target: Path) -> None:
        """Removes temporary files that killed processes left."""
        for path in target.parent.glob(f".{target.name[:40]}.*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()

    def _cannot(self, what: str, error: OSError) -> LibraryError:
        code = "READ_ERROR" if what == "read" else "WRITE_ERROR"
        reason = error.strerror or str(error)
        return LibraryError(
            code,  # type: ignore[arg-type]
            f"{self.path}: cannot {what} the library: {reason}",
            path=str(self.path),
        )


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_mtime_ns, found.st_size, found.st_ino & (2**63 - 1)


def _is(path: Path, expected: Content) -> bool:
    return _stamp(path.stat()) == expected.stamp and path.read_bytes() == expected.data


def _keep_group(target: Path, temporary: Path) -> None:
    """Gives the new file the owner and group of the old one, as far as the system permits."""
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            found = target.stat()
            os.chown(temporary, found.st_uid, found.st_gid)


def _mode(target: Path) -> int | None:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        return None
