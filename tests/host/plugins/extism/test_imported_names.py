"""Tests the readable list of a module's imports."""

from __future__ import annotations

from carrel.runtime.imported_names import imported_names
from support.modules import answering_module


def test_the_imports_of_a_module_are_named_for_people() -> None:
    asks = answering_module({"list_tools": {}}, imports='(import "env" "x" (table 1 2 funcref))')
    names = imported_names(asks.wasm)
    assert "env#x" in names
    assert "extism:host/env#output_set" in names
    assert imported_names(asks.wasm[:40]) == []
