"""Packs a full provenance log with gzip, and deletes old packed ones.

A packed log is `NAME.YYYY-MM-DD-HHMMSS.gz` beside the log; its rows are a chain of their own.
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

#: Bytes at which a log is packed.
ROTATE_BYTES: Final = 100_000_000

_STAMP: Final = "%Y-%m-%d-%H%M%S"
_DAY: Final = 86_400.0


def rotate(path: Path, *, now: float) -> Path:
    """Packs the log and removes it; the caller holds its lock. Returns the packed file.

    A process that is killed leaves the log, the packed one, or both: rows are never lost.

    Raises:
        OSError: the disk refuses; the log is as it was.
    """
    target = _free_name(path, now)
    temporary = path.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        with path.open("rb") as source, temporary.open("xb") as file:
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=int(now)) as packed:
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
    flush_folder(path.parent)
    return target


def packed_logs(path: Path) -> list[Path]:
    """Returns the packed logs of a log, the oldest first."""
    name = re.compile(re.escape(path.name) + r"\.(\d{4}-\d{2}-\d{2}-\d{6})(?:-(\d{1,6}))?\.gz")
    try:
        names = os.listdir(path.parent)  # noqa: PTH208 - names, not paths
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = [match for one in names if (match := name.fullmatch(one))]
    found.sort(key=lambda match: (match[1], int(match[2] or 1)))
    return [path.with_name(match[0]) for match in found]


def prune(path: Path, *, days: int, now: float) -> list[Path]:
    """Deletes packed logs that were packed more than `days` days ago; none for 0.

    Returns those that were deleted. A file that cannot be deleted is left for the next time.
    """
    if days <= 0:
        return []
    deleted = []
    for one in packed_logs(path):
        stamp = one.name[len(path.name) + 1 :][: len("YYYY-MM-DD-HHMMSS")]
        with suppress(OSError, ValueError):
            packed = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()
            if packed < now - days * _DAY:
                one.unlink()
                deleted.append(one)
    return deleted


def _free_name(path: Path, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
    target = path.with_name(f"{path.name}.{stamp}.gz")
    number = 1
    while target.exists():
        number += 1
        target = path.with_name(f"{path.name}.{stamp}-{number}.gz")
    return target
