"""Creates private folders, and translates errors of the disk."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.errors import StorageError
from carrel.files.atomic_write import flush_folder


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Translates an `OSError` into a `StorageError`.

    Raises:
        StorageError: the disk refuses.
    """
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or str(fault)
        if fault.errno in {errno.ENOSPC, errno.EDQUOT}:
            reason = f"{reason}; free some space, nothing was left half written"
        raise StorageError(str(path), reason) from fault


def make_folder(folder: Path, root: Path) -> None:
    """Creates the folders from the store's root downwards, private to their owner."""
    if folder.is_dir():
        return
    missing = [folder, *folder.parents]
    missing = [path for path in missing[: missing.index(root) + 1] if not path.is_dir()]
    root.parent.mkdir(parents=True, exist_ok=True)
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
        flush_folder(path.parent)
