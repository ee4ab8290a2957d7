"""Locks files between processes: an advisory lock on a separate lock file, with a time limit."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

#: Seconds until a lock that another process holds is given up.
PATIENCE: Final = 5.0
_POLL_FIRST, _POLL_LONGEST = 0.001, 0.05


class LockTimeout(Exception):
    """Another process held a lock for too long. The message says for how long."""


@contextmanager
def locked(path: Path, *, patience: float = PATIENCE) -> Iterator[tuple[int, int]]:
    """Holds the exclusive lock of the file at `path`, which is created and never removed.

    The system releases it when the process dies.

    Yields:
        Device and inode of the lock file: two names may be one file where case does not count.

    Raises:
        LockTimeout: another process held it for longer than `patience` seconds.
        OSError: the file cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        deadline = time.monotonic() + patience
        wait = _POLL_FIRST
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise LockTimeout(
                    f"another process held the lock {path.name} for {patience:g} s; try again"
                )
            time.sleep(wait)
            wait = min(2 * wait, _POLL_LONGEST)
        found = os.fstat(handle)
        yield found.st_dev, found.st_ino
    finally:
        os.close(handle)  # releases the lock


def _try_lock(handle: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_windows(handle: int) -> bool:
    import msvcrt

    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
