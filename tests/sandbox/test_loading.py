"""Tests components that are refused at load, with the reason."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import wasmtime

from carrel.errors import LoadError
from carrel.exchange import Call
from carrel.runtime import contract_version
from carrel.runtime.instance import OfflineFetcher
from carrel.runtime.loader import Runtime, RuntimeSettings
from sandbox.conftest import Load
from support.guests import Guest, assemble, guest


def bytes_guest(wasm: bytes) -> Guest:
    return Guest(wasm, hashlib.sha256(wasm).hexdigest())


@pytest.mark.requirement("sandbox:ambient:imports")
@pytest.mark.parametrize(
    "interface",
    [
        "wasi:sockets/tcp@0.2.0",
        "wasi:http/outgoing-handler@0.2.0",
        "wasi:cli/command@0.2.0",
        "carrel:plugin/files@1.0.0",
        "carrel:plugin/http@2.0.0",
        "other:vendor/thing@1.0.0",
        "wasi:clocks/monotonic-clock@0.3.0",
    ],
)
def test_an_undeclared_import_is_refused_by_its_name(load: Load, interface: str) -> None:
    asks = guest(imports=f'(import "{interface}" (instance (export "run" (func))))')
    with pytest.raises(LoadError) as caught:
        load(asks)
    assert interface in caught.value.message
    assert caught.value.error_code == "plugin_unavailable"


@pytest.mark.requirement("sandbox:ambient:imports")
def test_a_bare_function_import_is_refused_by_its_name(load: Load) -> None:
    with pytest.raises(LoadError, match="read-file"):
        load(guest(imports='(import "read-file" (func (param "path" string)))'))


@pytest.mark.requirement("sandbox:ambient:imports")
def test_an_unknown_function_of_the_contracts_own_interface_is_refused(load: Load) -> None:
    asks = guest(imports='(import "carrel:plugin/config@1.0.0" (instance (export "set" (func))))')
    with pytest.raises(LoadError, match=r"config@1\.0\.0#set"):
        load(asks)


@pytest.mark.requirement("sandbox:ambient:sleep")
def test_a_component_that_can_sleep_in_the_host_is_refused(load: Load) -> None:
    clock = (
        '(import "wasi:clocks/monotonic-clock@0.2.0" (instance '
        '(export "pollable" (type (sub resource))) '
        '(export "subscribe-duration" (func (param "when" u64) (result u64)))))'
    )
    with pytest.raises(LoadError, match="subscribe-duration"):
        load(guest(imports=clock))


@pytest.mark.requirement("plugin:pinned:digest")
def test_bytes_with_another_digest_are_refused(runtime: Runtime) -> None:
    good = guest()
    with pytest.raises(LoadError, match="is pinned"):
        runtime.load("guest", good.wasm, "0" * 64)


@pytest.mark.requirement("plugin:pinned:cached")
def test_the_digest_is_checked_even_when_the_code_is_cached(runtime: Runtime) -> None:
    good = guest(result='{"cached":1}')
    runtime.load("guest", good.wasm, good.digest).close()
    with pytest.raises(LoadError, match="is pinned"):
        runtime.load("guest", good.wasm + b"\0", good.digest)


@pytest.mark.parametrize(
    ("wasm", "words"),
    [
        pytest.param(b"", "an empty file", id="empty"),
        pytest.param(b"<html>", "not WebAssembly", id="html"),
        pytest.param(b"(component)", "not WebAssembly", id="text"),
        pytest.param(bytes(wasmtime.wat2wasm("(module)")), "a core module", id="core-module"),
        pytest.param(b"\0asm\x63\0\x01\0", "unknown WebAssembly version", id="version"),
        pytest.param(b"\0asm\x0d\0\x01\0\xff\xff", "not a valid component", id="garbage"),
        pytest.param(guest().wasm[:-20], "not a valid component", id="truncated"),
    ],
)
def test_bytes_that_are_no_component_are_refused_with_the_reason(
    runtime: Runtime, wasm: bytes, words: str
) -> None:
    bad = bytes_guest(wasm)
    with pytest.raises(LoadError, match=words):
        runtime.load("guest", bad.wasm, bad.digest)


def test_a_component_without_the_contracts_export_is_refused(load: Load) -> None:
    with pytest.raises(LoadError, match=r"does not export carrel:plugin/source@1\.0\.0"):
        load(assemble("(component)"))


def test_another_contract_version_is_named(load: Load) -> None:
    with pytest.raises(LoadError, match=r"source@2\.0\.0"):
        load(guest(version="2.0.0"))


def with_contract(version: bytes) -> Guest:
    name = b"carrel:contract"
    section = bytes([len(name)]) + name + version
    return bytes_guest(guest().wasm + bytes([0, len(section)]) + section)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (b"2.0", r"needs contract 2\.0, this host has 1\.1; install a later Carrel"),
        (b"1.2", r"needs contract 1\.2, this host has 1\.1; install a later Carrel"),
        (b"0.9", r"needs contract 0\.9, this host has 1\.1$"),
        (b"1.1.1", r"needs contract '1\.1\.1', this host has 1\.1$"),
        (b"next", r"needs contract 'next', this host has 1\.1$"),
        (b"", r"needs contract '', this host has 1\.1$"),
    ],
)
def test_another_contract_version_is_refused_before_compiling(
    runtime: Runtime, version: bytes, words: str
) -> None:
    bad = with_contract(version)
    with pytest.raises(LoadError, match=words):
        runtime.load("guest", bad.wasm, bad.digest)


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_every_contract_version_up_to_the_hosts_is_taken(load: Load, version: bytes) -> None:
    load(with_contract(version)).close()


def test_a_plugin_that_needs_1_1_is_refused_by_a_host_that_has_1_0(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract_version, "SPOKEN", (1, 0))
    newer = with_contract(b"1.1")
    with pytest.raises(
        LoadError, match=r"needs contract 1\.1, this host has 1\.0; install a later"
    ):
        runtime.load("guest", newer.wasm, newer.digest)


def test_a_component_over_the_size_cap_is_refused(code: Path) -> None:
    runtime = Runtime(RuntimeSettings(code, max_component_bytes=100))
    good = guest()
    with pytest.raises(LoadError, match="over the cap of 100"):
        runtime.load("guest", good.wasm, good.digest)


@pytest.mark.requirement("sandbox:limits:compile")
def test_a_compile_bomb_ends_in_the_child(code: Path) -> None:
    step = "(if (local.get 0) (then (local.set 0 (i32.add (local.get 0) (local.get 1)))))"
    bomb = guest(functions=f"(func (param i32 i32) {step * 60_000})")
    runtime = Runtime(RuntimeSettings(code, compile_seconds=1))
    with pytest.raises(LoadError, match="compiling"):
        runtime.load("guest", bomb.wasm, bomb.digest)


def call_once(runtime: Runtime, one: Guest) -> str:
    component = runtime.load("guest", one.wasm, one.digest)
    call = Call("guest", "tool")
    return component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={}).result(
        timeout=10
    )


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_only_the_owner_can_read_precompiled_code(code: Path) -> None:
    one = guest()
    assert call_once(Runtime(RuntimeSettings(code)), one) == "{}"
    assert code.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in code.iterdir())


@pytest.mark.requirement("plugin:pinned:code-cache")
def test_tampered_precompiled_code_is_never_loaded(
    code: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = guest()
    call_once(Runtime(RuntimeSettings(code)), one)
    [entry] = code.glob("*.cwasm")
    entry.write_bytes(entry.read_bytes()[:-1] + b"\xff")
    with caplog.at_level(logging.WARNING):
        assert call_once(Runtime(RuntimeSettings(code)), one) == "{}"
    assert "does not match its MAC" in caplog.text


def test_an_unwritable_cache_folder_costs_speed_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        assert call_once(Runtime(RuntimeSettings(in_the_way / "code")), guest()) == "{}"
    assert "precompiled code is not cached" in caplog.text


def test_a_lost_key_makes_the_old_code_worthless(code: Path) -> None:
    one = guest()
    call_once(Runtime(RuntimeSettings(code)), one)
    (code / "mac.key").write_bytes(b"short")
    assert call_once(Runtime(RuntimeSettings(code)), one) == "{}"


@pytest.mark.long("kills")
def test_two_compiling_processes_and_a_kill_do_not_corrupt_the_cache(
    code: Path, tmp_path: Path
) -> None:
    one = guest(result='{"survived":true}')
    wasm = tmp_path / "guest.wasm"
    wasm.write_bytes(one.wasm)
    script = textwrap.dedent(
        f"""
        from pathlib import Path
        from carrel.runtime.loader import Runtime, RuntimeSettings
        wasm = Path({str(wasm)!r}).read_bytes()
        Runtime(RuntimeSettings(Path({str(code)!r}))).load("guest", wasm, {one.digest!r})
        """
    )
    for _ in range(3):
        children = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
        children[0].kill()
        assert children[1].wait(timeout=60) == 0
        children[0].wait(timeout=60)
        for path in code.glob("*.cwasm"):
            assert path.stat().st_size > 0
    assert call_once(Runtime(RuntimeSettings(code)), one) == '{"survived":true}'
