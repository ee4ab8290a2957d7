"""Opens the paper store and the provenance log that a configuration names."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from carrel.config import Config

    from .provenance import ProvenanceLog
    from .store import PaperStore

#: The name of the log in its folder.
LOG_NAME: Final = "access.log"

#: Every log of this process. None is dropped: another object of the same file would number the rows
#: of this session from 1 again, which verifying reports as a fault.
_logs: Final[dict[Path, ProvenanceLog]] = {}
_lock: Final = threading.Lock()


def store_folder(config: Config) -> Path:
    """Returns the folder of the paper store."""
    return config.papers.folder or config.data_dir / "papers"


def log_path(config: Config) -> Path:
    """Returns the path of the provenance log."""
    return (config.papers.log_folder or config.data_dir / "provenance") / LOG_NAME


def open_store(config: Config) -> PaperStore:
    """Opens the paper store; creates nothing.

    Raises:
        PaperError: `STORE_ERROR`; there is a file in its place.
    """
    from .store import PaperStore

    return PaperStore.open(store_folder(config), config.cache_dir / "papers")


def open_log(config: Config) -> ProvenanceLog:
    """Returns the provenance log; one object for each file, because its rows are numbered."""
    from .provenance import ProvenanceLog

    path = log_path(config)
    with _lock:
        log = _logs.get(path)
        if log is None:
            log = _logs[path] = ProvenanceLog(path, session_id=session_id())
    log.retention_days = config.papers.log_retention_days
    return log


@lru_cache(maxsize=1)
def session_id() -> str:
    """Returns the ULID of this process."""
    from .provenance import new_ulid

    return new_ulid()
