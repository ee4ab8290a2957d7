"""Partial downloads that another process can resume.

    partial/HEX      the beginning of the blob with that digest

A writer locks the file, and the system releases the lock when its process dies. A process that
does not get the lock works without a file and does not wait. Only the process with the lock renames
or removes the file, so no other bytes are ever moved to its place.

The files are not trusted: their bytes are hashed with the rest, and the whole must have the digest.
They are not flushed: after a power cut a file may contain anything, which costs one download from
the beginning.

Without `flock` nothing is stored, and a download is resumed within a process only.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from carrel.files.atomic_write import flush_folder

from .disk import explained, make_folder

#: How often a file is opened that its holder renames or removes between opening and locking.
_ATTEMPTS = 3


class PartialBlobs:
    """The partial files of a store.

    Args:
        root: the store's folder.
        blobs: the folder that a complete blob is moved to.
    """

    def __init__(self, root: Path, blobs: Path) -> None:
        self._root = root
        self._folder = root / "partial"
        self._blobs = blobs

    @contextmanager
    def open(self, digest: str, size: int) -> Iterator[PartialBlob | None]:
        """Yields the partial file of a blob, locked while the context is open.

        Args:
            digest: `sha256:` and 64 hex digits.
            size: bytes of the whole.

        Yields:
            None when another process has the lock, or the platform has no locks: the caller then
                works without a file.

        Raises:
            StorageError: the disk refuses.
        """
        name = digest.removeprefix("sha256:")
        path = self._folder / name
        with explained(path):
            make_folder(self._folder, self._root)
            handle = _lock(path, create=True)
        if handle is None:
            yield None
            return
        try:
            with explained(path):
                file = os.fdopen(handle, "r+b", buffering=0, closefd=False)
            partial = PartialBlob(file, path, size, self._root, self._blobs / name)
            try:
                yield partial
            finally:
                partial.leave()
        finally:
            os.close(handle)  # releases the lock

    def prune(self, *, older_than: float) -> int:
        """Removes unlocked files that were not written since; returns bytes freed.

        Args:
            older_than: seconds since 1970.
        """
        freed = 0
        for path in sorted(self._folder.glob("*")):
            try:
                if path.stat().st_mtime >= older_than:
                    continue
                handle = _lock(path, create=False)
            except OSError:
                continue  # another process was quicker, or the file is not ours
            if handle is None:
                continue
            try:
                found = os.fstat(handle)
                # Checked again under the lock: its holder may have resumed it meanwhile.
                if found.st_mtime < older_than:
                    path.unlink()
                    freed += found.st_size
            except OSError:
                pass
            finally:
                os.close(handle)
        return freed


class PartialBlob:
    """The beginning of one blob on the disk, locked by this process."""

    def __init__(self, file: io.FileIO, path: Path, size: int, root: Path, target: Path) -> None:
        self._file = file
        self._path = path
        self._size = size
        self._root = root
        self._target = target
        self._moved = False

    def read(self) -> bytes:
        """Returns the bytes so far; none of a file that is larger than the blob."""
        with explained(self._path):
            if os.fstat(self._file.fileno()).st_size > self._size:
                self._file.truncate(0)
            self._file.seek(0)
            return self._file.readall()

    def append(self, data: bytes) -> None:
        """Appends bytes; after it returns a killed process loses none of them.

        Raises:
            StorageError: the disk refuses; the file is removed, and its space freed.
        """
        left = memoryview(data)
        with self._freeing_space():
            while left:
                left = left[self._file.write(left) :]

    def clear(self) -> None:
        """Empties the file."""
        with self._freeing_space():
            self._file.seek(0)
            self._file.truncate(0)

    def keep(self) -> None:
        """Moves the complete blob, whose digest the caller has checked, to the blobs.

        Raises:
            StorageError: the disk refuses; the blob is removed.
        """
        with self._freeing_space():
            os.fsync(self._file.fileno())
            os.utime(self._file.fileno())  # recent for `prune`
            make_folder(self._target.parent, self._root)
            self._path.replace(self._target)
            self._moved = True
            flush_folder(self._target.parent)

    def leave(self) -> None:
        """Removes the file if it is empty."""
        with suppress(OSError):  # an empty file does no harm
            if not self._moved and not os.fstat(self._file.fileno()).st_size:
                self._path.unlink()

    @contextmanager
    def _freeing_space(self) -> Iterator[None]:
        """Frees the file's space when the disk refuses: it may be full."""
        with explained(self._path):
            try:
                yield
            except OSError:
                if not self._moved:
                    with suppress(OSError):
                        self._file.truncate(0)
                raise


def _lock(path: Path, *, create: bool) -> int | None:
    """Opens a file and locks it; None when another process has the lock, or there are no locks."""
    if os.name != "posix":
        return None
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    for _ in range(_ATTEMPTS):
        handle = os.open(path, flags, 0o600)
        try:
            locked = _try_lock(handle)
            # Its holder may have renamed or removed it between the two calls.
            if locked and _is_named(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if not locked:
            return None
    return None


def _try_lock(handle: int) -> bool:
    import fcntl

    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # locked by another process, or the file system has no locks
    return True


def _is_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
