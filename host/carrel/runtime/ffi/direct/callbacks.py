"""Host functions: callbacks that a guest calls through wasmtime's C interface."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import cast
from typing import Any

import wasmtime
from wasmtime import _ffi as c

from carrel.exchange import Outcome, Request

from .handles import require
from .lifting import READERS, length_of, read_list, read_request
from .lowering import write_list, write_outcome, write_string, write_u32, write_u64

#: Writes a result of a plain type.
_WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "string": write_string,
    "u32": write_u32,
    "u64": write_u64,
}


def fetch_callback(
    fetch: Callable[[list[Request]], Sequence[Outcome]],
    *,
    may_fetch: Callable[[int], bool],
    many: bool,
) -> Callable[[Any, Any], None]:
    """Returns the body of `fetch` or, with `many`, of `fetch-all`; see
    `LinkerInstance.add_fetch`.
    """

    def run(values: Any, results: Any) -> None:
        if not many:
            write_outcome(results[0], fetch([read_request(values[0])])[0])
        elif may_fetch(length_of(values[0])):
            write_list(results[0], fetch(read_list(values[0], read_request)), write_outcome)
        else:
            write_list(results[0], (), write_outcome)

    return run


def discard_callback(run: Callable[[Callable[[], Request]], object]) -> Callable[[Any, Any], None]:
    """Returns the body of `discard`; see `LinkerInstance.add_discard`."""

    def call(values: Any, _results: Any) -> None:
        run(lambda: read_request(values[0]))

    return call


def plain_callback(
    function: Callable[..., Any], *, takes: Sequence[str], gives: str | None, most: int
) -> Callable[[Any, Any], None]:
    """Returns the body of a function of plain types; see `LinkerInstance.add_function`."""
    readers = [READERS[kind] for kind in takes]
    write = _WRITERS[gives] if gives is not None else None

    def run(values: Any, results: Any) -> None:
        result = function(*(read(values[index], most) for index, read in enumerate(readers)))
        if write is not None:
            write(results[0], result)

    return run


def define(
    instance: Any, name: str, run: Callable[[Any, Any], None], *, parameters: int, results: int
) -> object:
    """Defines a function in an instance of a linker, and returns what must outlive the linker.

    Args:
        instance: the linker's instance, as wasmtime's C pointer.
        name: the function's.
        run: reads the C values of the parameters and writes those of the results.
        parameters: their number; a call with another number fails.
        results: likewise.
    """

    @c.wasmtime_component_func_callback_t  # type: ignore[untyped-decorator]
    def callback(
        _data: Any,
        _context: Any,
        _type: Any,
        values: Any,
        count: int,
        result_values: Any,
        result_count: int,
    ) -> int:
        try:
            assert count == parameters, "as many parameters as the contract's"
            assert result_count == results, "as many results as the contract's"
            run(values, result_values)
        except Exception as error:  # noqa: BLE001 - no exception may reach C
            message = f"{name} is not the contract's: {type(error).__name__}"
            failure = wasmtime.WasmtimeError(message)._consume()  # noqa: SLF001
            return cast(failure, ctypes.c_void_p).value or 0
        return 0

    encoded = name.encode()
    error = c.wasmtime_component_linker_instance_add_func(
        instance, ctypes.create_string_buffer(encoded), len(encoded), callback, None, _no_finalizer
    )
    require(error)
    return callback


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _no_finalizer(_data: Any) -> None:
    """A callback has no data to free."""
