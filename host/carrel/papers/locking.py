"""Locks files of papers between processes; a timeout is a `PaperError`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.files.locking import PATIENCE, LockTimeout
from carrel.files.locking import locked as locked_file

from .errors import PaperError


@contextmanager
def locked(path: Path, *, patience: float = PATIENCE) -> Iterator[tuple[int, int]]:
    """Holds the exclusive lock of the file at `path`, as `carrel.files.locking.locked`.

    Raises:
        PaperError: `LOCK_TIMEOUT`; another process held it for longer than `patience` seconds.
        OSError: the file cannot be opened.
    """
    try:
        with locked_file(path, patience=patience) as identity:
            yield identity
    except LockTimeout as error:
        raise PaperError("LOCK_TIMEOUT", str(error)) from None
