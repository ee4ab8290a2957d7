"""Writes files atomically: to a temporary file in the same folder, which is then renamed.

A killed process leaves the old file or the new one, and at worst a hidden `.tmp` file beside it. A
failed write leaves only the old file.
"""

from __future__ import annotations

import os
from pathlib import Path

#: Permissions of a file that only its owner can read and write.
OWNER_ONLY = 0o600


def write_atomically(
    path: Path, data: bytes, *, mode: int | None = OWNER_ONLY, flush: bool = True
) -> None:
    """Writes a file atomically, replacing any existing one.

    Args:
        path: the file; its folder must exist.
        data: the whole content.
        mode: its permissions, regardless of the umask; None applies the umask.
        flush: whether to flush the content to disk before the rename, so that a power loss leaves
            no partial file. `flush_folder` makes the rename durable too.

    Raises:
        OSError: the write failed.
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
    """Writes a temporary file next to `path`; the caller renames or removes it.

    Arguments and errors are those of `write_atomically`.
    """
    # Shortened, because `path` may have a name of the maximum length.
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
    """Flushes the folder's entries to disk, so that renames survive a power loss, if the system
    supports it.
    """
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, OWNER_ONLY)
