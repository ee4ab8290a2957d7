"""Loads components: checks the bytes and the contract version, compiles, checks the imports.

Checks that need only the bytes come before compiling, and imports are checked before any code runs.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import wasmtime

from carrel.errors import LoadError

from .child import NICE
from .codecache import Claim, CodeCache, code_key
from .component import Sandboxed, SandboxedComponent
from .contract_version import require_contract
from .cpu_permits import permit_count
from .documents import exports_documents, with_entry
from .engine import new_engine, require_options
from .ffi import INTERFACE, Code
from .imports import check_imports
from .principal_shares import PrincipalShares
from .sections import custom_section, require_component, require_module
from .ticker import Ticker
from .traps import load_error

if TYPE_CHECKING:
    from .extism.module import SandboxedModule

_log = logging.getLogger("carrel.runtime")

#: Name of the custom section that holds the contract version a component was built for.
CONTRACT_SECTION = "carrel:contract"
#: Seconds that a call waits for another process, at low priority, to end what it compiles. Then it
#: compiles too, and takes what is there first: priority, once given up, cannot be raised again.
_PATIENCE = 0.5
#: Seconds between checks whether the other process has finished.
_LOOK = 0.02


class RuntimeSettings(NamedTuple):
    """Settings for compiling and running components.

    Attributes:
        code_folder: folder of precompiled code.
        workers: threads of each component, the maximum of its calls that run or wait in fetch.
        stack_bytes: wasm stack of a guest.
        max_component_bytes: larger components are refused.
        compile_seconds: limit of CPU time for compiling one component.
        compile_memory_bytes: limit of address space for compiling one component.
    """

    code_folder: Path
    workers: int = 16
    stack_bytes: int = 2**20
    max_component_bytes: int = 64 * 2**20
    compile_seconds: float = 120.0
    compile_memory_bytes: int = 4 * 2**30


class Runtime:
    """Loads components. One per process; the components share its ticker, code cache and shares."""

    def __init__(self, settings: RuntimeSettings) -> None:
        if INTERFACE.differs:
            _log.warning("plugins run slower than they could: %s", INTERFACE.reason)
        self._settings = settings
        self._cache = CodeCache(settings.code_folder)
        self._ticker = Ticker()
        self._shares = PrincipalShares(permit_count())
        self._lock = threading.Lock()
        self._components: list[Sandboxed] = []
        self._closed = threading.Event()

    def load(
        self,
        name: str,
        wasm: bytes,
        digest: str,
        *,
        urgent: bool = False,
        on_compile: Callable[[], None] = lambda: None,
    ) -> SandboxedComponent:
        """Loads a component.

        Args:
            name: the plugin's name.
            wasm: the component's bytes.
            digest: the SHA-256 it must have, lower-case hex; checked at every load.
            urgent: whether to compile at this process's priority instead of a lower one.
            on_compile: called if the component must be compiled.

        Raises:
            LoadError: the digest differs, not a component, another contract version, refused
                imports, or a limit of compiling was exceeded.
        """
        settings = self._settings
        _check_digest(name, wasm, digest)
        require_component(wasm, name, max_bytes=settings.max_component_bytes)
        _check_contract(wasm, name)
        reads_bytes = exports_documents(wasm)
        code = self._code(
            name,
            digest,
            lambda: component_to_compile(wasm, name),
            nice=0 if urgent else NICE,
            on_compile=on_compile,
        )
        component = SandboxedComponent(
            name,
            digest,
            code,
            ticker=self._ticker,
            shares=self._shares,
            workers=settings.workers,
            stack_bytes=settings.stack_bytes,
            reads_bytes=reads_bytes,
        )
        with self._lock:
            self._components.append(component)
        return component

    def load_module(
        self, name: str, wasm: bytes, digest: str, *, on_compile: Callable[[], None] = lambda: None
    ) -> SandboxedModule:
        """Loads an Extism module, as `load` does a component.

        Raises:
            LoadError: the digest differs, not a module, refused imports, no known export, or a
                limit of compiling was exceeded.
        """
        from .extism.module import SandboxedModule
        from .extism.services import INTERFACE
        from .extism.wrap import check_outline, revision, wrap_module

        settings = self._settings
        _check_digest(name, wasm, digest)
        require_module(wasm, name, max_bytes=settings.max_component_bytes)
        outline = check_outline(wasm, name)
        code = self._code(
            name,
            f"{digest}-{revision()}",
            lambda: wrap_module(wasm, outline),
            own=INTERFACE,
            on_compile=on_compile,
        )
        module = SandboxedModule(
            name,
            digest,
            code,
            exports=frozenset(outline.functions),
            ticker=self._ticker,
            shares=self._shares,
            workers=settings.workers,
            stack_bytes=settings.stack_bytes,
        )
        with self._lock:
            self._components.append(module)
        return module

    def refile_code(self, digest: str, to: str) -> None:
        """Stores a component's code also under digest `to`, of a component with the same code.

        For a component that was made by appending custom sections; spares compiling it twice.
        """
        path = self._cache.find(code_key(digest, self._settings.stack_bytes))
        if path is None:
            return
        code = path.read_bytes()
        if self._cache.store(code_key(to, self._settings.stack_bytes), code) is not None:
            self._cache.forget(path)

    def close(self) -> None:
        """Ends all threads and compilations; running calls finish first."""
        self._closed.set()
        for component in self._components:
            component.close()
        self._ticker.close()

    def _code(
        self,
        name: str,
        identity: str,
        component_bytes: Callable[[], bytes],
        *,
        own: str = "",
        nice: int = NICE,
        on_compile: Callable[[], None],
    ) -> Path | bytes:
        """Returns the code of `identity`, from the cache or newly compiled."""
        require_options(name)
        key = code_key(identity, self._settings.stack_bytes)
        path = self._cached(key, name)
        if path is not None:
            return path
        on_compile()
        claim = self._claim(key)
        try:
            path = self._cached(key, name)
            if path is not None:  # another process has compiled it
                return path
            code = self._compiled(
                name, component_bytes(), nice, unless=None if claim is not None else key
            )
            if code is None:
                path = self._cached(key, name)
                if path is None:
                    raise LoadError(f"{name}: not compiled; the server is stopping", plugin=name)
                return path
            check_code(code, name, self._settings.stack_bytes, own=own)
            return self._cache.store(key, code) or code
        finally:
            if claim is not None:
                claim.release()

    def _cached(self, key: str, name: str) -> Path | None:
        """Returns the cache entry, if wasmtime loads it."""
        path = self._cache.find(key)
        if path is not None:
            try:
                # Its imports were checked before it was cached; the key includes the rules'
                # revision.
                Code(new_engine(self._settings.stack_bytes), path)
            except wasmtime.WasmtimeError as error:
                _log.info("%s: precompiled code is not for this wasmtime: %s", name, error)
                self._cache.forget(path)
                return None
        return path

    def _claim(self, key: str) -> Claim | None:
        """Returns the claim to compile an entry, or None if another process holds it for
        `_PATIENCE`.
        """
        end = time.monotonic() + _PATIENCE
        while True:
            claim = self._cache.claim(key)
            if claim is not None or time.monotonic() >= end or self._closed.wait(_LOOK):
                return claim

    def _compiled(self, name: str, wasm: bytes, nice: int, *, unless: str | None) -> bytes | None:
        """Compiles in a child process and returns the code; None if this runtime closes first.

        Args:
            name: the plugin's.
            wasm: the component.
            nice: niceness of the child.
            unless: key of an entry; returns None as soon as it is cached.
        """
        from .compile import compile_component

        def unwanted() -> bool:
            return self._closed.is_set() or (unless is not None and self._cache.holds(unless))

        _log.info("%s: compiling (once)", name)
        return compile_component(
            wasm,
            name,
            stack_bytes=self._settings.stack_bytes,
            seconds=self._settings.compile_seconds,
            memory_bytes=self._settings.compile_memory_bytes,
            nice=nice,
            unwanted=unwanted,
        )


def component_to_compile(wasm: bytes, name: str) -> bytes:
    """The component that is compiled for `wasm`: with an entry for bytes where it reads bytes.

    Raises:
        LoadError: it exports `documents`, and that cannot be called.
    """
    return with_entry(wasm, name) if exports_documents(wasm) else wasm


def check_code(code: bytes, name: str, stack_bytes: int, *, own: str = "") -> None:
    """Refuses compiled code that must not be cached.

    Args:
        code: the compiler's output.
        name: the plugin's.
        stack_bytes: that it was compiled for.
        own: an interface that it may import besides those of the contract.

    Raises:
        LoadError: wasmtime does not load it, or it has refused imports.
    """
    from wasmtime.component import Component

    engine = new_engine(stack_bytes)
    try:
        component = Component.deserialize(engine, code)
    except wasmtime.WasmtimeError as error:
        raise load_error(error, name) from None
    check_imports(engine, component, name, own=own)


def _check_digest(name: str, wasm: bytes, digest: str) -> None:
    found = hashlib.sha256(wasm).hexdigest()
    if found != digest:
        raise LoadError(
            f"{name}: the component's digest is sha256:{found}, but sha256:{digest} is pinned",
            plugin=name,
        )


def _check_contract(wasm: bytes, name: str) -> None:
    """Refuses a component that says it needs a contract version that this host does not speak."""
    section = custom_section(wasm, CONTRACT_SECTION)
    if section is None:
        return  # the export's version is checked after compiling
    version = section.decode("ascii", "replace").strip()
    require_contract(version, name)
