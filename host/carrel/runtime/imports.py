"""Defines the functions that a guest may call, and refuses components that import others.

A host function never raises; see `guarded`. Every variant passed to a guest is tagged (see
`contract/v1/plugin.wit`), because wasmtime-py lowers untagged ones through shared state.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import wasmtime

from carrel.errors import InternalError, LoadError
from carrel.exchange import Failure, FailureKind, Outcome, Request

from .ffi import MAX_WORDS, Code, Linker, items_of
from .guarded import guarded

if TYPE_CHECKING:
    from wasmtime.component import Component

    from .instance import Execution

_log = logging.getLogger("carrel.runtime")

CONTRACT = "carrel:plugin"
SOURCE = f"{CONTRACT}/source@1.0.0"
_HTTP = f"{CONTRACT}/http@1.0.0"
_LOG = f"{CONTRACT}/log@1.0.0"
_PROGRESS = f"{CONTRACT}/progress@1.0.0"
_CONFIG = f"{CONTRACT}/config@1.0.0"

#: The interfaces of the contract and the functions and types of each.
CONTRACT_IMPORTS: dict[str, frozenset[str]] = {
    _HTTP: frozenset(
        {
            "method",
            "cache-mode",
            "header",
            "request",
            "response",
            "denial",
            "pause",
            "detail",
            "fetch-error",
            "fetch-failure",
            "fetch",
            "fetch-all",
            "discard",
        }
    ),
    _LOG: frozenset({"level", "write"}),
    _PROGRESS: frozenset({"report"}),
    _CONFIG: frozenset({"get"}),
}

#: The inert part of WASI 0.2: with nothing configured these give no access to files, variables,
#: arguments or sockets. A compiler's standard library imports them even if a plugin does not use
#: them.
INERT_WASI: frozenset[str] = frozenset(
    {
        "wasi:cli/environment",
        "wasi:cli/exit",
        "wasi:cli/stdin",
        "wasi:cli/stdout",
        "wasi:cli/stderr",
        "wasi:cli/terminal-input",
        "wasi:cli/terminal-output",
        "wasi:cli/terminal-stdin",
        "wasi:cli/terminal-stdout",
        "wasi:cli/terminal-stderr",
        "wasi:clocks/monotonic-clock",
        "wasi:clocks/wall-clock",
        "wasi:filesystem/preopens",
        "wasi:filesystem/types",
        "wasi:io/error",
        "wasi:io/poll",
        "wasi:io/streams",
        "wasi:random/insecure",
        "wasi:random/insecure-seed",
        "wasi:random/random",
    }
)

#: Functions of those interfaces that are refused: a guest that sleeps in a host function cannot be
#: interrupted.
_SLEEPING: dict[str, frozenset[str]] = {
    "wasi:clocks/monotonic-clock": frozenset({"subscribe-duration", "subscribe-instant"}),
}

#: Maximum number of log lines and progress reports of one call; the rest is dropped.
_MAX_MESSAGES = 1000


def check_imports(
    engine: wasmtime.Engine, component: Component, plugin: str, *, own: str = ""
) -> None:
    """Refuses a component that imports anything beyond the contract and the inert part of WASI.

    Args:
        engine: that the component was loaded into.
        component: to be checked.
        plugin: for error messages.
        own: an interface that Carrel's wrapper imports, also allowed.

    Raises:
        LoadError: names every such import; or the contract's export is missing.
    """
    kind = component.type
    refused: list[str] = []
    for name, extern in kind.imports(engine).items():
        interface, _, version = name.partition("@")
        functions = set(items_of(engine, extern))
        if name in CONTRACT_IMPORTS:
            refused += [f"{name}#{one}" for one in sorted(functions - CONTRACT_IMPORTS[name])]
        elif interface in INERT_WASI and version.startswith("0.2."):
            asleep = functions & _SLEEPING.get(interface, frozenset())
            refused += [f"{name}#{one}" for one in sorted(asleep)]
        elif name != own:
            refused.append(name)
    if refused:
        raise LoadError(
            f"{plugin}: imports what no plugin may have: {', '.join(refused)}", plugin=plugin
        )
    if SOURCE not in kind.exports(engine):
        others = [name for name in kind.exports(engine) if name.startswith(CONTRACT)]
        found = f"; it exports {', '.join(others)}" if others else ""
        raise LoadError(f"{plugin}: does not export {SOURCE}{found}", plugin=plugin)


def imports_contract_only(code: Code) -> bool:
    """Returns whether a component imports the contract's interfaces and nothing else."""
    return all(name in CONTRACT_IMPORTS for name in code.imports())


def define_imports(engine: wasmtime.Engine, current: Callable[[], Execution]) -> Linker:
    """Returns a linker that defines the contract's imports and WASI.

    Args:
        engine: of one worker; it serves one execution at a time.
        current: the execution that runs in that worker now.
    """
    linker = Linker(engine)
    linker.add_wasi()

    def may_fetch(count: int) -> bool:
        return current().may_fetch(count)

    def fetch(requests: list[Request]) -> list[Outcome]:
        execution = current()
        try:
            return execution.fetch_all(requests)
        except Exception:  # noqa: BLE001 - must not cross wasm, see the module
            _log.exception("%s: a host function failed", execution.call.plugin)
            execution.end(InternalError())
            return [_internal(request.url) for request in requests]

    with linker.root() as root:
        with root.add_instance(_HTTP) as http:
            http.add_fetch("fetch", fetch, may_fetch=may_fetch, many=False)
            http.add_fetch("fetch-all", fetch, may_fetch=may_fetch, many=True)
            http.add_discard("discard", guarded(current, _discard))
        with root.add_instance(_LOG) as log:
            write = guarded(current, _write)
            log.add_function("write", write, takes=("enum", "string"), most=MAX_WORDS)
        with root.add_instance(_PROGRESS) as progress:
            report = guarded(current, _report)
            progress.add_function("report", report, takes=("u64", "u64", "string"), most=MAX_WORDS)
        with root.add_instance(_CONFIG) as config:
            get = guarded(current, _get, "")
            config.add_function("get", get, takes=("string",), gives="string", most=MAX_WORDS)
    return linker


def _discard(execution: Execution, read: Callable[[], Request]) -> None:
    execution.discard(read())


def _write(execution: Execution, level: str, message: str) -> None:
    if execution.count_message(_MAX_MESSAGES):
        execution.log(level, message)


def _report(execution: Execution, done: int, total: int, message: str) -> None:
    if execution.count_message(_MAX_MESSAGES):
        execution.call.progress(float(done), float(total) if total else None, message[:200])


def _get(execution: Execution, key: str) -> str:
    return execution.setting(key)


def _internal(url: str) -> Failure:
    return Failure(FailureKind.UNREACHABLE, url, "internal error")
