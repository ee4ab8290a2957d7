"""Stores: each holds the instance of one call, under limits."""

from __future__ import annotations

import wasmtime
from wasmtime import component

from .counting import counted
from .linking import Code, Export, Linker

#: Epoch deadline in increments of the engine's epoch: the first one interrupts the guest.
_NEXT_INCREMENT = 1


class Store:
    """A store for one instance. Not thread-safe; closing it clears the guest's memories.

    Args:
        engine: that the guest's code was loaded into; its next epoch interrupts the guest.
        memory_bytes: limit of each linear memory.
        table_elements: limit of each table.
        instances: limit of their number.
        tables: limit of their number.
        memories: limit of their number.

    Attributes:
        context: wasmtime-py's store.
        linker: of the instance; None without one.
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
        self.context = wasmtime.Store(engine)
        self.linker: Linker | None = None
        self.context.set_epoch_deadline(_NEXT_INCREMENT)
        self.context.set_limits(memory_bytes, table_elements, instances, tables, memories)

    def set_wasi(self, wasi: wasmtime.WasiConfig) -> None:
        """Configures WASI for the guest."""
        self.context.set_wasi(wasi)

    def instantiate(self, linker: Linker, code: Code) -> component.Instance:
        """Returns a new instance.

        Args:
            linker: defines the guest's imports.
            code: the guest's machine code.

        Raises:
            WasmtimeError: it exceeds a limit, an import is missing or has another type than the
                contract's, or its start function trapped.
        """
        mismatch = code.mismatch(linker)
        if mismatch:
            raise wasmtime.WasmtimeError(f"{mismatch} is not the contract's: its type differs")
        self.linker = linker
        with counted(linker.may_fetch):
            return linker.get().instantiate(self.context, code.component)

    def function(self, instance: component.Instance, export: Export) -> component.Func | None:
        """Returns an instance's function, or None if the export is no function."""
        return instance.get_func(self.context, export.index)

    def close(self) -> None:
        """Frees the store. Idempotent."""
        self.context.close()
