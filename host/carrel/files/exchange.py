"""Exchanges two files atomically, where the system can."""

from __future__ import annotations

import errno
import os
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
#: The system or the file system cannot exchange files.
_UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM})


def exchange(first: Path, second: Path) -> bool:
    """Exchanges the names of two files of one file system in one atomic step.

    In contrast to a rename, the content that was replaced is still there, so that a caller sees
    whether it was the content that it expected.

    Returns:
        Whether the system can do it; if not, nothing has changed.

    Raises:
        OSError: the exchange failed, for instance because one of them does not exist.
    """
    rename = _renameat2()
    if rename is None:
        return False
    import ctypes

    arguments = (_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    if rename(*arguments) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(second))


@lru_cache(maxsize=1)
def _renameat2() -> Any:
    """Returns the C library's function; None if there is none."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    return function
