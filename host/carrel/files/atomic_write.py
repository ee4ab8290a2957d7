"""Files that are there whole or not at all: written aside, in the same folder, and renamed.

A process that is killed leaves the old file or the new one, and at worst a hidden file beside it
whose name ends in `.tmp`. A write that fails leaves the old file, and nothing beside it.
"""

from __future__ import annotations

import os
from pathlib import Path

#: Permissions of a file that is its owner's alone.
OWNER_ONLY = 0o600


def write_atomically(
    path: Path, data: bytes, *, mode: int | None = OWNER_ONLY, flush: bool = True
) -> None:
    """Puts a file in place, in the place of any that is there.

    Args:
        path: the file; its folder has to be there.
        data: all of it.
        mode: its permissions, whatever the umask; None leaves them to the umask.
        flush: whether what it holds is on the disk before it has its name, so that no loss of
            power leaves half of it. That the name lasts too takes `flush_folder`.

    Raises:
        OSError: the disk refuses.
    """
    temporary = write_temporary(path, data, mode=mode, flush=flush)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_temporary(
    path: Path, data: bytes, *, mode: int | None = OWNER_ONLY, flush: bool = True
) -> Path:
    """Writes what is to become `path` beside it; the caller renames or removes the file.

    Takes and raises what `write_atomically` does.
    """
    # Cut short, because the folder may hold names that are as long as a name can be.
    temporary = path.parent / f".{path.name[:40]}.{os.urandom(8).hex()}.tmp"
    opener = None if mode is None else _open_for_owner
    file = open(temporary, "xb", opener=opener)  # noqa: SIM115 - closed before it may be removed
    try:
        with file:
            file.write(data)
            if flush:
                file.flush()
                os.fsync(file.fileno())
        if mode is not None and mode != OWNER_ONLY:
            temporary.chmod(mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def flush_folder(folder: Path) -> None:
    """Makes what was renamed in the folder last through a loss of power, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, OWNER_ONLY)
