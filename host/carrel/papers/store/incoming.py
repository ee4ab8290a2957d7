"""Receives a file piece by piece into the paper store, hashed on the way and never whole in memory.

The bytes go to a partial file in the store's own file system, so that keeping the file is a rename.
Beside it are the validators of the server's answer, so that a later process can resume where a
broken connection or a killed process ended. A partial file has one writer at a time.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from carrel.files.atomic_write import flush_folder, write_atomically
from carrel.papers.errors import PaperError
from carrel.papers.locking import locked

if TYPE_CHECKING:
    from hashlib import _Hash

#: Bytes of the largest file that is stored.
MAX_FILE_BYTES: Final = 100_000_000
#: How a PDF file begins.
PDF_MAGIC: Final = b"%PDF-"
#: Bytes that are read at once when a partial file is hashed again.
_PIECE: Final = 2**20


class IncomingFile:
    """A file that is being received; made by `PaperStore.receive`.

    Attributes:
        path: the partial file.
        size: bytes so far.
        validators: what the server's answer stated about the file whose beginning is here, as
            `begin` received it; empty for a new one.
    """

    def __init__(self, path: Path, *, cap: int, magic: bytes) -> None:
        self.path = path
        self.size = 0
        self.validators: dict[str, str] = {}
        self._cap = cap
        self._magic = magic
        self._hash: _Hash = hashlib.sha256()
        self._head = b""
        self._notes = path.with_name(f"{path.name}.json")
        self._file = _open(path)
        try:
            self._resume()
        except BaseException:
            self._file.close()
            raise

    @property
    def sha256(self) -> str:
        """The SHA-256 of the bytes so far, in hex."""
        return self._hash.hexdigest()

    def begin(self, validators: Mapping[str, str] = {}, *, at: int = 0) -> None:
        """Prepares for the body of an answer.

        Args:
            validators: what says later whether a server still has the same file: `url`, `etag`,
                `last_modified`. Without `etag` and `last_modified` the file cannot be resumed.
            at: the offset of the answer's first byte: 0, or `size` of an answer that resumes.

        Raises:
            PaperError: `STORE_ERROR`; the answer begins elsewhere, or the disk refuses.
        """
        if at not in {0, self.size}:
            raise PaperError("STORE_ERROR", f"the answer begins at byte {at}, not {self.size}")
        with _explained(self.path):
            if at == 0:
                self._notes.unlink(missing_ok=True)
                self._empty()
            self.validators = {key: value for key, value in validators.items() if value}
            if {"etag", "last_modified"} & self.validators.keys():
                text = json.dumps(self.validators, ensure_ascii=True, sort_keys=True)
                write_atomically(self._notes, text.encode(), flush=False)
            else:
                self._notes.unlink(missing_ok=True)

    def write(self, data: bytes | memoryview) -> None:
        """Appends a piece.

        Raises:
            PaperError: `NETWORK_ERROR` with a denial context: the file is too large, or does not
                begin as a PDF does; the partial file is removed. `STORE_ERROR`: the disk refuses.
        """
        view = memoryview(data)
        actual = self.size + len(view)
        if actual > self._cap:
            self.discard()
            raise size_cap_exceeded(self._cap, actual)
        if len(self._head) < len(self._magic):
            self._head += bytes(view[: len(self._magic) - len(self._head)])
            if not self._magic.startswith(self._head):
                raise self._refused()
        with _explained(self.path):
            left = view
            while left:
                written = self._file.write(left)
                left = left[written:]
        self._hash.update(view)
        self.size += len(view)

    def finish(self) -> None:
        """Checks the beginning of the whole file, and flushes it to the disk.

        Raises:
            PaperError: as `write`; also for a file that is too short to be a PDF.
        """
        if len(self._head) < len(self._magic):
            raise self._refused()
        with _explained(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())

    def _refused(self) -> PaperError:
        head = self._head
        self.discard()
        return wrong_magic(head)

    def discard(self) -> None:
        """Removes the partial file and its validators, and frees their space."""
        with suppress(OSError):
            self._notes.unlink(missing_ok=True)
        with suppress(OSError):
            self._empty()
            self.path.unlink(missing_ok=True)

    def move_to(self, target: Path) -> None:
        """Renames the finished file; the store calls it with the entry's lock held."""
        self._file.close()
        self.path.replace(target)
        flush_folder(target.parent)
        with suppress(OSError):
            self._notes.unlink(missing_ok=True)

    def close(self) -> None:
        """Closes the file; what was received can be resumed if it has validators."""
        if not self._file.closed:
            self._file.close()
        if self.path.exists() and (not self._notes.exists() or self.size == 0):
            self.discard()

    def _resume(self) -> None:
        """Takes the bytes that an earlier attempt left, if it noted their validators."""
        try:
            notes: Any = json.loads(self._notes.read_bytes())
            text = isinstance(notes, dict) and all(
                isinstance(value, str) for value in notes.values()
            )
        except (OSError, ValueError):
            text = False
        if not text or not {"etag", "last_modified"} & notes.keys():
            self._empty()
            return
        if os.fstat(self._file.fileno()).st_size > self._cap:
            self._empty()
            return
        self._file.seek(0)
        while piece := self._file.read(_PIECE):
            self._head += piece[: max(0, len(self._magic) - len(self._head))]
            self._hash.update(piece)
            self.size += len(piece)
        if not self._magic.startswith(self._head[: len(self._magic)]):
            self._empty()
            return
        self.validators = dict(notes)

    def _empty(self) -> None:
        if self._file.closed:
            return
        self._file.seek(0)
        self._file.truncate(0)
        self._hash = hashlib.sha256()
        self._head = b""
        self.size = 0
        self.validators = {}


