"""Tests that invalid modules, and modules with unknown imports, are refused at load."""

from __future__ import annotations

import hashlib

import pytest
import wasmtime

from carrel.errors import LoadError
from carrel.runtime.loader import Runtime, RuntimeSettings
from support.guests import assemble
from support.modules import module


@pytest.mark.requirement("sandbox:ambient:module-imports")
@pytest.mark.parametrize(
    ("space", "name", "item"),
    [
        ("env", "read_file", "(func)"),
        ("extism:host/env", "exec", "(func)"),
        ("extism:host/env", "memory", "(memory 1)"),
        ("extism:host/env", "alloc", "(global i32)"),
        ("extism:host/user", "run_command", "(func (param i64) (result i64))"),
        ("wasi_snapshot_preview1", "sock_open", "(func (param i32) (result i32))"),
        ("wasi_unstable", "fd_write", "(func (param i32 i32 i32 i32) (result i32))"),
        ("wasi_snapshot_preview1", "fd_write", "(table 1 funcref)"),
    ],
)
def test_an_import_that_is_not_offered_is_refused_by_its_name(
    runtime: Runtime, space: str, name: str, item: str
) -> None:
    asks = module(imports=f'(import "{space}" "{name}" {item})')
    with pytest.raises(LoadError) as caught:
        runtime.load_module("guest", asks.wasm, asks.digest)
    assert f"{space}#{name}" in caught.value.message
    assert caught.value.error_code == "plugin_unavailable"


def test_an_import_of_another_type_is_refused(runtime: Runtime) -> None:
    asks = assemble(
        '(module (import "extism:host/env" "alloc" (func (param i32) (result i32)))'
        ' (func (export "list_tools") (result i32) (i32.const 0)))'
    )
    with pytest.raises(LoadError, match="type mismatch"):
        runtime.load_module("guest", asks.wasm, asks.digest)


@pytest.mark.parametrize(
    ("wat", "words"),
    [
        ('(module (func (export "greet") (result i32) (i32.const 0)))', "none of a hyper-mcp"),
        ('(module (func (export "list_tools") (param i32)))', "another type"),
        ('(module (func (export "call_tool") (result i64) (i64.const 0)))', "another type"),
        (
            (
                '(module (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))'
                ' (func (export "list_tools")))'
            ),
            "exports no memory",
        ),
    ],
)
def test_a_module_that_cannot_be_called_is_refused_with_the_reason(
    runtime: Runtime, wat: str, words: str
) -> None:
    guest = assemble(wat)
    with pytest.raises(LoadError, match=words):
        runtime.load_module("guest", guest.wasm, guest.digest)


@pytest.mark.parametrize(
    "wasm",
    [
        module().wasm[:-3],
        module().wasm[:20],
        b"\0asm\x01\0\0\0",
        b"\0asm\x01\0\0\0" + b"\x01\xff\xff\xff\xff\x0f",
        b"\0asm\x01\0\0\0" + b"\x02\x05\xff\xff\xff\xff\x0f",
        b"\0asm\x01\0\0\0" + b"\x01\x02\x01\x5f",
        bytes(wasmtime.wat2wasm("(component)")),
        b"",
    ],
)
def test_bytes_that_are_no_module_are_refused(runtime: Runtime, wasm: bytes) -> None:
    with pytest.raises(LoadError):
        runtime.load_module("guest", wasm, hashlib.sha256(wasm).hexdigest())


@pytest.mark.requirement("plugin:pinned:module")
def test_a_module_with_another_digest_is_refused_though_its_code_is_cached(
    runtime: Runtime,
) -> None:
    good = module("nop")
    runtime.load_module("guest", good.wasm, good.digest).close()
    with pytest.raises(LoadError, match="is pinned"):
        runtime.load_module("guest", good.wasm + b"\0\1\0", good.digest)


@pytest.mark.requirement("sandbox:limits:module-size")
def test_a_module_over_the_size_cap_is_refused(runtime: Runtime) -> None:
    settings = RuntimeSettings(runtime._settings.code_folder, max_component_bytes=100)
    with pytest.raises(LoadError, match="over the cap of 100"):
        Runtime(settings).load_module("guest", module().wasm, module().digest)
