"""What runs guests, one at a time: a part of wasmtime of its own, and a clock.

An engine per worker costs 0.2 ms, loading precompiled code into it 40 µs (the pages of the file are
shared), and makes an epoch increment reach exactly the guest that runs there.
"""

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
from .imports import SOURCE, define_imports, imports_contract_only
from .instance import Execution
from .memory import give_back
from .pool import KEPT, pooled_engine
from .traps import TABLE_ELEMENTS

FUNCTIONS = ("describe", "call", "parse")
#: What a component's modules may have in all, far above what compilers emit. Each has its cost
#: outside the linear memory that a call is limited in.
_INSTANCES = 100
_TABLES = 16

#: Makes a worker's linker and defines what guests import, see `define_imports`.
Define = Callable[[wasmtime.Engine, Callable[[], Execution]], Linker]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A component in one worker's engine, with the places of its functions looked up once.

    Attributes:
        uses_wasi: whether it imports anything beyond the contract. Most plugins do not, and what
            WASI is told for each call would be for nobody. wasmtime's library ends the process
            when a guest calls into a WASI that was told nothing.
    """

    code: Code
    functions: dict[str, Export]
    uses_wasi: bool


class Worker:
    """What a thread runs guests with. One thread at a time uses it.

    Args:
        stack_bytes: wasm stack of a guest.
        turn: its place among those of its component.
        define: defines what guests import.
        kept: bytes of a guest's memory that stay with it.

    Attributes:
        clock: seconds of processor time of the thread; of the wall clock where the platform has no
            clock for threads.
        exact_clock: whether `clock` is processor time.
        turn: see above.
        memories: linear memories that its component may have; they share a call's limit.
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
        """Makes the thread that calls this the one whose time is counted."""
        self.clock, self.exact_clock = _thread_clock()

    def run(self, execution: Execution, code: Path | bytes) -> tuple[bool, memoryview]:
        """Runs an execution of the component that this worker belongs to; `tidy` comes next."""
        if self._loaded is None:
            self._loaded = self._load(code)
        self._execution = execution
        try:
            return execution.run(self, self._loaded)
        finally:
            self.turn.give()

    def new_store(self, memory_bytes: int) -> Store:
        """A store for the execution that runs, in place of any that it had before.

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

    def tidy(self) -> None:
        """Takes away what the last execution leaves.

        Apart from `run`, because emptying the memory of a guest that has read a large document
        takes a while, and whoever waits for its result need not wait for that.
        """
        store, self._store = self._store, None
        execution, self._execution = self._execution, None
        if store is not None:
            store.close()
        if execution is not None and execution.bulky:
            give_back()

    def close(self) -> None:
        """Lets go of the engine at once: worker and linker refer to each other."""
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
            # Larger than the pool provides for, in tables or instances: without one, then.
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


def _thread_clock() -> tuple[Callable[[], float], bool]:
    """A clock of this thread's processor time that other threads can read."""
    try:
        clock = time.pthread_getcpuclockid(threading.get_ident())
        time.clock_gettime(clock)
    except (AttributeError, OSError):
        return time.monotonic, False
    return lambda: time.clock_gettime(clock), True
