"""Caches precompiled code on disk: compiling takes 200 ms, loading half a millisecond.

Loaded code is executed, so a file is used only if its name contains the correct MAC of its content.
The MAC's key lies in the same folder, which only its owner can read. Each entry is one file,
written atomically. A process that compiles an entry claims it with a file lock, so that no other
process compiles the same; the operating system releases the locks of dead processes.
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
#: Entries that were not loaded for this long are removed when a new one is written.
_UNUSED_SECONDS = 60 * 86400


def code_key(digest: str, stack_bytes: int) -> str:
    """Returns a cache key: the component's digest and everything that compilation depends on.

    wasmtime's library is identified by its size and modification time, which costs one `stat`;
    reading the package's version would add several milliseconds to every start. wasmtime checks its
    own version when it loads the code. This function imports nothing, so that checking for cached
    code is cheap.
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
    """The exclusive right to compile one entry, until released."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file

    def release(self) -> None:
        """Releases the claim; another process may compile the entry."""
        if self._file is not None:
            self._file.close()


class CodeCache:
    """A folder of precompiled components.

    A disk error counts as a cache miss and logs one warning; it never fails a call.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key: bytes | None = None
        self._warned = False

    def find(self, key: str) -> Path | None:
        """Returns the file of an entry if its MAC is correct, else None."""
        try:
            candidates = sorted(self._folder.glob(f"{key}-*{_SUFFIX}"))
            for path in candidates:
                code = path.read_bytes()
                if path.name == self._name(key, code):
                    return path
                _log.warning("precompiled code %s does not match its MAC; compiling again", path)
                path.unlink(missing_ok=True)
        except OSError as error:
            self._warn(error)
        return None

    def holds(self, key: str) -> bool:
        """Returns whether there is an entry, without checking its content."""
        try:
            return any(self._folder.glob(f"{key}-*{_SUFFIX}"))
        except OSError:
            return False

    def claim(self, key: str) -> Claim | None:
        """Returns the right to compile an entry; None while another has it.

        Where files cannot be locked, every process gets a claim.
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
        """Writes an entry and returns its file; None on a disk error."""
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
        """Removes an entry that wasmtime refused to load."""
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
        """Creates the MAC key; if several processes do so at once, the first one's key is used."""
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
            _log.warning("precompiled code is not cached: %s", error)


def _try_lock(file: IO[bytes]) -> bool:
    """Locks an open file unless another process holds the lock; closing the file releases it."""
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
    os.utime(file.name)  # so that it is not removed as stale
    return True


def _open_for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
