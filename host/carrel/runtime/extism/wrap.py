"""Builds the component that an Extism module runs as.

The WAT files beside this one contain the wrapper; the module's bytes are inserted unchanged. The
module and Extism's kernel are linked inside wasmtime, so loads and stores are calls between wasm
modules, and no guest pointer reaches Python.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from carrel.errors import LoadError
from carrel.runtime.leb128 import write_leb128
from carrel.runtime.sections import sections

from .outline import Import, Outline, read_outline

ENV = "extism:host/env"
USER = "extism:host/user"
WASI = "wasi_snapshot_preview1"

#: The functions of `extism:host/env` that the heap implements; `env.wat` has the rest.
_HEAP = (
    *("free", "length", "length_unsafe", "load_u8", "load_u64", "store_u8", "store_u64"),
    *("input_set", "input_offset", "input_length", "input_load_u8", "input_load_u64"),
    *("output_set", "output_offset", "output_length", "error_set", "error_get"),
    *("reset", "memory_bytes"),
)
_HOST = (
    *("alloc", "config_get", "var_get", "var_set"),
    *("http_request", "http_status_code", "http_headers"),
    *("log_trace", "log_debug", "log_info", "log_warn", "log_error", "get_log_level"),
)

#: hyper-mcp's host functions, in the order of the host's list.
USER_FUNCTIONS = (
    "create_elicitation",
    "create_message",
    "get_access_token",
    "get_keyring_secret",
    "list_roots",
    "notify_logging_message",
    "notify_progress",
    "notify_prompt_list_changed",
    "notify_resource_list_changed",
    "notify_tool_list_changed",
    "notify_resource_updated",
    "notify_url_elicitation_completed",
)

#: The exports that the host calls, in the order of the letters that name them to the driver.
EXPORTS = (
    "describe",
    "call",
    "list_tools",
    "call_tool",
    "list_resources",
    "list_resource_templates",
    "read_resource",
    "list_prompts",
    "get_prompt",
    "complete",
    "on_roots_list_changed",
)

_FOLDER = Path(__file__).parent
_FILES = ("component", "heap", "env", "shim", "wasi")
_CORE_MODULE_SECTION = 1


def letter_of(export: str) -> str:
    """Returns the letter by which the driver names an export."""
    return chr(ord("a") + EXPORTS.index(export))


def revision() -> str:
    """Returns a hash of the wrapper's files, part of the key of compiled code."""
    digest = hashlib.sha256()
    for path in (*(_FOLDER / f"{name}.wat" for name in _FILES), Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def check_outline(wasm: bytes, plugin: str) -> Outline:
    """Returns the module's outline after checking its imports.

    Raises:
        LoadError: names every refused import; or the module has no export that the host calls.
    """
    outline = read_outline(wasm, plugin)
    refused = [imported for imported in outline.imports if not _offered(imported)]
    if refused:
        named = ", ".join(f"{imported.module}#{imported.name}" for imported in refused[:20])
        raise LoadError(f"{plugin}: imports what no plugin may have: {named}", plugin=plugin)
    if not any(export in outline.functions for export in EXPORTS):
        raise LoadError(
            f"{plugin}: a core module that exports none of a hyper-mcp plugin's functions, such as "
            "list_tools; for the contract, componentise it with `wasm-tools component new`",
            plugin=plugin,
        )
    for name in EXPORTS:
        function = outline.functions.get(name)
        if function is not None and (function.parameters or function.results not in ((), ("i32",))):
            raise LoadError(
                f"{plugin}: its {name} has another type than an Extism export", plugin=plugin
            )
    if _uses_wasi(outline) and "memory" not in outline.memories:
        raise LoadError(f"{plugin}: imports WASI, but exports no memory", plugin=plugin)
    return outline


def wrap_module(wasm: bytes, outline: Outline) -> bytes:
    """Returns a component that wraps a module whose outline was checked."""
    import wasmtime

    texts = {name: (_FOLDER / f"{name}.wat").read_text("utf-8") for name in _FILES}
    wasi = _uses_wasi(outline)
    parts = {
        "heap": _core(texts["heap"]),
        "env": _core(texts["env"]),
        "kernel": _kernel(),
        "shim": "",
        "with_shim": "",
        "wasi": "",
        **_driver(outline),
    }
    if wasi:
        parts["shim"] = _core(texts["shim"]) + "  (core instance $shim (instantiate $shim))\n"
        parts["with_shim"] = f'(with "{WASI}" (instance $shim))'
        parts["wasi"] = (
            _core(texts["wasi"])
            + '  (core instance $wasi (instantiate $wasi (with "module" (instance $plugin))\n'
            '    (with "shim" (instance $shim)) (with "heap" (instance $heap))\n'
            '    (with "host" (instance $services))))\n'
        )
    text = re.sub(r"@(\w+)@", lambda found: parts[found[1]], texts["component"])
    return _put_in(bytes(wasmtime.wat2wasm(text)), wasm)


def _offered(imported: Import) -> bool:
    if imported.kind != "function":
        return False
    if imported.module == ENV:
        return imported.name in _HEAP or imported.name in _HOST
    if imported.module == USER:
        return imported.name in USER_FUNCTIONS
    return imported.module == WASI and imported.name in _wasi_functions()


def _wasi_functions() -> frozenset[str]:
    text = (_FOLDER / "shim.wat").read_text("utf-8")
    return frozenset(re.findall(r'\(func \(export "(\w+)"\)', text))


def _uses_wasi(outline: Outline) -> bool:
    return any(imported.module == WASI for imported in outline.imports)


def _core(text: str) -> str:
    """Returns a module's text as a definition inside a component."""
    return text.replace("(module $", "(core module $", 1)


def _kernel() -> str:
    """Returns the instance `extism:host/env` for the module: functions of two instances."""
    heap = [f'    (export "{name}" (func $heap "{name}"))' for name in _HEAP]
    return "\n".join([*heap, *(f'    (export "{name}" (func $env "{name}"))' for name in _HOST)])


def _driver(outline: Outline) -> dict[str, str]:
    """Returns the parts of the driver that depend on what the module exports."""
    functions = outline.functions
    imports, calls = [], []
    for name in EXPORTS:
        if name in functions:
            returns = bool(functions[name].results)
            imports.append(_import(name, "(result i32)" if returns else ""))
            call = f"(local.set $code (call ${name}))" if returns else f"(call ${name})"
            code = ord(letter_of(name))
            calls.append(
                f"        (if (i32.eq (local.get $which) (i32.const {code}))\n"
                f"          (then {call} (br $called)))"
            )
    started = []
    for name in _initializers(outline):
        takes = len(functions[name].parameters)
        imports.append(_import(name, "(param i32 i32)" if takes else ""))
        started.append(f"      (call ${name}{' (i32.const 0) (i32.const 0)' if takes else ''})")
    return {
        "imports": "\n".join(imports),
        "calls": "\n".join(calls),
        "start": "\n".join(started),
    }


def _import(name: str, kind: str) -> str:
    return f'    (import "plugin" "{name}" (func ${name} {kind}))'


def _initializers(outline: Outline) -> list[str]:
    """Returns the functions that initialise an instance, in order."""
    plain: list[str] = [
        name
        for name in ("__wasm_call_ctors", "_initialize")
        if name in outline.functions
        and not outline.functions[name].parameters
        and not outline.functions[name].results
    ]
    haskell = outline.functions.get("hs_init")
    if haskell is not None and haskell.parameters == ("i32", "i32") and not haskell.results:
        return [*(name for name in plain if name == "_initialize"), "hs_init"]
    return plain[:1]


def _put_in(component: bytes, module: bytes) -> bytes:
    """Returns the component with `module` in place of its empty module."""
    at = 8
    for number, start, end in sections(component):
        # Its text has a name, which the assembler keeps in a custom section: number 0.
        if number == _CORE_MODULE_SECTION and component[start:end][8:9] in (b"", b"\0"):
            section = bytes([_CORE_MODULE_SECTION]) + write_leb128(len(module)) + module
            return component[:at] + section + component[end:]
        at = end
    raise AssertionError("component.wat has an empty module")
