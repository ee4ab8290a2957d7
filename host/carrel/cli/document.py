"""A document from a file or stdin, under a cap, and its text.

Every failure is a typed error that names the file, so that `parse` can continue with the next file.
"""

from __future__ import annotations

import os
import sys

from carrel.errors import ArgumentError, SourceError, StorageError
from carrel.text.utf8 import Utf8
from carrel.tools.document import as_utf8

from .report import complain

STDIN = "-"


def read_document(name: str, *, cap: int, plugin: str, document_format: str) -> bytes:
    """The bytes of the file `name`, or of stdin for `-`.

    Args:
        name: a path; device files and pipes work too.
        cap: maximum size in bytes.
        plugin: for the errors.
        document_format: for the errors.

    Raises:
        ArgumentError: the file does not exist, or is a folder.
        StorageError: the file cannot be read.
        SourceError: the document is too large.
    """
    data = _read(name, cap + 1)
    if len(data) > cap:
        raise SourceError(
            "too_large",
            f"{_shown(name)}: the document is larger than {cap:,} bytes",
            plugin=plugin,
            tool=document_format,
        )
    return data


def document_text(data: bytes, name: str, *, plugin: str, document_format: str) -> Utf8:
    """The text of what `read_document` returned.

    Raises:
        SourceError: it is not text in its own charset.
    """
    return as_utf8(data, name=_shown(name), plugin=plugin, document_format=document_format)


def _read(name: str, cap: int) -> bytes:
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise ArgumentError(["stdin is closed; name a file"])
            if sys.stdin.isatty():
                complain("carrel: reading the document from the terminal; Ctrl-D ends it")
            return _read_up_to(sys.stdin.buffer.fileno(), cap)
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(name, flags)
        try:
            return _read_up_to(descriptor, cap)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise ArgumentError([f"{_shown(name)}: there is no such file"]) from None
    except (IsADirectoryError, NotADirectoryError):
        raise ArgumentError([f"{_shown(name)}: is a folder, not a file"]) from None
    except ValueError:  # a null byte in the name
        raise ArgumentError([f"{_shown(name)}: is not the name of a file"]) from None
    except OSError as error:
        if os.path.isdir(name):  # noqa: PTH112 - Windows says "permission denied" for a folder
            raise ArgumentError([f"{_shown(name)}: is a folder, not a file"]) from None
        raise StorageError(_shown(name), f"cannot be read: {error.strerror or error}") from error


def _read_up_to(descriptor: int, cap: int) -> bytes:
    """Reads at most `cap` bytes."""
    # A file is read at once; a pipe, which has no size, in pieces.
    first = os.read(descriptor, min(cap, max(os.fstat(descriptor).st_size, 2**20)))
    chunks, size = [first], len(first)
    while chunks[-1] and size < cap:
        chunks.append(os.read(descriptor, min(cap - size, 2**22)))
        size += len(chunks[-1])
    return b"".join(chunks) if size > len(first) else first


def _shown(name: str) -> str:
    return "stdin" if name == STDIN else name
