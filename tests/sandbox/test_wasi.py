"""Tests the WASI stubs for components whose compilers import WASI."""

from __future__ import annotations

import pytest

from support.guests import Guest, assemble, guest_wat

from .conftest import Invoke

_RANDOM = (
    '(import "wasi:random/random@0.2.0" (instance $random '
    '(export "get-random-u64" (func (result u64)))))'
)


def asking_for_chance() -> Guest:
    """Returns a guest that gets a random number from WASI before it returns its result."""
    wat = guest_wat("(drop (call $chance))", imports=_RANDOM)
    lowered = '(core func $chance (canon lower (func $random "get-random-u64")))'
    wasi = '(core instance $wasi (export "chance" (func $chance)))'
    memory = '(import "libc" "memory" (memory 1))'
    libc = '(with "libc" (instance $libc))'
    for place, more in (
        ("(core module $m", f"{lowered} {wasi} (core module $m"),
        (memory, f'{memory} (import "wasi" "chance" (func $chance (result i64)))'),
        (libc, f'{libc} (with "wasi" (instance $wasi))'),
    ):
        assert wat.count(place) == 1
        wat = wat.replace(place, more)
    return assemble(wat)


@pytest.mark.requirement("sandbox:ambient:inert")
def test_a_component_that_imports_wasi_runs_with_it(invoke: Invoke) -> None:
    assert invoke(asking_for_chance()) == "{}"
