"""Precompiled code on disk: compiling takes a fifth of a second, loading half a millisecond.

Loading runs what a file holds, so a file counts only if its name carries the right keyed hash of
its content, under a key in the same folder; the folder is its owner's alone. One file per entry,
written aside and renamed: a process that is killed leaves a whole entry or none. Whoever compiles
an entry claims it, so that no other process does the same; the system ends the claims of the dead.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import platform
import time
from pathlib import Path
from typing import IO

_log = logging.getLogger("carrel.runtime")

_KEY_FILE = "mac.key"
_KEY_BYTES = 32
_SUFFIX = ".cwasm"
_LOCK_SUFFIX = ".lock"
#: Part of the key of precompiled code; changed with any setting in `engine`, any rule in `imports`
#: and what `documents` appends to a component.
SETTINGS_REVISION = "3"
#: Entries that nobody loaded for this long are removed when a new one is written.
_UNUSED_SECONDS = 60 * 86400


def code_key(digest: str, stack_bytes: int) -> str:
    """Names precompiled code: the component's digest and all that compilation depends on.

    The library is named by its size and time, which costs one `stat`; asking the package's metadata
    for the version costs several milliseconds of every start. wasmtime checks its version itself
    when it loads the code. Nothing is imported: who only looks whether there is code needs no more.
    """
    package = importlib.util.find_spec("wasmtime")
    assert package is not None, "Carrel depends on it"
    assert package.origin is not None, "it is a folder with files"
    library = next(Path(package.origin).parent.glob("*/*wasmtime.*")).stat()
    target = f"{platform.system()}-{platform.machine()}".lower()
    return (
        f"{digest}-{library.st_size:x}.{library.st_mtime_ns:x}-{target}"
        f"-{stack_bytes}-{SETTINGS_REVISION}"
    )


class Claim:
    """The right to compile one entry, for as long as this is not released."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file

    def release(self) -> None:
        """Lets another compile the entry."""
        if self._file is not None:
            self._file.close()


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

    def holds(self, key: str) -> bool:
        """Whether there is an entry, whatever its file holds."""
        try:
            return any(self._folder.glob(f"{key}-*{_SUFFIX}"))
        except OSError:
            return False

    def claim(self, key: str) -> Claim | None:
        """The right to compile an entry; None while another has it.

        Where files cannot be locked, everyone has it.
        """
        try:
            self._prepare()
            file = open(self._folder / f"{key}{_LOCK_SUFFIX}", "ab", opener=_open_for_owner)  # noqa: SIM115
        except OSError as error:
            self._warn(error)
            return Claim(None)
        try:
            taken = _try_lock(file)
        except OSError:  # a file system without locks
            return Claim(file)
        if taken:
            return Claim(file)
        file.close()
        return None

    def store(self, key: str, code: bytes) -> Path | None:
        """Keeps an entry and returns its file; None when the disk refuses."""
        from carrel.files.atomic_write import write_atomically

        try:
            self._prepare()
            path = self._folder / self._name(key, code)
            write_atomically(path, code)
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

        from carrel.files.atomic_write import write_temporary

        self._prepare()
        temporary = write_temporary(path, secrets.token_bytes(_KEY_BYTES))
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
        now = time.time()
        for path in self._folder.iterdir():
            try:
                status = path.stat()
            except FileNotFoundError:  # another process has renamed or removed it
                continue
            stale = path.suffix == _SUFFIX and status.st_atime < now - _UNUSED_SECONDS
            left = path.suffix in {".tmp", _LOCK_SUFFIX} and status.st_mtime < now - 3600
            if stale or left:
                path.unlink(missing_ok=True)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            _log.warning("precompiled code is not kept: %s", error)


def _try_lock(file: IO[bytes]) -> bool:
    """Locks an open file unless another has; the lock ends when the file is closed."""
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except (BlockingIOError, PermissionError):
        return False
    os.utime(file.name)  # which keeps it from being removed as a leftover
    return True


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
