"""Blobs that have not come whole yet, kept so that another process goes on where one ended.

    partial/HEX      the beginning of the blob of that digest, as far as it has come

One writer at a time: who writes holds a lock on the file, and the system lets go of it when its
holder dies, however it dies. Who does not get the lock works without a file; nobody waits. Only
the holder renames or removes the file, so nobody else's bytes are ever moved in its place.

Nothing in these files is trusted. What is there is hashed together with what comes after it, and
counts when the whole has the digest. The bytes are not flushed while they come: after a power cut
the file may hold anything, which costs one transfer from the beginning.

Where the platform has no `flock` nothing is kept, and a transfer is resumed within a process only.
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
        blobs: the folder that a blob which has come whole is moved to.
    """

    def __init__(self, root: Path, blobs: Path) -> None:
        self._root = root
        self._folder = root / "partial"
        self._blobs = blobs

    @contextmanager
    def open(self, digest: str, size: int) -> Iterator[PartialBlob | None]:
        """The partial file of a blob, for this caller alone while the context is open.

        Args:
            digest: `sha256:` and 64 hex digits.
            size: bytes of the whole.

        Yields:
            None when somebody else is writing it, or there are no locks here: the caller then
            works without.

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
            os.close(handle)  # and with it goes the lock

    def prune(self, *, older_than: float) -> int:
        """Removes files that nobody has written to since, and nobody holds; bytes freed.

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
                continue  # another process was quicker, or it is no file of ours
            if handle is None:
                continue
            try:
                found = os.fstat(handle)
                # Looked at again under the lock: its holder may have gone on with it meanwhile.
                if found.st_mtime < older_than:
                    path.unlink()
                    freed += found.st_size
            except OSError:
                pass
            finally:
                os.close(handle)
        return freed


class PartialBlob:
    """The beginning of one blob, on the disk; held by this process."""

    def __init__(self, file: io.FileIO, path: Path, size: int, root: Path, target: Path) -> None:
        self._file = file
        self._path = path
        self._size = size
        self._root = root
        self._target = target
        self._moved = False

    def read(self) -> bytes:
        """What has come before; nothing of a file that is larger than the blob."""
        with explained(self._path):
            if os.fstat(self._file.fileno()).st_size > self._size:
                self._file.truncate(0)
            self._file.seek(0)
            return self._file.readall()

    def append(self, data: bytes) -> None:
        """Adds what has come; on return a killed process loses none of it.

        Raises:
            StorageError: the disk refuses; what was kept is given up, and its space with it.
        """
        left = memoryview(data)
        with self._given_up():
            while left:
                left = left[self._file.write(left) :]

    def clear(self) -> None:
        """Begins again with nothing."""
        with self._given_up():
            self._file.seek(0)
            self._file.truncate(0)

    def keep(self) -> None:
        """Moves the whole blob, whose digest the caller has found right, to where blobs are kept.

        Raises:
            StorageError: the disk refuses; the blob is given up.
        """
        with self._given_up():
            os.fsync(self._file.fileno())
            os.utime(self._file.fileno())  # as young for `prune` as what was written just now
            make_folder(self._target.parent, self._root)
            self._path.replace(self._target)
            self._moved = True
            flush_folder(self._target.parent)

    def leave(self) -> None:
        """Takes an empty file away."""
        with suppress(OSError):  # it is empty, and in nobody's way
            if not self._moved and not os.fstat(self._file.fileno()).st_size:
                self._path.unlink()

    @contextmanager
    def _given_up(self) -> Iterator[None]:
        """Frees the file's space when the disk refuses: a full one is not kept full by us."""
        with explained(self._path):
            try:
                yield
            except OSError:
                if not self._moved:
                    with suppress(OSError):
                        self._file.truncate(0)
                raise


def _lock(path: Path, *, create: bool) -> int | None:
    """Opens a file and locks it; None when it is another's, or cannot be locked here."""
    if os.name != "posix":
        return None
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_CREAT if create else 0)
    for _ in range(_ATTEMPTS):
        handle = os.open(path, flags, 0o600)
        try:
            locked = _try_lock(handle)
            # Whoever held it may have renamed or removed it between the two calls.
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
        return False  # another has it, or the file system has no locks
    return True


def _is_named(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
