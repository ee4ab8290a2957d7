"""Reports entries that other programs added, removed or changed.

watchfiles watches the folder of the file, and of the file that a symbolic link names, because
editors replace files. After each burst of events, and every five seconds without one, the file's
stamp and then its entries are compared. An entry that Carrel itself wrote, recognised by its hash,
is no change to report. A file that cannot be read as a library, because an editor is still
writing it, is read again for two seconds.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from carrel.library.answers import LibraryChanges
from carrel.library.errors import LibraryError
from carrel.library.names import key_of

from .library_file import Content, LibraryFile, Stamp
from .library_text import LibraryText, entry_digest

_log = logging.getLogger("carrel.library")

#: Milliseconds: debounce of a burst of events, interval of checks without events, polling step.
_BURST: Final = 500
_QUIET: Final = 5000
_STEP: Final = 50
#: Seconds between two attempts to read a file that is being written, and their number.
_RETRY: Final = 0.2
_RETRIES: Final = 10


class OwnWrites:
    """Entries that this process wrote since they were last taken.

    Args:
        lock: held by its writers, and while the entries are taken and the file is read.
    """

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        self.lock = lock
        self._entries: dict[str, bytes | None] = {}

    def add(self, entries: Mapping[str, bytes | None]) -> None:
        """Notes entries of a write: key → digest, None for a removed one."""
        self._entries |= entries

    def take(self) -> dict[str, bytes | None]:
        """Returns the noted entries, and forgets them."""
        taken, self._entries = self._entries, {}
        return taken


class LibraryWatcher:
    """Calls `changed` from its own thread when other programs changed entries.

    Args:
        file: the library.
        parse: of its content.
        own: the writes that are not reported.
        changed: must not raise.
        burst: milliseconds of quiet after an event before the file is read.
        quiet: milliseconds after which the file is compared without an event.
    """

    def __init__(
        self,
        file: LibraryFile,
        parse: Callable[[Content], LibraryText],
        own: OwnWrites,
        changed: Callable[[LibraryChanges], None],
        *,
        burst: int = _BURST,
        quiet: int = _QUIET,
    ) -> None:
        self._file = file
        self._parse = parse
        self._own = own
        self._changed = changed
        self._burst, self._quiet = burst, quiet
        self._over = threading.Event()
        self._stamp: Stamp = None
        self._entries: dict[str, bytes] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts watching; changes from now on are reported."""
        with self._own.lock:
            self._own.take()
            content = self._file.read()
        self._stamp, self._entries = content.stamp, _entries(self._parse(content))
        self._thread = threading.Thread(target=self._watch, name="carrel-library", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stops watching."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _watch(self) -> None:
        # Imported here, because it takes 10 ms that a short command should not wait for.
        from watchfiles import watch

        while not self._over.is_set():
            folders = self._folders()
            try:
                for _ in watch(
                    *folders,
                    watch_filter=None,
                    debounce=self._burst,
                    step=_STEP,
                    stop_event=self._over,
                    rust_timeout=self._quiet,
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    recursive=False,
                ):
                    self._look()
                    if self._folders() != folders:
                        break  # a folder or a link was created or removed
            except (OSError, RuntimeError) as error:
                _log.debug("file events are not available, polling instead: %s", error)
                self._look()
                self._over.wait(self._quiet / 1000)

    def _folders(self) -> set[Path]:
        """Returns the folders of the file and of its target, or the nearest that exist."""
        found = set()
        for path in (self._file.path, self._file.path.resolve()):
            folder = path.absolute().parent
            while not folder.is_dir() and folder != folder.parent:
                folder = folder.parent
            found.add(folder)
        return found

    def _look(self) -> None:
        """Compares the file with what was reported last."""
        for attempt in range(_RETRIES):
            try:
                if self._file.stamp() == self._stamp:
                    return
                with self._own.lock:
                    for key, digest in self._own.take().items():
                        self._note(key, digest)
                    content = self._file.read()
                entries = _entries(self._parse(content))
            except LibraryError as error:
                if attempt == _RETRIES - 1:
                    _log.warning("%s", error)
                elif self._over.wait(_RETRY):
                    return
                continue
            changes = _changes(self._entries, entries)
            self._stamp, self._entries = content.stamp, entries
            if changes:
                self._changed(changes)
            return

    def _note(self, key: str, digest: bytes | None) -> None:
        """Notes the state of an entry that needs no report."""
        if digest is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = digest


def _entries(text: LibraryText) -> dict[str, bytes]:
    """Returns key → digest of each entry."""
    found = {}
    for position in range(len(text.sources)):
        item = text.item(position)
        if item is not None:
            found[key_of(item)] = entry_digest(text, position)
    return found


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> LibraryChanges:
    return LibraryChanges(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=tuple(key for key in after if key in before and after[key] != before[key]),
    )
