"""Calls of a guest's functions through wasmtime's C interface.

wasmtime-py converts values of any type: it asks the library for a type's fields at every value, and
copies a string three times. For ten answers without a body that is 1.7 ms of a call that takes 2.6
ms; for a document of 10 MB it is 40 MB of copies. The contract's types are few and fixed, so
`lifting` and `lowering` convert these and no others (bench/README.md has the figures).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, cast
from typing import Any

from wasmtime import _ffi as c

from .handles import require
from .kinds import STRING
from .lifting import read_text_result
from .store import Store

_Value = c.wasmtime_component_val
_BytesPointer = ctypes.POINTER(c.wasm_byte_t)


def call_text(
    function: Any,
    store: Store,
    arguments: Sequence[bytes],
    *,
    max_bytes: int,
    returned: Callable[[], None],
) -> tuple[bool, memoryview]:
    """Calls `func(string…) -> string` or `func(string…) -> result<string, string>`.

    Args:
        function: of an instance in `store`.
        store: the call's.
        arguments: the function's, as UTF-8. The library aborts the process on other bytes.
        max_bytes: limit of the returned text; a longer one is not read.
        returned: called when the guest has returned.

    Returns:
        Whether the result is no `error`, and its text as UTF-8, which wasmtime has checked. The
        text is not copied: for 10 MB that would touch 2,000 pages, at 3 µs each.

    Raises:
        WasmtimeError: the guest trapped.
        MismatchError: the function has another type.
        OutputError: the text is longer than `max_bytes`.
    """
    values = (_Value * len(arguments))()
    for value, text in zip(values, arguments, strict=True):
        value.kind = STRING
        # Borrowed: the library copies it before the guest runs, and `arguments` lives until then.
        value.of.string.size = len(text)
        value.of.string.data = cast(ctypes.c_char_p(text), _BytesPointer)
    result = _Value()
    error = c.wasmtime_component_func_call(
        byref(function),
        store.context,
        values,
        len(values),
        byref(result),
        1,
    )
    returned()
    require(error)
    return read_text_result(result, max_bytes)
