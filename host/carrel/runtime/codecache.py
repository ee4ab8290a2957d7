"""Precompiled code on disk: compiling takes a fifth of a second, loading half a millisecond.

Loading runs what a file holds, so a file counts only if its name carries the right keyed hash of
its content, under a key in the same folder; the folder is its owner's alone. One file per entry,
written aside and renamed: a process that is killed leaves a whole entry or none.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from pathlib import Path

_log = logging.getLogger("carrel.runtime")

_KEY_FILE = "mac.key"
_KEY_BYTES = 32
_SUFFIX = ".cwasm"
#: Entries that nobody loaded for this long are removed when a new one is written.
_UNUSED_SECONDS = 60 * 86400


class CodeCache:
    """A folder of precompiled components.

    Every fault of the disk means "not cached" and one logged warning, never a failed call.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key: bytes | None = None
        self._warned = False

    def find(self, key: str) -> Path | None:
        """The file of an entry whose content is what was written, or None."""
        try:
            candidates = sorted(self._folder.glob(f"{key}-*{_SUFFIX}"))
            for path in candidates:
                code = path.read_bytes()
                if path.name == self._name(key, code):
                    return path
                _log.warning("precompiled code %s was tampered with or torn; compiling anew", path)
                path.unlink(missing_ok=True)
        except OSError as error:
            self._warn(error)
        return None

    def store(self, key: str, code: bytes) -> Path | None:
        """Keeps an entry and returns its file; None when the disk refuses."""
        from carrel.wholefile import write_whole

        try:
            self._prepare()
            path = self._folder / self._name(key, code)
            write_whole(path, code)
            self._prune()
        except OSError as error:
            self._warn(error)
            return None
        return path

    def forget(self, path: Path) -> None:
        """Removes an entry that wasmtime would not load."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._warn(error)

    def _prepare(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.name == "posix" and self._folder.stat().st_mode & 0o077:
            self._folder.chmod(0o700)

    def _name(self, key: str, code: bytes) -> str:
        mac = hashlib.blake2b(code, key=self._load_key(), digest_size=16, person=b"carrel-code")
        mac.update(key.encode())
        return f"{key}-{mac.hexdigest()}{_SUFFIX}"

    def _load_key(self) -> bytes:
        if self._key is None:
            path = self._folder / _KEY_FILE
            try:
                key = path.read_bytes()
            except FileNotFoundError:
                key = self._new_key(path)
            if len(key) != _KEY_BYTES:
                path.unlink(missing_ok=True)
                key = self._new_key(path)
            self._key = key
        return self._key

    def _new_key(self, path: Path) -> bytes:
        """Makes the key; of several processes that do so at once, the first one's stays."""
        import secrets

        from carrel.wholefile import write_aside

        self._prepare()
        temporary = write_aside(path, secrets.token_bytes(_KEY_BYTES))
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not path.exists():
                temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        return path.read_bytes()

    def _prune(self) -> None:
        oldest = time.time() - _UNUSED_SECONDS
        for path in self._folder.iterdir():
            stale = path.suffix == _SUFFIX and path.stat().st_atime < oldest
            torn = path.suffix == ".tmp" and path.stat().st_mtime < time.time() - 3600
            if stale or torn:
                path.unlink(missing_ok=True)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("precompiled code is not kept: %s", error)
