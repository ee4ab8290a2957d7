"""Keeps earlier contents of the library file: the latest 50, for up to a year."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

_log = logging.getLogger("carrel.library")

#: The latest backups that are kept.
MOST: Final = 50
#: Seconds after which a backup is removed; the latest one is always kept.
OLDEST: Final = 366 * 24 * 3600.0
_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z\.\w+")


class Backups:
    """The backups of one library file, a file each, named after the time of the replacement.

    Args:
        folder: of all libraries' backups; created by the first backup.
        library: the library file, which decides the name of its own folder.
        most: backups that are kept; with 0 none.
        now: the clock, seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        library: Path,
        *,
        most: int = MOST,
        now: Callable[[], float] = time.time,
    ) -> None:
        digest = hashlib.sha256(os.fsencode(library)).hexdigest()[:8]
        self.folder = folder / f"{library.stem[:40]}-{digest}"
        self._ending = library.suffix if re.fullmatch(r"\.\w{1,16}", library.suffix) else ".json"
        self._most = most
        self._now = now

    def all(self) -> list[Path]:
        """Returns the backups, the latest first."""
        try:
            found = [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        except OSError:
            return []
        return sorted(found, key=lambda path: path.name, reverse=True)

    def keep(self, replaced: Path) -> None:
        """Moves a replaced content into the folder, and removes backups that are too many or too
        old. A backup that cannot be made is logged: it does not undo the write.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._move(replaced, self._new_path())
        except OSError as error:
            _log.warning("no backup of the library in %s: %s", self.folder, error)
            with contextlib.suppress(OSError):
                replaced.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._prune()

    def _new_path(self) -> Path:
        moment = datetime.fromtimestamp(self._now(), UTC)
        while True:
            path = self.folder / f"{moment:%Y%m%dT%H%M%S.%fZ}{self._ending}"
            if not path.exists():
                return path
            moment += timedelta(microseconds=1)

    @staticmethod
    def _move(source: Path, target: Path) -> None:
        try:
            os.replace(source, target)  # noqa: PTH105 - tests make this function fail
        except OSError:  # on another file system
            temporary = target.with_name(f".{target.name}.tmp")
            try:
                shutil.copyfile(source, temporary)
                os.replace(temporary, target)  # noqa: PTH105
            except OSError:
                temporary.unlink(missing_ok=True)
                raise
            source.unlink(missing_ok=True)

    def _prune(self) -> None:
        limit = datetime.fromtimestamp(self._now() - OLDEST, UTC).strftime("%Y%m%dT%H%M%S")
        for number, path in enumerate(self.all()):
            if number >= self._most or (number and path.name < limit):
                path.unlink(missing_ok=True)
