"""The objects that a worker thread runs guests with: engine, linker, clock, CPU permit, store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import wasmtime

from .cpu_permits import CpuPermit
from .documents import ENTRY
from .engine import new_engine
from .ffi import Code, Export, Linker, Store
from .imports import SOURCE, imports_contract_only
from .pool import RESIDENT_BYTES, pooled_engine
from .traps import TABLE_ELEMENTS

FUNCTIONS = ("describe", "call", "parse")
#: What a component's modules may have in all, far above what compilers emit. Each has its cost
#: outside the linear memory that a call is limited in.
_INSTANCES = 100
_TABLES = 16


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component in one worker's engine, with its functions looked up once.

    Attributes:
        uses_wasi: whether it imports anything beyond the contract. Most plugins do not, and then
            no WASI is configured for their calls. wasmtime's library ends the process when a guest
            calls into a WASI that is not configured.
    """

    code: Code
    functions: dict[str, Export]
    uses_wasi: bool


class WorkerState:
    """The engine of one worker, and what belongs to it. One thread at a time uses it.

    Args:
        stack_bytes: wasm stack of a guest.
        permit: the CPU permit of its executions.
        make_linker: defines what guests import.
        resident_bytes: bytes of guest memory that are not returned to the system.

    Attributes:
        clock: seconds of processor time of the thread; of the wall clock where the platform has no
            clock for threads.
        exact_clock: whether `clock` is processor time.
        permit: see above.
        memories: linear memories that its component may have; they share a call's limit.
    """

    def __init__(
        self,
        stack_bytes: int,
        permit: CpuPermit,
        make_linker: Callable[[wasmtime.Engine], Linker],
        *,
        resident_bytes: int = RESIDENT_BYTES,
    ) -> None:
        self._make_linker = make_linker
        self._stack_bytes = stack_bytes
        self._use(pooled_engine(stack_bytes, resident_bytes) or new_engine(stack_bytes))
        self.move_here()
        self.permit = permit
        self.memories = 1
        self._store: Store | None = None

    def move_here(self) -> None:
        """Measures the processor time of the calling thread from now on."""
        self.clock, self.exact_clock = _thread_clock()

    def new_store(self, memory_bytes: int) -> Store:
        """Makes a store for the current execution and closes the one it had before.

        Args:
            memory_bytes: of all linear memories together.
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

    def close_store(self) -> None:
        """Closes the store of the last execution, if there is one."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def load(self, code: Path | bytes) -> Loaded:
        """Loads machine code into the engine."""
        try:
            loaded = Code(self.engine, code)
        except wasmtime.WasmtimeError:
            # It needs more tables or instances than the pool provides: an engine without a pool.
            self._use(new_engine(self._stack_bytes))
            loaded = Code(self.engine, code)
        source = loaded.export(SOURCE)
        functions = {name: loaded.export(name, source) for name in FUNCTIONS}
        functions[ENTRY] = loaded.export(ENTRY)
        return Loaded(
            loaded,
            {name: at for name, at in functions.items() if at is not None},
            uses_wasi=not imports_contract_only(loaded),
        )

    def close(self) -> None:
        """Closes linker and engine now: they refer to each other."""
        self.linker.close()
        self.engine.close()

    def _use(self, engine: wasmtime.Engine) -> None:
        self.engine = engine
        self.linker = self._make_linker(engine)


def _thread_clock() -> tuple[Callable[[], float], bool]:
    """A clock of this thread's processor time that other threads can read."""
    try:
        clock = time.pthread_getcpuclockid(threading.get_ident())
        time.clock_gettime(clock)
    except (AttributeError, OSError):
        return time.monotonic, False
    return lambda: time.clock_gettime(clock), True
