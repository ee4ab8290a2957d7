"""Loaded machine code and linkers."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self
from weakref import ref

import wasmtime
from wasmtime import component

from carrel.exchange import Outcome, Request
from carrel.runtime.ffi.bounds import Plain, PlainResult
from carrel.runtime.ffi.introspection import items_of

from .counting import take_count
from .types import DISCARD, FETCH, FETCH_ALL, PLAIN, Signature, has_signature
from .values import cut, from_outcome, lowerable, to_request

#: wasmtime-py before 50 numbers host functions in a list that is not thread-safe. So linkers are
#: changed and freed under one lock, and never by the garbage collector, which may run at any time.
_lock = threading.Lock()
_linkers: dict[int, component.Linker] = {}
_retired: deque[int] = deque()

#: Interface → function → its type.
_Signatures = dict[str, dict[str, Signature]]


class Code:
    """A component's machine code, loaded into an engine."""

    def __init__(self, engine: wasmtime.Engine, code: Path | bytes) -> None:
        """Loads machine code; the caller has verified where it comes from.

        Raises:
            WasmtimeError: another version made it, or for an engine with other settings.
        """
        load = component.Component
        self.component = (
            load.deserialize_file(engine, str(code))
            if isinstance(code, Path)
            else load.deserialize(engine, code)
        )
        self._engine = engine
        self._checked: dict[int, str] = {}

    def imports(self) -> Iterator[str]:
        """Yields the names of its imports."""
        yield from self.component.type.imports(self._engine)

    def export(self, name: str, within: Export | None = None) -> Export | None:
        """Returns an export, of the component or `within` an exported instance, or None."""
        index = self.component.get_export_index(name, within.index if within is not None else None)
        return Export(index) if index is not None else None

    def mismatch(self, linker: Linker) -> str:
        """Names an import that has another type than the linker's function, or returns ""."""
        if id(linker) not in self._checked:
            self._checked = {id(linker): self._mismatch(linker.signatures)}
        return self._checked[id(linker)]

    def _mismatch(self, signatures: _Signatures) -> str:
        for interface, extern in self.component.type.imports(self._engine).items():
            functions = signatures.get(interface, {})
            for name, item in items_of(self._engine, extern).items() if functions else ():
                if name in functions and not has_signature(item, functions[name]):
                    return f"{interface}#{name}"
        return ""


class Export:
    """An export of loaded code, looked up by name once."""

    def __init__(self, index: component.ExportIndex) -> None:
        self.index = index


class _Functions:
    """A linker's host functions by number.

    wasmtime-py keeps what it is given until the linker is freed. It is given a weak reference to
    this, so that a linker that is collected is freed.
    """

    def __init__(self) -> None:
        self.list: list[Callable[..., Any]] = []

    def add(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Keeps a function, and returns one that calls it."""
        number, owner = len(self.list), ref(self)
        self.list.append(function)

        def call(_store: object, *arguments: Any) -> Any:
            functions = owner()
            assert functions is not None, "a guest runs with its linker"
            return functions.list[number](*arguments)

        return call


class Linker:
    """Defines the imports of an engine's guests.

    Attributes:
        signatures: types of the host functions.
        may_fetch: see `LinkerInstance.add_fetch`.
    """

    def __init__(self, engine: wasmtime.Engine) -> None:
        self._key: int | None = None
        self.signatures: _Signatures = {}
        self.may_fetch: Callable[[int], bool] = _may_not
        self._functions = _Functions()
        with _lock:
            _free_retired()
            linker = component.Linker(engine)
            _linkers[id(linker)] = linker
            self._key = id(linker)

    def add_wasi(self) -> None:
        """Defines WASI 0.2."""
        self.get().add_wasip2()

    def root(self) -> LinkerInstance:
        """Returns the root instance. Close it before the linker is used again."""
        return LinkerInstance(self.get().root(), self, self._functions)

    def get(self) -> component.Linker:
        """Returns wasmtime-py's linker; raises `ValueError` after `close`."""
        if self._key is None:
            raise ValueError("already closed")
        return _linkers[self._key]

    def close(self) -> None:
        """Frees the linker. Idempotent."""
        self._retire()
        with _lock:
            _free_retired()

    def __del__(self) -> None:
        self._retire()

    def _retire(self) -> None:
        key, self._key = self._key, None
        if key is not None:
            _retired.append(key)


class LinkerInstance:
    """An instance that a linker provides, such as an interface, while it is being defined."""

    def __init__(
        self,
        instance: component.LinkerInstance,
        linker: Linker,
        functions: _Functions,
        signatures: dict[str, Signature] | None = None,
    ) -> None:
        self._instance = instance
        self._linker = linker
        self._functions = functions
        self._signatures = {} if signatures is None else signatures

    def add_instance(self, name: str) -> LinkerInstance:
        """Returns an instance within. Close it before this one is used again."""
        signatures = self._linker.signatures.setdefault(name, {})
        instance = self._instance.add_instance(name)
        return LinkerInstance(instance, self._linker, self._functions, signatures)

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
                call, and nothing is fetched.
            many: whether the function takes a list of requests.
        """
        self._linker.may_fetch = may_fetch

        def run(value: Any) -> Any:
            records = [value] if not many else value
            _require_count(len(records))
            if not many:
                return from_outcome(fetch([to_request(value)])[0])
            if not may_fetch(len(records)):
                return []
            return [
                from_outcome(outcome)
                for outcome in fetch([to_request(record) for record in records])
            ]

        self._define(name, run, FETCH_ALL if many else FETCH)

    def add_discard(self, name: str, run: Callable[[Callable[[], Request]], object]) -> None:
        """Defines the contract's `discard`.

        Args:
            name: the function's.
            run: is passed a function that reads the request; must not raise.
        """

        def call(value: Any) -> None:
            _require_count(1)
            run(lambda: to_request(value))

        self._define(name, call, DISCARD)

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

        def run(*values: Any) -> Any:
            result = function(
                *(cut(value, most) if isinstance(value, str) else value for value in values)
            )
            if gives is None:
                return None
            return lowerable(result) if gives == "string" else result

        result = PLAIN[gives] if gives is not None else None
        self._define(name, run, Signature(tuple(PLAIN[kind] for kind in takes), result))

    def close(self) -> None:
        """Ends the definition. Idempotent."""
        self._instance.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _define(self, name: str, run: Callable[..., Any], signature: Signature) -> None:
        def guarded(*values: Any) -> Any:
            try:
                return run(*values)
            except wasmtime.WasmtimeError:
                raise
            except Exception as error:  # noqa: BLE001 - see `types` about exceptions
                message = f"{name} is not the contract's: {type(error).__name__}"
                raise wasmtime.WasmtimeError(message) from None

        self._signatures[name] = signature
        call = self._functions.add(guarded)
        with _lock:
            _free_retired()
            self._instance.add_func(name, call)


def _require_count(records: int) -> None:
    """Ends a guest's call if fewer records were counted than it passed: see `counting`."""
    if take_count() < records:
        raise wasmtime.WasmtimeError("this wasmtime-py converts lists without a limit")


def _free_retired() -> None:
    """Frees linkers that were closed or collected; the lock is held."""
    while _retired:
        _linkers.pop(_retired.popleft()).close()


def _may_not(_count: int) -> bool:
    return False
