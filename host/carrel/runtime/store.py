"""What one call's instance lives in: a store of wasmtime's, with its bounds."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any

import wasmtime
from wasmtime import _ffi as c

from .foreign import Owned, require
from .linking import Code, Export
from .short_calls import keeping_the_lock

#: An epoch deadline of one: the first increment of the engine stops the guest.
_NEXT_INCREMENT = 1
_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))

_new = keeping_the_lock("wasmtime_store_new")
_context = keeping_the_lock("wasmtime_store_context")
_set_epoch_deadline = keeping_the_lock("wasmtime_context_set_epoch_deadline")
_set_limits = keeping_the_lock("wasmtime_store_limiter")
_get_function = keeping_the_lock("wasmtime_component_instance_get_func")


class Store(Owned):
    """A store. One thread at a time uses it; closing it empties the memories in it.

    Args:
        engine: where the guest's code was loaded; its next epoch ends what runs here.
        memory_bytes: of each linear memory.
        table_elements: of each table.
        instances: how many there may be.
        tables: how many there may be.
        memories: how many there may be.

    Attributes:
        context: what wasmtime's C functions take for this store.
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
        """What the guest's imports of WASI are told."""
        require(c.wasmtime_context_set_wasi(self.context, wasi._consume()))  # noqa: SLF001

    def instantiate(self, linker: Any, code: Code) -> Any:
        """A new instance, as wasmtime's C value.

        Args:
            linker: has what the guest imports, see `Define` in `worker`.
            code: the guest's.

        Raises:
            WasmtimeError: it needs more than the bounds allow, or its start failed.
        """
        instance = c.wasmtime_component_instance_t()
        require(
            c.wasmtime_component_linker_instantiate(
                linker.ptr(), self.context, code.ptr(), byref(instance)
            )
        )
        return instance

    def function(self, instance: Any, export: Export) -> Any:
        """A function of an instance, as wasmtime's C value; None where there is none."""
        function = c.wasmtime_component_func_t()
        found = _get_function(byref(instance), self.context, export.ptr(), byref(function))
        return function if found else None

    def _free(self, pointer: Any) -> None:
        c.wasmtime_store_delete(pointer)
