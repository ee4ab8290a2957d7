"""Loaded code and linkers of wasmtime's, as far as components of the contract need them.

`wasmtime.component` has both, and a class for every type that a component may speak in. Importing
those takes 9 ms, a twelfth of `carrel parse`; whoever needs them imports them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref
from pathlib import Path
from typing import Any, Self

import wasmtime
from wasmtime import _ffi as c

from .foreign import Owned, require

_CodePointer = ctypes.POINTER(c.wasmtime_component_t)
_InstancePointer = ctypes.POINTER(c.wasmtime_component_linker_instance_t)
_ExternPointer = ctypes.POINTER(c.wasmtime_component_extern_t)


class Code(Owned):
    """A component's machine code, loaded into an engine."""

    def __init__(self, engine: wasmtime.Engine, code: Path | bytes) -> None:
        """Loads code that was verified.

        Raises:
            WasmtimeError: it was made by another version, or for another engine.
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
        """The names of what it imports."""
        kind = c.wasmtime_component_type(self.ptr())
        try:
            count = c.wasmtime_component_type_import_count(kind, self._engine.ptr())
            for place in range(count):
                name, length = ctypes.POINTER(ctypes.c_char)(), ctypes.c_size_t()
                item = _ExternPointer()
                c.wasmtime_component_type_import_nth(
                    kind, self._engine.ptr(), place, byref(name), byref(length), byref(item)
                )
                c.wasmtime_component_extern_delete(item)
                yield ctypes.string_at(name, length.value).decode()
        finally:
            c.wasmtime_component_type_delete(kind)

    def export(self, name: str, within: Export | None = None) -> Export | None:
        """Where an export stands, or one of an instance that it exports; None if it does not."""
        encoded = name.encode()
        pointer = c.wasmtime_component_get_export_index(
            self.ptr(), within.ptr() if within is not None else None, encoded, len(encoded)
        )
        return Export(pointer) if pointer else None  # type: ignore[truthy-bool]

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_delete(pointer)


class Export(Owned):
    """The place of an export in loaded code; looked up by name once."""

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_export_index_delete(pointer)


class Linker(Owned):
    """What guests of an engine may import."""

    def __init__(self, engine: wasmtime.Engine) -> None:
        super().__init__(c.wasmtime_component_linker_new(engine.ptr()))

    def add_wasi(self) -> None:
        """Defines WASI 0.2."""
        require(c.wasmtime_component_linker_add_wasip2(self.ptr()))

    def root(self) -> LinkerInstance:
        """What has a name of its own. The linker is not for use until it is closed."""
        return LinkerInstance(c.wasmtime_component_linker_root(self.ptr()))

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_linker_delete(pointer)


class LinkerInstance(Owned):
    """An instance in the making, such as an interface."""

    def add_instance(self, name: str) -> Self:
        """An instance within; this one is not for use until that is closed."""
        encoded = name.encode()
        pointer = _InstancePointer()
        require(
            c.wasmtime_component_linker_instance_add_instance(
                self.ptr(), encoded, len(encoded), byref(pointer)
            )
        )
        return type(self)(pointer)

    def _free(self, pointer: Any) -> None:
        c.wasmtime_component_linker_instance_delete(pointer)
