"""Puts a full provenance log aside, packs it with gzip, and deletes old packed ones.

A log that was put aside is `NAME.YYYY-MM-DD-HHMMSS`, packed with `.gz` behind it; its rows are a
chain of their own. It is renamed first and packed then, so that no row is ever in two files.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from carrel.files.atomic_write import flush_folder

#: Bytes at which a log is put aside.
ROTATE_BYTES: Final = 100_000_000

_STAMP: Final = "%Y-%m-%d-%H%M%S"
_PACKED: Final = ".gz"
_DAY: Final = 86_400.0


def rotate(path: Path, *, now: float) -> Path:
    """Puts the log aside and packs it; the caller holds its lock. Returns where it is.

    A log that cannot be packed now, as on a full disk, is packed by `pack_all` later.

    Raises:
        OSError: the log could not be renamed; it is as it was.
    """
    target = _free_name(path, now)
    path.rename(target)
    flush_folder(path.parent)
    with suppress(OSError):
        return _pack(target)
    return target


def pack_all(path: Path) -> None:
    """Packs what was put aside and not packed; a file that cannot be packed is left as it is."""
    for log in packed_logs(path):
        if log.suffix != _PACKED:
            with suppress(OSError):
                _pack(log)


def packed_logs(path: Path) -> list[Path]:
    """Returns the logs that were put aside, the oldest first; of one in both forms the packed."""
    name = re.compile(re.escape(path.name) + r"\.(\d{4}-\d{2}-\d{2}-\d{6})(?:-(\d{1,6}))?(\.gz)?")
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names, not paths
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = {
        (match[1], int(match[2] or 1)): match[0]
        for file_name in sorted(names)  # the packed form comes last
        if (match := name.fullmatch(file_name))
    }
    return [path.with_name(found[key]) for key in sorted(found)]


def prune(path: Path, *, days: int, now: float) -> list[Path]:
    """Deletes logs that were put aside more than `days` days ago; none for 0.

    Returns those that were deleted. A file that cannot be deleted is left for the next time.
    """
    if days <= 0:
        return []
    deleted = []
    for log in packed_logs(path):
        stamp = log.name[len(path.name) + 1 :][: len("YYYY-MM-DD-HHMMSS")]
        with suppress(OSError, ValueError):
            packed = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()
            if packed < now - days * _DAY:
                log.unlink()
                deleted.append(log)
    return deleted


def _pack(path: Path) -> Path:
    target = path.with_name(path.name + _PACKED)
    temporary = path.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        with path.open("rb") as source, temporary.open("xb") as file:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                shutil.copyfileobj(source, packed, 2**20)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o600)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)
    path.unlink()
    return target


def _free_name(path: Path, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
    number = 1
    while True:
        name = f"{path.name}.{stamp}" + (f"-{number}" if number > 1 else "")
        target = path.with_name(name)
        if not target.exists() and not target.with_name(name + _PACKED).exists():
            return target
        number += 1
