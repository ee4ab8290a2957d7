"""Stores: each holds the instance of one call, under limits."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import wasmtime
from wasmtime import _ffi as c

from .gil import holding_gil
from .handles import Handle, require
from .linking import Code, Export, Linker

#: Epoch deadline in increments of the engine's epoch: the first one interrupts the guest.
_NEXT_INCREMENT = 1
_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))

_new = holding_gil("wasmtime_store_new")
_context = holding_gil("wasmtime_store_context")
_set_epoch_deadline = holding_gil("wasmtime_context_set_epoch_deadline")
_set_limits = holding_gil("wasmtime_store_limiter")
_get_function = holding_gil("wasmtime_component_instance_get_func")


class Store(Handle):
    """A store for one instance. Not thread-safe; closing it clears the guest's memories.

    Args:
        engine: that the guest's code was loaded into; its next epoch interrupts the guest.
        memory_bytes: limit of each linear memory.
        table_elements: limit of each table.
        instances: limit of their number.
        tables: limit of their number.
        memories: limit of their number.

    Attributes:
        context: wasmtime's C pointer for the store's contents.
    """

    def __init__(
        self,
        engine: wasmtime.Engine,
        *,
        memory_bytes: int,
        table_elements: int,
        instances: int,
        tables: int,
        memories: int,
    ) -> None:
        super().__init__(_new(engine.ptr(), None, _NO_FINALIZER))
        self.context = _context(self.ptr())
        _set_epoch_deadline(self.context, _NEXT_INCREMENT)
        _set_limits(self.ptr(), memory_bytes, table_elements, instances, tables, memories)

    def set_wasi(self, wasi: wasmtime.WasiConfig) -> None:
        """Configures WASI for the guest."""
        require(c.wasmtime_context_set_wasi(self.context, wasi._consume()))  # noqa: SLF001

    def instantiate(self, linker: Linker, code: Code) -> Any:
        """Returns a new instance, as wasmtime's C value.

        Args:
            linker: defines the guest's imports.
            code: the guest's machine code.

        Raises:
            WasmtimeError: it exceeds a limit, an import is missing, or its start function trapped.
        """
        instance = c.wasmtime_component_instance_t()
        require(
            c.wasmtime_component_linker_instantiate(
                linker.ptr(), self.context, code.ptr(), byref(instance)
            )
        )
        return instance

    def function(self, instance: Any, export: Export) -> Any:
        """Returns an instance's function, as wasmtime's C value, or None if it is no function."""
        function = c.wasmtime_component_func_t()
        found = _get_function(byref(instance), self.context, export.ptr(), byref(function))
        return function if found else None

    def _free(self, pointer: Any) -> None:
        c.wasmtime_store_delete(pointer)