@contextmanager
def receiving(
    folder: Path, name: str, *, cap: int = MAX_FILE_BYTES, magic: bytes = PDF_MAGIC
) -> Iterator[IncomingFile]:
    """Yields the partial file `name`, locked while the context is open.

    Args:
        folder: for partial files, in the file system of the store; it must exist.
        name: of the entry.
        cap: bytes of the largest file.
        magic: how the file must begin; empty for any.

    Raises:
        PaperError: `LOCK_TIMEOUT`; another process receives the same file. `STORE_ERROR`: the disk
            refuses.
    """
    path = folder / f"{name}.part"
    with ExitStack() as stack:
        # What the caller raises, such as a broken connection, is none of the disk's errors.
        with _explained(path):
            stack.enter_context(locked(folder / f"{name}.lock"))
            file = IncomingFile(path, cap=cap, magic=magic)
        try:
            yield file
        finally:
            with suppress(OSError):
                file.close()


def _open(path: Path) -> io.FileIO:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    return os.fdopen(handle, "r+b", buffering=0)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(path.name, error) from error


def storage_error(what: str, error: OSError) -> PaperError:
    """Returns the error for a disk that refuses."""
    reason = error.strerror or str(error)
    if error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}:
        reason += "; free some space; nothing was left half written"
    return PaperError("STORE_ERROR", f"{what}: {reason}")


def size_cap_exceeded(cap: int, actual: int) -> PaperError:
    """Returns the error of a file with more bytes than are stored."""
    return PaperError(
        "NETWORK_ERROR",
        f"the file has more than {cap:,} bytes",
        denial={"reason": "size_cap_exceeded", "cap": cap, "actual": actual},
    )


def wrong_magic(head: bytes, what: str = "") -> PaperError:
    """Returns the error of a file that does not begin as a PDF does.

    Args:
        head: its first bytes.
        what: it is instead, if that is known.
    """
    return PaperError(
        "NETWORK_ERROR",
        f"the file is not a PDF but {what}"
        if what
        else f"the file is not a PDF: it begins with {head[:16]!r}",
        denial={
            "reason": "content_type_mismatch",
            "attempted": head[:16].hex(),
            "expected": [PDF_MAGIC.hex()],
        },
    )
