"""The imports that a component may have: the contract's and the inert part of WASI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import wasmtime

from carrel.errors import LoadError

from .documents import DOCUMENTS, ENTRY, PARSE_BYTES
from .ffi import Code, items_of

if TYPE_CHECKING:
    from wasmtime.component import Component

CONTRACT = "carrel:plugin"
SOURCE = f"{CONTRACT}/source@1.0.0"
HTTP = f"{CONTRACT}/http@1.0.0"
LOG = f"{CONTRACT}/log@1.0.0"
PROGRESS = f"{CONTRACT}/progress@1.0.0"
CONFIG = f"{CONTRACT}/config@1.0.0"

#: The interfaces of the contract and the functions and types of each.
CONTRACT_IMPORTS: dict[str, frozenset[str]] = {
    HTTP: frozenset(
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
    LOG: frozenset({"level", "write"}),
    PROGRESS: frozenset({"report"}),
    CONFIG: frozenset({"get"}),
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
            refused += [
                f"{name}#{function}" for function in sorted(functions - CONTRACT_IMPORTS[name])
            ]
        elif interface in INERT_WASI and version.startswith("0.2."):
            asleep = functions & _SLEEPING.get(interface, frozenset())
            refused += [f"{name}#{function}" for function in sorted(asleep)]
        elif name != own:
            refused.append(name)
    if refused:
        raise LoadError(
            f"{plugin}: imports what no plugin may have: {', '.join(refused)}", plugin=plugin
        )
    if SOURCE not in kind.exports(engine):
        exported = [name for name in kind.exports(engine) if name.startswith(CONTRACT)]
        found = f"; it exports {', '.join(exported)}" if exported else ""
        raise LoadError(f"{plugin}: does not export {SOURCE}{found}", plugin=plugin)
    _check_documents(engine, component, plugin)


def _check_documents(engine: wasmtime.Engine, component: Component, plugin: str) -> None:
    """Refuses a component whose optional export `documents` is not the contract's."""
    exports = component.type.exports(engine)
    if DOCUMENTS not in exports:
        return
    function = items_of(engine, exports[DOCUMENTS]).get(PARSE_BYTES)
    if not _is_parse_bytes(function):
        raise LoadError(
            f"{plugin}: {DOCUMENTS}#{PARSE_BYTES} has another type than the contract's",
            plugin=plugin,
        )
    if ENTRY not in exports:
        raise LoadError(
            f"{plugin}: exports {DOCUMENTS} behind something that this host cannot read",
            plugin=plugin,
        )


def _is_parse_bytes(function: object) -> bool:
    """Whether a type is `func(string, list<u8>, string) -> result<string, string>`."""
    from wasmtime.component import U8, FuncType, ListType, ResultType, String

    if not isinstance(function, FuncType):
        return False
    takes = [kind for _name, kind in function.params]
    gives = function.result
    return (
        [type(kind) for kind in takes] == [String, ListType, String]
        and isinstance(takes[1], ListType)
        and isinstance(takes[1].element, U8)
        and isinstance(gives, ResultType)
        and isinstance(gives.ok, String)
        and isinstance(gives.err, String)
    )


def imports_contract_only(code: Code) -> bool:
    """Returns whether a component imports the contract's interfaces and nothing else."""
    return all(name in CONTRACT_IMPORTS for name in code.imports())
