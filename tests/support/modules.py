"""Makes Extism modules for tests from a few lines of WAT, as `guests` makes components."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import wasmtime

from .guests import Guest

#: The functions of `extism:host/env` with their types; a module imports those that its WAT uses.
ENV = {
    "alloc": "(param i64) (result i64)",
    "free": "(param i64)",
    "length": "(param i64) (result i64)",
    "length_unsafe": "(param i64) (result i64)",
    "load_u8": "(param i64) (result i32)",
    "load_u64": "(param i64) (result i64)",
    "store_u8": "(param i64 i32)",
    "store_u64": "(param i64 i64)",
    "input_set": "(param i64 i64)",
    "input_offset": "(result i64)",
    "input_length": "(result i64)",
    "input_load_u8": "(param i64) (result i32)",
    "input_load_u64": "(param i64) (result i64)",
    "output_set": "(param i64 i64)",
    "output_offset": "(result i64)",
    "output_length": "(result i64)",
    "error_set": "(param i64)",
    "error_get": "(result i64)",
    "reset": "",
    "memory_bytes": "(result i64)",
    "config_get": "(param i64) (result i64)",
    "var_get": "(param i64) (result i64)",
    "var_set": "(param i64 i64)",
    "http_request": "(param i64 i64) (result i64)",
    "http_status_code": "(result i32)",
    "http_headers": "(result i64)",
    "log_trace": "(param i64)",
    "log_debug": "(param i64)",
    "log_info": "(param i64)",
    "log_warn": "(param i64)",
    "log_error": "(param i64)",
    "get_log_level": "(result i32)",
}
USER = {
    "create_elicitation": "(param i64) (result i64)",
    "create_message": "(param i64) (result i64)",
    "get_access_token": "(param i64) (result i64)",
    "get_keyring_secret": "(param i64) (result i64)",
    "list_roots": "(result i64)",
    "notify_logging_message": "(param i64)",
    "notify_progress": "(param i64)",
    "notify_prompt_list_changed": "",
    "notify_resource_list_changed": "",
    "notify_tool_list_changed": "",
    "notify_resource_updated": "(param i64)",
    "notify_url_elicitation_completed": "(param i64)",
}
WASI = {
    "args_sizes_get": "(param i32 i32) (result i32)",
    "clock_time_get": "(param i32 i64 i32) (result i32)",
    "environ_sizes_get": "(param i32 i32) (result i32)",
    "fd_fdstat_get": "(param i32 i32) (result i32)",
    "fd_prestat_get": "(param i32 i32) (result i32)",
    "fd_read": "(param i32 i32 i32 i32) (result i32)",
    "fd_write": "(param i32 i32 i32 i32) (result i32)",
    "path_open": "(param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)",
    "poll_oneoff": "(param i32 i32 i32 i32) (result i32)",
    "proc_exit": "(param i32)",
    "random_get": "(param i32 i32) (result i32)",
    "sock_send": "(param i32 i32 i32 i32 i32) (result i32)",
}
_SPACES = (("extism:host/env", ENV), ("extism:host/user", USER), ("wasi_snapshot_preview1", WASI))

#: `(call $put (address) (length))` returns a handle of bytes from the module's memory;
#: `(call $say (handle))` sets its bytes as output; `(call $number (value))` outputs a number.
_HELPERS = """
  (func $put (param $from i32) (param $length i32) (result i64)
    (local $handle i64) (local $at i32)
    (local.set $handle (call $alloc (i64.extend_i32_u (local.get $length))))
    (block $done (loop $again
      (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
      (call $store_u8 (i64.add (local.get $handle) (i64.extend_i32_u (local.get $at)))
        (i32.load8_u (i32.add (local.get $from) (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $again)))
    (local.get $handle))
  (func $say (param $handle i64)
    (call $output_set (local.get $handle) (call $length (local.get $handle))))
  (func $number (param $value i64)
    (local $handle i64) (local $at i64)
    (local.set $handle (call $alloc (i64.const 20)))
    (local.set $at (i64.const 20))
    (loop $again
      (local.set $at (i64.sub (local.get $at) (i64.const 1)))
      (call $store_u8 (i64.add (local.get $handle) (local.get $at))
        (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $value) (i64.const 10)))))
      (local.set $value (i64.div_u (local.get $value) (i64.const 10)))
      (br_if $again (i64.gt_u (local.get $at) (i64.const 0))))
    (call $output_set (local.get $handle) (i64.const 20)))
"""

#: The body of a module whose output is its input.
ECHO = "(call $output_set (call $input_offset) (call $input_length))"


def module(
    body: str = "",
    *,
    export: str = "call_tool",
    exports: str = "",
    functions: str = "",
    data: str = "",
    imports: str = "",
    pages: int = 1,
    memory: str = '(memory (export "memory") {pages})',
) -> Guest:
    """Returns a module whose `export` runs `body` and returns 0.

    Args:
        body: WAT; it may `return` a code. `$h` and `$i` are spare locals, i64 and i32.
        export: the name of the function.
        exports: WAT of further exported functions, see `answering`.
        functions: further WAT.
        data: data segments.
        imports: further imports; those of Extism's functions are added automatically.
        pages: of the memory.
        memory: WAT of the memory.
    """
    main = (
        f'(func (export "{export}") (result i32) (local $h i64) (local $i i32) {body} i32.const 0)'
    )
    text = f"{_HELPERS}\n{functions}\n{exports}\n{main}"
    needed = [
        f'(import "{space}" "{name}" (func ${name} {kind}))'
        for space, names in _SPACES
        for name, kind in names.items()
        if f"${name} " in text or f"${name})" in text
    ]
    wat = "\n".join(["(module", *needed, imports, memory.format(pages=pages), data, text, ")"])
    wasm = bytes(wasmtime.wat2wasm(wat))
    return Guest(wasm, hashlib.sha256(wasm).hexdigest())


def text_at(address: int, text: str | bytes) -> str:
    """Returns a data segment with a text."""
    raw = text.encode() if isinstance(text, str) else text
    escaped = "".join(f"\\{byte:02x}" for byte in raw)
    return f'(data (i32.const {address}) "{escaped}")'


def answering(answers: dict[str, Any]) -> dict[str, str]:
    """Returns `exports` and `data` of a module whose exports return fixed JSON.

    Args:
        answers: export → its result, as text or as a JSON value.
    """
    exports, data, at = [], [], 65536
    for name, answer in answers.items():
        raw = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        data.append(text_at(at, raw))
        exports.append(
            f'(func (export "{name}") (result i32) '
            f"(call $say (call $put (i32.const {at}) (i32.const {len(raw)}))) (i32.const 0))"
        )
        at += len(raw)
    return {"exports": "\n".join(exports), "data": "\n".join(data)}


def answering_module(answers: dict[str, Any], body: str = "", **more: Any) -> Guest:
    """Returns a module with fixed results; `body` is the code of another export, `unused` unless
    `export` is given.
    """
    parts = answering(answers)
    more.setdefault("export", "unused")
    more["data"] = parts["data"] + more.get("data", "")
    more["exports"] = parts["exports"] + more.get("exports", "")
    return module(body, pages=more.pop("pages", 8), **more)
