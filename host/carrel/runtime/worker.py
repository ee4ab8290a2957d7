"""Runs guests, one at a time, in one wasmtime engine.

With one engine per worker an epoch increment interrupts exactly one guest. An engine takes 0.2 ms
to create, and loading precompiled code into it 40 µs, because the file's pages are shared.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import wasmtime

from .cpu_permits import CpuPermit
from .engine import new_engine
from .ffi import Code, Export, Linker, Store
from .imports import SOURCE, define_imports, imports_contract_only
from .instance import Execution
from .memory import give_back
from .pool import KEPT, pooled_engine
from .traps import TABLE_ELEMENTS

FUNCTIONS = ("describe", "call", "parse")
#: Maximum totals over a component's modules, far above what compilers emit. Each costs memory that
#: a call's memory limit does not count.
_INSTANCES = 100
_TABLES = 16

#: Creates a worker's linker and defines the guests' imports; see `define_imports`.
Define = Callable[[wasmtime.Engine, Callable[[], Execution]], Linker]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component loaded into a worker's engine, with the indices of its exports.

    Attributes:
        uses_wasi: whether it imports WASI. Most plugins do not, and then WASI is not configured for
            each call. wasmtime aborts the process when a guest calls an unconfigured WASI.
    """

    code: Code
    functions: dict[str, Export]
    uses_wasi: bool


class Worker:
    """Runs guests in one engine. Used by one thread at a time.

    Args:
        stack_bytes: wasm stack of a guest.
        turn: its CPU permit.
        define: defines the guests' imports.
        kept: bytes of guest memory that stay resident.

    Attributes:
        clock: returns the thread's CPU time in seconds, or wall-clock time on platforms without a
            CPU clock for threads.
        exact_clock: whether `clock` returns CPU time.
        turn: see above.
        memories: maximum number of linear memories; they share a call's limit.
    """

    def __init__(
        self,
        stack_bytes: int,
        turn: CpuPermit,
        define: Define = define_imports,
        *,
        kept: int = KEPT,
    ) -> None:
        self._define = define
        self._stack_bytes = stack_bytes
        self._use(pooled_engine(stack_bytes, kept) or new_engine(stack_bytes))
        self.move_here()
        self.turn = turn
        self.memories = 1
        self._loaded: Loaded | None = None
        self._execution: Execution | None = None
        self._store: Store | None = None

    def move_here(self) -> None:
        """Counts the CPU time of the calling thread from now on."""
        self.clock, self.exact_clock = _thread_clock()

    def run(self, execution: Execution, code: Path | bytes) -> tuple[bool, memoryview]:
        """Runs an execution of this worker's component; the caller calls `tidy` afterwards."""
        if self._loaded is None:
            self._loaded = self._load(code)
        self._execution = execution
        try:
            return execution.run(self, self._loaded)
        finally:
            self.turn.give()

    def new_store(self, memory_bytes: int) -> Store:
        """Creates a store for the running execution, in place of any earlier one.

        Args:
            memory_bytes: limit of all linear memories together.
        """
        if self._store is not None:
            self._store.close()
        self._store = Store(
            self.engine,
            memory_bytes=memory_bytes // self.memories,
            table_elements=TABLE_ELEMENTS,
            instances=_INSTANCES,
            tables=_TABLES,
            memories=self.memories,
        )
        return self._store

    def tidy(self) -> None:
        """Frees the last execution's store.

        Separate from `run`, because clearing the memory of a guest that read a large document takes
        a while, and the call's result does not need to wait for it.
        """
        store, self._store = self._store, None
        execution, self._execution = self._execution, None
        if store is not None:
            store.close()
        if execution is not None and execution.bulky:
            give_back()

    def close(self) -> None:
        """Frees the engine immediately, without the garbage collector; worker and linker form a
        cycle.
        """
        self._loaded = None
        self.linker.close()
        self.engine.close()

    def _use(self, engine: wasmtime.Engine) -> None:
        self.engine = engine
        self.linker = self._define(engine, self._current)

    def _current(self) -> Execution:
        assert self._execution is not None, "host functions run inside an execution"
        return self._execution

    def _load(self, code: Path | bytes) -> Loaded:
        try:
            loaded = Code(self.engine, code)
        except wasmtime.WasmtimeError:
            # Has more tables or instances than the pool allows, so it runs without a pool.
            self._use(new_engine(self._stack_bytes))
            loaded = Code(self.engine, code)
        source = loaded.export(SOURCE)
        functions = {name: loaded.export(name, source) for name in FUNCTIONS}
        return Loaded(
            loaded,
            {name: at for name, at in functions.items() if at is not None},
            uses_wasi=not imports_contract_only(loaded),
        )


def _thread_clock() -> tuple[Callable[[], float], bool]:
    """Returns a clock of this thread's CPU time that other threads can read."""
    try:
        clock = time.pthread_getcpuclockid(threading.get_ident())
        time.clock_gettime(clock)
    except (AttributeError, OSError):
        return time.monotonic, False
    return lambda: time.clock_gettime(clock), True
