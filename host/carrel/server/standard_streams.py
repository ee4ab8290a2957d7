"""Reserves the process's standard streams for frames.

While a server runs, descriptor 1 points at stderr and descriptor 0 reads nothing, so anything that
prints (Python, C, a child process) writes to stderr, and nothing else reads frames. The server uses
the real pipes through private descriptors.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def standard_streams_taken() -> Iterator[tuple[int, int]]:
    """Yields private descriptors of stdin and stdout; restores the streams at the end."""
    _flush()
    stdin, stdout = _duplicate(0, os.O_RDONLY), _duplicate(1, os.O_WRONLY)
    blocking = [_is_blocking(fd) for fd in (stdin, stdout)]
    _divert(0, os.open(os.devnull, os.O_RDONLY))
    _divert(1, _stderr())
    try:
        yield stdin, stdout
    finally:
        # Buffered prints must not be written after the last frame.
        _flush()
        for fd, private, was_blocking in ((0, stdin, blocking[0]), (1, stdout, blocking[1])):
            if was_blocking:
                # The mode belongs to the open pipe, which other processes may share.
                with suppress(OSError):
                    os.set_blocking(private, True)
            with suppress(OSError):
                os.dup2(private, fd)
                _rebind_windows_handle(fd)
        # The private descriptors stay open: a thread may still be blocked on one.


def _duplicate(fd: int, flags: int) -> int:
    """Duplicates `fd` to a private descriptor outside the standard range; of the null device if it
    is closed.
    """
    try:
        os.fstat(fd)
    except OSError:
        private = os.open(os.devnull, flags)
        return private if private > 2 else _above(private)
    return _above(fd)


def _above(fd: int) -> int:
    if sys.platform == "win32":
        import msvcrt

        private = os.dup(fd)
        msvcrt.setmode(private, os.O_BINARY)
        return private
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


def _stderr() -> int:
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _divert(fd: int, target: int) -> None:
    if target == fd:
        return  # it was closed, and opening the target reused its number
    os.dup2(target, fd)
    os.close(target)
    _rebind_windows_handle(fd)


def _rebind_windows_handle(fd: int) -> None:
    """Child processes on Windows inherit handles, not descriptors."""
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        with suppress(OSError):
            rebind_std_handle_to_fd(fd)


def _is_blocking(fd: int) -> bool:
    try:
        return os.get_blocking(fd)
    except (AttributeError, OSError):
        return False  # Windows before Python 3.12, where the mode is never changed


def _flush() -> None:
    """Empties Python's and C's buffers of stdout."""
    for stream in (sys.stdout, sys.__stdout__):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()  # type: ignore[union-attr]  # None when the process has no stdout
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.cdll.ucrtbase if sys.platform == "win32" else ctypes.CDLL(None)
        library.fflush(None)
