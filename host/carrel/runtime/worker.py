"""Runs guests, one at a time, in a separate engine.

With one engine per worker an epoch increment interrupts exactly one guest. An engine takes 0.2 ms
to create, and loading precompiled code into it 40 µs, because the file's pages are shared.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import wasmtime

from .cpu_permits import CpuPermit
from .ffi import Linker
from .host_functions import define_imports
from .instance import Execution
from .memory import give_back
from .pool import RESIDENT_BYTES
from .worker_state import Loaded, WorkerState

#: Creates a worker's linker and defines the guests' imports; see `define_imports`.
Define = Callable[[wasmtime.Engine, Callable[[], Execution]], Linker]


class Worker(WorkerState):
    """Runs executions of one component, one at a time.

    Args:
        stack_bytes: wasm stack of a guest.
        permit: the CPU permit of its executions.
        define: defines what guests import.
        resident_bytes: bytes of guest memory that are not returned to the system.
    """

    def __init__(
        self,
        stack_bytes: int,
        permit: CpuPermit,
        define: Define = define_imports,
        *,
        resident_bytes: int = RESIDENT_BYTES,
    ) -> None:
        super().__init__(
            stack_bytes,
            permit,
            lambda engine: define(engine, self._current),
            resident_bytes=resident_bytes,
        )
        self._loaded: Loaded | None = None
        self._execution: Execution | None = None

    def run(self, execution: Execution, code: Path | bytes) -> tuple[bool, memoryview]:
        """Runs an execution of this worker's component; the caller calls `tidy` afterwards."""
        if self._loaded is None:
            self._loaded = self.load(code)
        self._execution = execution
        try:
            return execution.run(self, self._loaded)
        finally:
            self.permit.give()

    def tidy(self) -> None:
        """Frees what the last execution used.

        Not part of `run`, because clearing the memory of a guest that has read a large document
        takes a while, and the result is available before.
        """
        self.close_store()
        execution, self._execution = self._execution, None
        if execution is not None and execution.bulky:
            give_back()

    def close(self) -> None:
        """Closes linker and engine now: they refer to each other."""
        self._loaded = None
        super().close()

    def _current(self) -> Execution:
        assert self._execution is not None, "host functions run inside an execution"
        return self._execution
