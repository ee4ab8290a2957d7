"""Tests which components are deterministic: without clocks and random numbers."""

from __future__ import annotations

import pytest

from support.guests import guest

from .conftest import Load

CLOCK = (
    '(import "wasi:clocks/wall-clock@0.2.0" (instance '
    '(type $t (record (field "seconds" u64) (field "nanoseconds" u32))) '
    '(export "datetime" (type $datetime (eq $t))) '
    '(export "now" (func (result $datetime)))))'
)


@pytest.mark.requirement("sandbox:fresh:kept-results")
def test_a_component_that_imports_only_the_contract_is_pure(load: Load) -> None:
    component = load(guest())
    assert component.is_pure
    component.close()


@pytest.mark.requirement("sandbox:fresh:kept-results")
def test_a_component_with_a_clock_is_not_deterministic(load: Load) -> None:
    component = load(guest(imports=CLOCK))
    assert not component.is_pure
    component.close()
