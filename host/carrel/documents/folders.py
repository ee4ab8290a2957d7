"""Opens only files in the folders that the operator granted.

A path is opened name by name below an open folder, without following links, so that the checked
file is the file that is read, even if a folder is replaced by a link meanwhile. Only regular files
are opened; a pipe or a device is refused and cannot block.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Final

from carrel.errors import ArgumentError, CarrelError, SourceError, StorageError
from carrel.text.printable import printable

from .reading import NAME, too_large

#: Number of names that the error lists if the path is a folder.
_LISTED: Final = 50
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that replaces the file does not block
)
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
_BY_DESCRIPTOR: Final = os.open in os.supports_dir_fd and bool(_NO_LINKS)


def read_granted(path: str, folders: Sequence[Path], most: int) -> bytes:
    """Returns the content of a file below one of `folders`.

    Args:
        path: absolute, or relative to one of the folders.
        folders: granted by the operator, including their subfolders.
        most: maximum size in bytes.

    Raises:
        SourceError: `denied`: the path is in none of the folders, leaves them, contains a link, or
            is not a regular file; `not_found`; `too_large`.
        ArgumentError: it is not a path, or names a folder, whose files are listed.
        StorageError: the file cannot be read.
    """
    shown = printable(path, 300)
    missing: CarrelError | None = None
    for folder, names in _below(path, folders):
        try:
            with _opened(folder, names, shown) as descriptor:
                return _read(descriptor, most, shown)
        except OSError as error:
            missing = _as_error(error, shown)
            if missing.error_code != "not_found":
                raise missing from None
    raise missing or _denied(shown, "it is in no folder that documents are read from")


def _below(path: str, folders: Sequence[Path]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yields folders with the names of the path relative to each.

    Raises:
        ArgumentError: it is not a path.
        SourceError: `denied`; a name is `..`.
    """
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ArgumentError(["path: holds half a character"]) from None
    if "\0" in path or not path.strip():
        raise ArgumentError(["path: is not the name of a file"])
    pure = PurePath(path)
    if ".." in pure.parts:
        raise _denied(printable(path, 300), "it has .. in it")
    for folder in folders:
        if not pure.is_absolute():
            yield folder, pure.parts
            continue
        for base in dict.fromkeys((folder, Path(os.path.realpath(folder)))):
            if pure.is_relative_to(base):
                yield folder, pure.relative_to(base).parts
                break


@contextmanager
def _opened(folder: Path, names: tuple[str, ...], shown: str) -> Iterator[int]:
    """Opens a regular file."""
    if not names:
        raise _is_folder(shown, os.listdir(folder))  # noqa: PTH208 - names, not paths
    descriptor = (
        _open_by_descriptor(folder, names, shown)
        if _BY_DESCRIPTOR
        else _open_by_path(folder, names, shown)
    )
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open_by_descriptor(folder: Path, names: tuple[str, ...], shown: str) -> int:
    inside = os.open(folder, _FLAGS | os.O_DIRECTORY)
    try:
        for name in names[:-1]:
            # Checked before opening, because opening some devices has effects.
            _require_unlinked(os.stat(name, dir_fd=inside, follow_symlinks=False), shown)
            deeper = os.open(name, _FLAGS | _NO_LINKS | os.O_DIRECTORY, dir_fd=inside)
            os.close(inside)
            inside = deeper
        kind = os.stat(names[-1], dir_fd=inside, follow_symlinks=False)
        _require_unlinked(kind, shown)
        if stat.S_ISDIR(kind.st_mode):
            listed = os.open(names[-1], _FLAGS | _NO_LINKS | os.O_DIRECTORY, dir_fd=inside)
            try:
                raise _is_folder(shown, os.listdir(listed))  # noqa: PTH208 - of a descriptor
            finally:
                os.close(listed)
        _require_ordinary(kind, shown)
        opened = os.open(names[-1], _FLAGS | _NO_LINKS, dir_fd=inside)
    finally:
        os.close(inside)
    return _checked(opened, shown)


def _open_by_path(folder: Path, names: tuple[str, ...], shown: str) -> int:
    """Opens a file by its path, for systems without folder descriptors, such as Windows.

    Compares the opened file with the checked one; a process that can write to the folder could
    still win a race.
    """
    base = Path(os.path.realpath(folder))
    path = base
    for name in names:
        path /= name
        kind = path.lstat()
        _require_unlinked(kind, shown)
    if stat.S_ISDIR(kind.st_mode):
        raise _is_folder(shown, os.listdir(path))  # noqa: PTH208 - names, not paths
    _require_ordinary(kind, shown)
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(path):
        raise _denied(shown, "it goes through a link")
    opened = os.open(path, _FLAGS)
    there = os.fstat(opened)
    if (there.st_dev, there.st_ino) != (kind.st_dev, kind.st_ino):
        os.close(opened)
        raise _denied(shown, "it was replaced while it was opened")
    return _checked(opened, shown)


def _checked(descriptor: int, shown: str) -> int:
    """Returns the descriptor if it is a regular file, because the file may have been replaced."""
    try:
        _require_ordinary(os.fstat(descriptor), shown)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_unlinked(kind: os.stat_result, shown: str) -> None:
    reparse = getattr(stat, "FILE_ATTRIBUTE_REPARSE_POINT", 0)
    attributes = getattr(kind, "st_file_attributes", 0)
    if stat.S_ISLNK(kind.st_mode) or (sys.platform == "win32" and attributes & reparse):
        raise _denied(shown, "it goes through a symbolic link, and links are not followed")


def _require_ordinary(kind: os.stat_result, shown: str) -> None:
    if not stat.S_ISREG(kind.st_mode):
        raise _denied(shown, "it is not an ordinary file")


def _read(descriptor: int, most: int, shown: str) -> bytes:
    if os.fstat(descriptor).st_size > most:
        raise too_large(shown, most)
    pieces: list[bytes] = []
    left = most + 1
    while left:
        piece = os.read(descriptor, min(left, 2**22))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise too_large(shown, most)
    return b"".join(pieces)


def _as_error(error: OSError, shown: str) -> CarrelError:
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return _denied(shown, "it goes through a symbolic link, and links are not followed")
    if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.EINVAL, errno.ENAMETOOLONG}:
        return SourceError("not_found", f"{shown}: there is no such file", plugin="", tool=NAME)
    return StorageError(shown, f"cannot be read: {error.strerror or error}")


def _is_folder(shown: str, names: Sequence[str]) -> ArgumentError:
    visible = sorted(name for name in names if not name.startswith("."))
    listed = ", ".join(printable(name, 100) for name in visible[:_LISTED]) or "nothing"
    more = f" and {len(visible) - _LISTED} more" if len(visible) > _LISTED else ""
    return ArgumentError([f"{shown}: is a folder, not a file; it has {listed}{more}"], tool=NAME)


def _denied(shown: str, why: str) -> SourceError:
    return SourceError(
        "denied",
        f"{shown}: {why}",
        plugin="",
        tool=NAME,
        extra={"denial_context": {"reason": "file_not_granted", "grant": "documents.folders"}},
    )
