"""The file `carrel.lock`, for people to review as a diff.

JSON, sorted, one member a line. A writer locks a file beside it, reads what others have written,
and writes atomically: a process that is killed leaves the old file or the new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from carrel.errors import StorageError

from .lock import LockEntry

VERSION = 1
_MAX_BYTES = 16 * 2**20


def read_lock(path: Path) -> dict[str, LockEntry]:
    """Reads the entries by plugin; none when there is no file.

    Raises:
        StorageError: it cannot be read, or is no lock of this version.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StorageError(str(path), error.strerror or str(error)) from error
    try:
        return _decode(data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else f"misses or mistakes {error}"
        raise StorageError(str(path), f"not a lock that can be read: {reason}") from error


def _decode(data: bytes) -> dict[str, LockEntry]:
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES:,} bytes")
    raw = json.loads(data)
    if raw["version"] != VERSION:
        raise ValueError(f"it has version {raw['version']!r}, this Carrel reads {VERSION}")
    return {name: LockEntry.from_json(entry) for name, entry in raw["plugins"].items()}


def change_lock(
    path: Path, approved: Mapping[str, LockEntry], removed: frozenset[str] = frozenset()
) -> None:
    """Adds or replaces approved entries, and removes others, atomically.

    Raises:
        StorageError: the file cannot be read or written, and is unchanged.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_name(path.name + ".writing")):
            entries = {
                name: entry for name, entry in read_lock(path).items() if name not in removed
            }
            _replace(path, encode_lock({**entries, **approved}))
    except OSError as error:
        raise StorageError(str(path), error.strerror or str(error)) from error


def encode_lock(entries: Mapping[str, LockEntry]) -> bytes:
    """Encodes the file; equal entries give equal bytes."""
    plugins: dict[str, Any] = {name: entry.to_json() for name, entry in entries.items()}
    text = json.dumps(
        {"version": VERSION, "plugins": plugins}, ensure_ascii=False, indent=2, sort_keys=True
    )
    return (text + "\n").encode("utf-8", "surrogatepass")


def _replace(path: Path, data: bytes) -> None:
    from carrel.files.atomic_write import flush_folder, write_atomically

    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    write_atomically(path, data, mode=mode)
    flush_folder(path.parent)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Locks the file against other processes; the system releases the lock of a dead process."""
    with path.open("ab") as file:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        else:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]
