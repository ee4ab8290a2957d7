"""Loaded machine code and linkers, as far as components of the contract need them.

`wasmtime.component` has both, and classes for all types of the component model. Importing those
takes 9 ms, a twelfth of `carrel parse`, so this path does without.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import _ffi as c

from carrel.exchange import Outcome, Request
from carrel.runtime.ffi.bounds import Plain, PlainResult

from .callbacks import define, discard_callback, fetch_callback, plain_callback
from .handles import Handle, require

_CodePointer = ctypes.POINTER(c.wasmtime_component_t)
_InstancePointer = ctypes.POINTER(c.wasmtime_component_linker_instance_t)
_ExternPointer = ctypes.POINTER(c.wasmtime_component_extern_t)


class Code(Handle):
    """A component's machine code, loaded into an engine."""

    def __init__(self, engine: wasmtime.Engine, code: Path | bytes) -> None:
        """Loads machine code; the caller has verified where it comes from.

        Raises:
            WasmtimeError: another version made it, or for an engine with other settings.
        """
        super().__init__(None)
        pointer = _CodePointer()
        if isinstance(code, Path):
            name = str(code).encode()
            require(c.wasmtime_component_deserialize_file(engine.ptr(), name, byref(pointer)))
        else:
            copy = (ctypes.c_uint8 * len(code)).from_buffer_copy(code)
            require(c.wasmtime_component_deserialize(engine.ptr(), copy, len(code), byref(pointer)))
        self._pointer = pointer
        self._engine = engine

    def imports(self) -> Iterator[str]:
        """Yields the names of its imports."""
        kind = c.wasmtime_component_type(self.ptr())
        try:
            count = c.wasmtime_component_type_import_count(kind, self._engine.ptr())
            for index in range(count):
                name, length = ctypes.POINTER(ctypes.c_char)(), ctypes.c_size_t()
                item = _ExternPointer()
                c.wasmtime_component_type_import_nth(
                    kind, self._engine.ptr(), index, byref(name), byref(length), byref(item)
                )
                c.wasmtime_component_extern_delete(item)
                yield ctypes.string_at(name, length.value).decode()
        finally:
            c.wasmtime_component_type_delete(kind)

    def export(self, name: str, within: Export | None = None) -> Export | None:
        """Returns an export, of the component or `within` an exported instance, or None."""
        encoded = name.encode()
        pointer = c.wasmtime_component_get_export_index(
            self.ptr(), within.ptr() if within is not None else None, encoded, len(encoded)
        )
        return Export(pointer) if pointer else None  # type: ignore[truthy-bool]

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_delete(pointer)


class Export(Handle):
    """An export of loaded code, looked up by name once."""

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_export_index_delete(pointer)


class Linker(Handle):
    """Defines the imports of an engine's guests."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        super().__init__(c.wasmtime_component_linker_new(engine.ptr()))
        #: Callbacks, which must outlive the linker.
        self._callbacks: list[object] = []

    def add_wasi(self) -> None:
        """Defines WASI 0.2."""
        require(c.wasmtime_component_linker_add_wasip2(self.ptr()))

    def root(self) -> LinkerInstance:
        """Returns the root instance. Close it before the linker is used again."""
        return LinkerInstance(c.wasmtime_component_linker_root(self.ptr()), self._callbacks)

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_linker_delete(pointer)


class LinkerInstance(Handle):
    """An instance that a linker provides, such as an interface, while it is being defined."""

    def __init__(self, pointer: Any, callbacks: list[object]) -> None:
        super().__init__(pointer)
        self._callbacks = callbacks

    def add_instance(self, name: str) -> LinkerInstance:
        """Returns an instance within. Close it before this one is used again."""
        encoded = name.encode()
        pointer = _InstancePointer()
        require(
            c.wasmtime_component_linker_instance_add_instance(
                self.ptr(), encoded, len(encoded), byref(pointer)
            )
        )
        return LinkerInstance(pointer, self._callbacks)

    def add_fetch(
        self,
        name: str,
        fetch: Callable[[list[Request]], Sequence[Outcome]],
        *,
        may_fetch: Callable[[int], bool],
        many: bool,
    ) -> None:
        """Defines the contract's `fetch` or, with `many`, `fetch-all`.

        Args:
            name: the function's.
            fetch: answers requests; must not raise.
            may_fetch: whether the call may make so many requests more. If not, it has ended the
                call, and the list is not read.
            many: whether the function takes a list of requests.
        """
        run = fetch_callback(fetch, may_fetch=may_fetch, many=many)
        self._callbacks.append(define(self.ptr(), name, run, parameters=1, results=1))

    def add_discard(self, name: str, run: Callable[[Callable[[], Request]], object]) -> None:
        """Defines the contract's `discard`.

        Args:
            name: the function's.
            run: is passed a function that reads the request; must not raise.
        """
        callback = discard_callback(run)
        self._callbacks.append(define(self.ptr(), name, callback, parameters=1, results=0))

    def add_function(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        takes: Sequence[Plain] = (),
        gives: PlainResult | None = None,
        most: int = sys.maxsize,
    ) -> None:
        """Defines a function of plain types.

        Args:
            name: the function's.
            function: must not raise.
            takes: types of its parameters.
            gives: type of its result.
            most: bytes that are read of each string; the rest is cut off.
        """
        run = plain_callback(function, takes=takes, gives=gives, most=most)
        results = 0 if gives is None else 1
        self._callbacks.append(
            define(self.ptr(), name, run, parameters=len(takes), results=results)
        )

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_linker_instance_delete(pointer)
