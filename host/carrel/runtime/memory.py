"""Memory of the host's own that a guest made it take, given back."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

#: Of glibc's malloc.h.
_M_ARENA_MAX = -8


def give_back() -> None:
    """Returns freed memory to the system, where the C library keeps it for itself otherwise.

    A list of a hundred thousand requests becomes a hundred megabytes of small blocks before it can
    be refused. They are freed at once, but glibc keeps them for the thread that had them: sixteen
    workers held 1.5 GB. Costs some milliseconds, so it is for what should not have happened.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


def share_arenas() -> None:
    """Lets the threads that start from now on share two heaps, where the C library is glibc.

    It gives each a heap of its own by default, and keeps what was freed in each. What the workers
    allocate, they allocate holding the interpreter's lock, so sharing costs them nothing.
    """
    mallopt = _function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 2)


@cache
def _trim() -> Any:
    trim = _function("malloc_trim")
    if trim is None:
        return None
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return trim


def _function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None
