"""Tests that the trap messages in the code are those of the installed wasmtime."""

from __future__ import annotations

import pytest
import wasmtime
from wasmtime import _ffi as c

from carrel.errors import Trap
from carrel.exchange import Call
from carrel.runtime.traps import TRAPS, from_wasmtime


@pytest.mark.requirement("serve:alive:trap")
@pytest.mark.parametrize("code", list(wasmtime.TrapCode), ids=lambda code: code.name.lower())
def test_every_trap_code_of_wasmtime_maps_to_a_typed_error(code: wasmtime.TrapCode) -> None:
    words = wasmtime.Trap._from_ptr(c.wasmtime_trap_new_code(code.value)).message
    assert words == f"wasm trap: {TRAPS[code.name.lower()]}"
    error = from_wasmtime(wasmtime.WasmtimeError(words), Call("guest", "tool"))
    assert error.error_code in {"plugin_failed", "limit_exceeded", "contract_violation"}
    if isinstance(error, Trap):
        assert error.kind == code.name.lower()
