"""Watches files for changes of their content.

Editors replace files, deployments switch symbolic links, and a folder may not exist yet. So
watchfiles watches the folders, and every event, and every second without one, compares the files'
content with the previous content.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

logger = logging.getLogger(__name__)

#: Milliseconds: debounce of a burst of events, interval of checks without events, polling step.
_BURST: Final = 100
_QUIET: Final = 1000
_STEP: Final = 50

_MAX_BYTES: Final = 32 * 2**20

State = tuple[int, int, int] | None


class Watcher:
    """Calls `changed` from its own thread when the content of a file changes.

    Args:
        files: returns the files; called again after each change.
        changed: must not raise.
    """

    def __init__(self, files: Callable[[], Sequence[Path]], changed: Callable[[], None]) -> None:
        self._files = files
        self._changed = changed
        self._states: dict[Path, State] = {}
        self._contents: dict[Path, bytes | None] = {}
        self._over = threading.Event()
        self._look()

    def start(self) -> None:
        """Starts watching."""
        threading.Thread(target=self._watch, name="carrel-watch", daemon=True).start()

    def stop(self) -> None:
        """Stops watching, without waiting for the thread."""
        self._over.set()

    def _watch(self) -> None:
        # Imported here, because it takes 10 ms that the first response should not wait for.
        from watchfiles import watch

        while not self._over.is_set():
            folders = self._folders()
            try:
                for _ in watch(
                    *folders,
                    watch_filter=None,
                    debounce=_BURST,
                    step=_STEP,
                    stop_event=self._over,
                    rust_timeout=_QUIET,
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    recursive=False,
                ):
                    if self._look():
                        self._changed()
                    if self._folders() != folders:
                        break  # a file was created or removed
            except (OSError, RuntimeError) as error:
                logger.debug("file events are not available, polling instead: %s", error)
                if self._look():
                    self._changed()
                self._over.wait(_QUIET / 1000)

    def _folders(self) -> set[Path]:
        """Returns the folder of each file, or the nearest parent that exists."""
        folders = set()
        for file in self._files():
            folder = file.parent
            while not folder.is_dir() and folder != folder.parent:
                folder = folder.parent
            folders.add(folder)
        return folders

    def _look(self) -> bool:
        """Reads the files; returns whether their content has changed."""
        changed = False
        files = self._files()
        for file in files:
            state = _state(file)
            if file in self._states and state == self._states[file]:
                continue
            is_known = file in self._states
            self._states[file] = state
            content = _content(file) if state is not None else None
            changed = changed or (is_known and content != self._contents[file])
            self._contents[file] = content
        return changed


def _state(file: Path) -> State:
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _content(file: Path) -> bytes | None:
    try:
        with file.open("rb") as opened:
            return hashlib.sha256(opened.read(_MAX_BYTES)).digest()
    except OSError:
        return None
