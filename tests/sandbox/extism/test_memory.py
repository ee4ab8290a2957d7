"""Tests a module's allocation, and its reads and writes of the kernel's memory."""

from __future__ import annotations

import pytest

from carrel.errors import LimitExceeded
from carrel.exchange import Limits
from support.modules import ECHO, module, text_at

from .conftest import Run


def numbers(run: Run, *expressions: str) -> list[int]:
    """Returns the values of i64 expressions, each in a new instance."""
    return [int(run(module(f"(call $number {one})"))) for one in expressions]


@pytest.mark.parametrize("text", ["", "a", "seven77", "eightyyy", "Grüße, 図書館 🏛", "x" * 300_000])
def test_a_module_reads_its_input_and_sets_its_output(run: Run, text: str) -> None:
    assert run(module(ECHO), text) == text


def test_the_input_can_be_read_by_bytes_and_by_words(run: Run) -> None:
    body = """
    (local.set $h (call $alloc (i64.const 16)))
    (call $store_u64 (local.get $h) (call $input_load_u64 (i64.const 0)))
    (call $store_u64 (i64.add (local.get $h) (i64.const 8)) (call $input_load_u64 (i64.const 8)))
    (call $store_u8 (local.get $h) (call $input_load_u8 (i64.const 15)))
    (call $say (local.get $h))
    """
    assert run(module(body), "0123456789abcdef") == "f123456789abcdef"


def test_a_block_has_the_requested_length(run: Run) -> None:
    assert numbers(
        run,
        "(call $length (call $alloc (i64.const 1)))",
        "(call $length_unsafe (call $alloc (i64.const 12345)))",
        "(call $alloc (i64.const 0))",
    ) == [1, 12345, 0]


def test_an_invalid_handle_has_no_length(run: Run) -> None:
    assert numbers(
        run,
        "(call $length (i64.add (call $alloc (i64.const 40)) (i64.const 8)))",
        "(call $length (i64.const 0))",
        "(call $length (i64.const 0xffffffffffffffff))",
        "(call $length (i64.const 0x100000110))",
        "(call $length_unsafe (i64.const 8))",
    ) == [0, 0, 0, 0, 0]


def test_a_freed_block_has_no_length_and_is_reused(run: Run) -> None:
    free = "(local.set $h (call $alloc (i64.const 100))) (call $free (local.get $h))"
    assert int(run(module(free + "(call $number (call $length (local.get $h)))"))) == 0
    again = (
        free
        + """
    (call $number (i64.sub (call $alloc (i64.const 50)) (local.get $h)))
    """
    )
    assert int(run(module(again))) == 0


def test_freeing_and_allocating_for_long_takes_no_more_memory(run: Run) -> None:
    body = """
    (loop $again
      (call $free (call $alloc (i64.extend_i32_u (i32.add (i32.const 1)
        (i32.rem_u (i32.mul (local.get $i) (i32.const 7919)) (i32.const 5000))))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (i32.const 20000))))
    (call $number (call $memory_bytes))
    """
    assert int(run(module(body))) <= 2 * 65536


def test_freeing_an_invalid_or_freed_handle_does_nothing(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 5)))
    (call $free (i64.const 0)) (call $free (i64.const 7)) (call $free (i64.const -1))
    (call $free (i64.add (local.get $h) (i64.const 1)))
    (local.set $i (i32.wrap_i64 (call $alloc (i64.const 9))))
    (call $free (i64.extend_i32_u (local.get $i))) (call $free (i64.extend_i32_u (local.get $i)))
    (call $say (local.get $h))
    """
    assert run(module(body, data=text_at(0, "there"))) == "there"


def test_reset_forgets_input_output_and_error(run: Run) -> None:
    body = """
    (call $error_set (call $put (i32.const 0) (i32.const 5)))
    (call $reset)
    (call $number (i64.add (call $input_length) (i64.add (call $output_length) (call $error_get))))
    """
    assert int(run(module(body, data=text_at(0, "there")), "input")) == 0


def test_adjacent_blocks_do_not_overlap(run: Run) -> None:
    body = """
    (local.set $h (call $put (i32.const 0) (i32.const 3)))
    (drop (call $put (i32.const 3) (i32.const 3)))
    (call $free (call $put (i32.const 0) (i32.const 200)))
    (drop (call $put (i32.const 3) (i32.const 40)))
    (drop (call $put (i32.const 3) (i32.const 40)))
    (call $say (local.get $h))
    """
    assert run(module(body, data=text_at(0, "onetwo" * 40))) == "one"


@pytest.mark.requirement("sandbox:limits:memory")
def test_the_kernels_memory_counts(run: Run) -> None:
    body = "(loop $again (drop (call $alloc (i64.const 100000))) (br $again))"
    with pytest.raises(LimitExceeded) as caught:
        run(module(body), limits=Limits(memory_bytes=8 * 2**20))
    assert caught.value.limit == "memory"


@pytest.mark.requirement("sandbox:limits:memory")
def test_the_modules_memory_and_the_kernels_stay_below_the_limit_together(run: Run) -> None:
    body = """
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (loop $more (local.set $h (call $memory_bytes))
      (br_if $more (call $grown)))
    (call $number (i64.add (call $memory_bytes)
      (i64.mul (i64.extend_i32_u (memory.size)) (i64.const 65536))))
    """
    grown = """
    (func $grown (result i32)
      (if (i64.gt_u (call $memory_bytes) (i64.const 1900000)) (then (return (i32.const 0))))
      (drop (call $alloc (i64.const 30000))) (i32.const 1))
    """
    total = int(run(module(body, functions=grown), limits=Limits(memory_bytes=4 * 2**20)))
    assert 3 * 2**20 < total <= 4 * 2**20


@pytest.mark.requirement("sandbox:limits:memory")
def test_an_input_that_does_not_fit_is_a_typed_error(run: Run) -> None:
    with pytest.raises(LimitExceeded) as caught:
        run(module(ECHO), "x" * 6_000_000, limits=Limits(memory_bytes=8 * 2**20))
    assert caught.value.limit == "memory"
