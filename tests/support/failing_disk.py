"""Makes the n-th disk operation fail; counts calls that open, write, flush or rename.

Replaces Python's functions of the operating system for files below one folder. A test runs its work
with n = 1, 2, … until a run in which nothing fails.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

FAULTS = {"full": errno.ENOSPC, "forbidden": errno.EACCES, "broken": errno.EIO}


class FailingDisk:
    """Counts operations on files below a folder; the n-th fails.

    Attributes:
        failed: whether an operation failed.
        last: the operation that failed.
    """

    def __init__(self, folder: Path, code: int) -> None:
        self._folder = str(folder)
        self._code = code
        self._left = 0
        self.failed = False
        self.last = ""

    def fail_at(self, number: int) -> None:
        self._left, self.failed, self.last = number, False, ""

    def fail_no_more(self) -> None:
        self._left = 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within the context, no operation is counted or fails."""
        left, self._left = self._left, 0
        yield
        self._left = left

    def touch(self, operation: str, path: object) -> None:
        """Counts an operation on a file below the folder."""
        if isinstance(path, int):
            try:
                path = str(Path(f"/proc/self/fd/{path}").readlink())
            except OSError:
                return
        if self._left <= 0 or not os.fspath(path).startswith(self._folder):  # type: ignore[call-overload]
            return
        self._left -= 1
        if self._left == 0:
            self.failed, self.last = True, f"{operation} {path}"
            raise OSError(self._code, os.strerror(self._code), os.fspath(path))  # type: ignore[call-overload]

    @contextmanager
    def mounted(self) -> Iterator[FailingDisk]:
        """Within the context, operations are counted and can fail."""
        with pytest.MonkeyPatch.context() as patch:
            for name in ("open", "mkdir", "replace", "rename", "link", "unlink", "utime", "fsync"):
                patch.setattr(os, name, self._counted(name, getattr(os, name)))
            patch.setattr(os, "fdopen", self._file(os.fdopen))
            patch.setattr(io, "open", self._file(self._counted("open", io.open)))
            patch.setattr(builtins, "open", io.open)
            yield self

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def operation(path: Any, *arguments: Any, **options: Any) -> Any:
            self.touch(name, path)
            return real(path, *arguments, **options)

        return operation

    def _file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def opened(path: Any, *arguments: Any, **options: Any) -> Any:
            file = real(path, *arguments, **options)
            if not file.writable():
                return file
            return _Writer(file, lambda: self.touch("write", file.fileno()))

        return opened


class _Writer:
    """A file whose writes are counted."""

    def __init__(self, file: Any, touch: Callable[[], None]) -> None:
        self._file = file
        self._touch = touch

    def write(self, data: Any) -> Any:
        self._touch()
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._file.close()


def every_fault(folder: Path, code: int, work: Callable[[FailingDisk], None]) -> int:
    """Runs `work` with each operation failing in turn; returns the number of operations."""
    disk = FailingDisk(folder, code)
    for number in range(1, 1000):
        disk.fail_at(number)
        with disk.mounted():
            work(disk)
        if not disk.failed:
            return number - 1
    raise AssertionError("the work never ends without a fault")
