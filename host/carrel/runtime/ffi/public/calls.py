"""Calls of a guest's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import wasmtime
from wasmtime.component import String, Variant

from carrel.runtime.ffi.bounds import MismatchError, OutputError

from .counting import counted
from .store import Store
from .types import TEXTS, has_shape


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
        arguments: the function's, as UTF-8.
        max_bytes: limit of the returned text.
        returned: called when the guest has returned.

    Returns:
        Whether the result is no `error`, and its text as UTF-8.

    Raises:
        WasmtimeError: the guest trapped.
        MismatchError: the function has another type.
        OutputError: the text is longer than `max_bytes`.
    """
    declared = function.type(store.context)
    result = declared.result
    if not any(has_shape(result, shape) for shape in TEXTS):
        returned()
        raise MismatchError
    if [type(kind) for _name, kind in declared.params] != [String] * len(arguments):
        returned()
        raise wasmtime.WasmtimeError("the function takes other arguments than the contract's")
    assert store.linker is not None, "a function is an instance's"
    try:
        with counted(store.linker.may_fetch):
            value = function(store.context, *(str(text, "utf-8") for text in arguments))
    finally:
        returned()
    is_ok = not isinstance(value, Variant) or value.tag == "ok"
    text = str(value.payload if isinstance(value, Variant) else value)
    del value
    # A character is one byte at least. The text is freed with this frame's variables, which an
    # exception keeps.
    encoded = b"" if len(text) > max_bytes else text.encode()
    if len(text) > max_bytes or len(encoded) > max_bytes:
        del text, encoded
        raise OutputError
    return is_ok, memoryview(encoded)
