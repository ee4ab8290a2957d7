"""Tunes the C allocator: when freed memory of the host is returned to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

#: Of glibc's malloc.h.
_M_ARENA_MAX = -8
_M_MMAP_THRESHOLD = -3
_M_TRIM_THRESHOLD = -1
#: The largest block that glibc can be configured to keep.
_LARGEST = 32 * 2**20
_HEAPS = 8
_KEPT = 256 * 2**20
_SHOWN = 8 * 2**20


def give_back() -> None:
    """Returns freed memory to the system, if the C library is glibc.

    A guest's list of 100,000 requests takes 100 MB in small blocks before it is refused. glibc
    keeps such freed blocks in the arena of the thread: sixteen workers held 1.5 GB. Takes some
    milliseconds, so it is called only after such abuse.
    """
    trim = _function("malloc_trim", ctypes.c_int, ctypes.c_size_t)
    if trim is not None:
        trim(0)


def own_process() -> None:
    """Sets the C library's allocator up for plugins, where it is glibc.

    For the command line and the server, whose process is Carrel's own; a library leaves the
    allocator of its host program alone. Threads that start from now on share eight heaps: by
    default each has a heap of its own, up to eight for each processor, and keeps in it what was
    freed. Eight threads that parse 1 MB each on two cores are 1.5 to 1.8 times as fast as one
    thread with eight heaps, and 1.3 to 1.6 times with two; a server takes as much memory after
    10,000 calls with eight as with two. And one block of a document's size comes and goes: glibc
    returns a large block to the system when it is freed, until it has seen one of that size freed,
    and a document and its result are four such blocks.
    The block is never touched, so it costs 10 µs and no memory.
    """
    mallopt = _function("mallopt", ctypes.c_int, ctypes.c_int, ctypes.c_int)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _HEAPS)
    malloc = _function("malloc", ctypes.c_void_p, ctypes.c_size_t)
    free = _function("free", None, ctypes.c_void_p)
    if malloc is not None and free is not None:
        free(malloc(_SHOWN))


def keep_freed() -> None:
    """Keeps all freed memory in the process, if the C library is glibc.

    By default glibc returns large blocks to the system when they are freed. A document and its
    result take several such blocks, and each page fault costs 2 to 4 µs, a tenth of the time of
    parsing 10 MB. For processes that do nothing else.
    """
    mallopt = _function("mallopt", ctypes.c_int, ctypes.c_int, ctypes.c_int)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        mallopt(_M_TRIM_THRESHOLD, _KEPT)


@cache
def _function(name: str, returns: Any, *takes: Any) -> Any:
    """Returns a function of the C library with its types; None if it does not exist."""
    try:
        function = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None
    function.argtypes, function.restype = takes, returns
    return function
