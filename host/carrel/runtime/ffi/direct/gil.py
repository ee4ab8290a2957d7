"""GIL-held calls: C functions of wasmtime that return at once, called without releasing the GIL.

ctypes releases the GIL around every call and acquires it again afterwards. With other threads
waiting, this thread then often waits until one of them has decoded its result, or wakes a thread
for nothing. Eight threads that parse documents of 1 MB take a quarter less time without that.
Calls that run a guest, make an instance or clear a memory do release the GIL.
"""

from __future__ import annotations

import ctypes
from typing import Any

from wasmtime import _bindings as bindings
from wasmtime import _ffi as c


def holding_gil(name: str) -> Any:
    """Returns the C function `name` as a GIL-held call with the types of wasmtime-py's bindings."""
    binding = getattr(bindings, f"_{name}")
    return ctypes.PYFUNCTYPE(binding.restype, *binding.argtypes)((name, c.dll))
