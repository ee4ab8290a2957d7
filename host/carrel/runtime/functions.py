"""Functions between host and guest, called through wasmtime's C interface.

wasmtime-py converts any type: it asks the library for a type's fields again at every value, and
copies a string three times on its way in. For ten answers without a body that is 1.7 ms of a call
that takes 2.6 ms, and for a document of 10 MB it is 40 MB of memory touched for nothing. The
contract's types are few and known, so `lifting` and `lowering` have them written down
(bench/README.md has the figures).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, cast
from typing import Any, Literal

import wasmtime
from wasmtime import _ffi as c

from carrel.exchange import Outcome, Request

from .foreign import require
from .kinds import STRING
from .lifting import (
    READERS,
    length_of,
    read_list,
    read_plain,
    read_request,
    read_text_result,
)
from .lowering import write_list, write_outcome, write_string
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
        function: of an instance, from `store`.
        store: the call's.
        arguments: the function's, encoded from `str`: of bytes that are not UTF-8 the library
            makes an abort.
        max_bytes: of the text that comes back; a longer one is not read.
        returned: called when the guest has returned.

    Returns:
        Whether the result is no `error`, and its text as UTF-8, which wasmtime has checked. It
        stands where wasmtime put it: of 10 MB a copy would be 2,000 pages, at 3 µs each.

    Raises:
        WasmtimeError: the guest trapped.
        MismatchError: the function has another type.
        OutputError: the text is longer than `max_bytes`.
    """
    values = (_Value * len(arguments))()
    for value, text in zip(values, arguments, strict=True):
        value.kind = STRING
        # Lent: the library copies it before the guest runs, and `arguments` lives until then.
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


def add_fetch(
    instance: Any,
    name: str,
    fetch: Callable[[list[Request]], Sequence[Outcome]],
    *,
    may_fetch: Callable[[int], bool],
    many: bool,
) -> object:
    """Defines `fetch` or, with `many`, `fetch-all` in an instance of a linker.

    Args:
        instance: the contract's `http`, as wasmtime's C pointer.
        name: the function's.
        fetch: must not raise.
        may_fetch: whether the call may make so many requests; if not it has ended, and the list is
            not read.
        many: whether it takes a list of requests.

    Returns:
        What has to live as long as the linker.
    """

    def run(values: Any, results: Any) -> None:
        if not many:
            write_outcome(results[0], fetch([read_request(values[0])])[0])
        elif may_fetch(length_of(values[0])):
            write_list(results[0], fetch(read_list(values[0], read_request)), write_outcome)
        else:
            write_list(results[0], (), write_outcome)

    return _define(instance, name, run, parameters=1, results=1)


def add_discard(instance: Any, name: str, run: Callable[[Callable[[], Request]], None]) -> object:
    """Defines a function of a request that returns nothing.

    Args:
        instance: the contract's `http`, likewise.
        name: the function's.
        run: must not raise; it is handed what reads the request, which is not read before.

    Returns:
        What has to live as long as the linker.
    """

    def call(values: Any, _results: Any) -> None:
        run(lambda: read_request(values[0]))

    return _define(instance, name, call, parameters=1, results=0)


def add_words(
    instance: Any,
    name: str,
    run: Callable[..., str | None],
    *,
    takes: Sequence[Literal["string", "enum", "u64"]],
) -> object:
    """Defines a function of plain values; strings come cut to `MAX_WORDS`.

    Args:
        instance: one of the contract's interfaces, likewise.
        name: the function's.
        run: must not raise; a text it returns goes to the guest.
        takes: the kinds of its parameters.

    Returns:
        What has to live as long as the linker.
    """
    readers = [READERS[kind] for kind in takes]

    def call(values: Any, results: Any) -> None:
        text = run(*(read(values[place]) for place, read in enumerate(readers)))
        if text is not None:
            write_string(results[0], text)

    return _define(instance, name, call, parameters=len(readers), results=None)


def add_text(instance: Any, name: str, function: Callable[..., str], *, parameters: int) -> object:
    """Defines a function of strings and u32s that returns a string; nothing is cut.

    Args:
        instance: the interface it belongs to, likewise.
        name: the function's.
        function: must not raise.
        parameters: how many it takes.

    Returns:
        What has to live as long as the linker.
    """

    def call(values: Any, results: Any) -> None:
        arguments = (read_plain(values[place]) for place in range(parameters))
        write_string(results[0], function(*arguments))

    return _define(instance, name, call, parameters=parameters, results=1)


def _define(
    instance: Any,
    name: str,
    run: Callable[[Any, Any], None],
    *,
    parameters: int,
    results: int | None,
) -> object:
    @c.wasmtime_component_func_callback_t  # type: ignore[untyped-decorator]
    def callback(
        _data: Any, _context: Any, _type: Any, values: Any, count: int, given: Any, wanted: int
    ) -> int:
        try:
            assert count == parameters, "as many parameters as the contract's"
            assert results is None or wanted == results, "as many results as the contract's"
            run(values, given)
        except Exception as error:  # noqa: BLE001 - nothing may be raised into C
            message = f"{name} is not the contract's: {type(error).__name__}"
            failure = wasmtime.WasmtimeError(message)._consume()  # noqa: SLF001
            return cast(failure, ctypes.c_void_p).value or 0
        return 0

    encoded = name.encode()
    error = c.wasmtime_component_linker_instance_add_func(
        instance, ctypes.create_string_buffer(encoded), len(encoded), callback, None, _nothing
    )
    require(error)
    return callback


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _nothing(_data: Any) -> None:
    """There is nothing to finalize."""
