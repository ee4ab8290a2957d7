"""Tests that a forged address or handle cannot access another call's memory."""

from __future__ import annotations

import pytest

from carrel.errors import ContractViolation, LimitExceeded, Trap
from carrel.exchange import Limits
from support.modules import ECHO, module

from .conftest import Run


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(drop (call $load_u8 (i64.const 0x7fffffff)))",
        "(drop (call $load_u64 (i64.const 0xffffffffffffffff)))",
        "(drop (call $load_u8 (i64.const 0x100000100)))",
        "(call $store_u64 (i64.const 0xfffffff0) (i64.const 1))",
        "(call $store_u8 (i64.const 0x7fffffffffffffff) (i32.const 1))",
        "(drop (call $input_load_u64 (i64.const 0x10000000)))",
    ],
)
def test_an_address_outside_the_memory_traps(run: Run, body: str) -> None:
    with pytest.raises(Trap) as caught:
        run(module(body), "input")
    assert caught.value.kind == "memory_out_of_bounds"


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(call $output_set (i64.const 0x7fffffff) (i64.const 10))",
        "(call $output_set (i64.const 256) (i64.const 0xfffffffe))",
        "(call $output_set (i64.const 256) (i64.const 0x100000001))",
        "(call $output_set (i64.const 0) (i64.const -1))",
        "(call $output_set (call $input_offset) (i64.const 0x10000000))",
    ],
)
def test_a_forged_output_reads_nothing_outside_the_kernels_memory(run: Run, body: str) -> None:
    with pytest.raises(ContractViolation, match="outside its memory"):
        run(module(body), "input")


@pytest.mark.requirement("sandbox:parse:handles")
@pytest.mark.parametrize(
    "body",
    [
        "(drop (call $config_get (i64.const 0xdeadbeef)))",
        "(drop (call $config_get (i64.const -1)))",
        "(call $var_set (i64.const 99) (i64.const -5))",
        "(drop (call $var_get (i64.const 0x123456789abcdef)))",
        "(call $log_error (i64.const 0x7ffffff0))",
        "(drop (call $create_message (i64.const 0xffffffff)))",
        "(call $notify_progress (i64.const -1))",
    ],
)
def test_a_forged_handle_is_an_empty_text(run: Run, body: str) -> None:
    assert run(module(body + ECHO), "still here") == "still here"


@pytest.mark.requirement("sandbox:parse:handles")
def test_overwritten_heap_headers_affect_only_the_modules_call(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 5)))
    (loop $again
      (call $store_u8 (i64.extend_i32_u (i32.add (i32.const 256) (local.get $i))) (i32.const 255))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 400))))
    (drop (call $alloc (i64.const 10)))
    (call $free (local.get $h))
    (call $output_set (local.get $h) (call $length_unsafe (local.get $h)))
    """
    with pytest.raises((ContractViolation, Trap, LimitExceeded)):
        run(module(body), "input", limits=Limits(cpu_seconds=1.0))
