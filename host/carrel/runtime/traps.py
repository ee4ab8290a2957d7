"""Maps wasmtime's errors to Carrel's. wasmtime's C interface has no trap codes for components: the
message of a failed call ends in the trap's description.

Only this module reads these messages, and a test compares the table with every `wasmtime.TrapCode`.
"""

from __future__ import annotations

import re

import wasmtime

from carrel.errors import ContractViolation, LimitExceeded, LoadError, PluginError, Trap
from carrel.exchange import Call

#: Trap code in lower case → wasmtime's description.
TRAPS: dict[str, str] = {
    "stack_overflow": "call stack exhausted",
    "memory_out_of_bounds": "out of bounds memory access",
    "heap_misaligned": "unaligned atomic",
    "table_out_of_bounds": "undefined element: out of bounds table access",
    "indirect_call_to_null": "uninitialized element",
    "bad_signature": "indirect call type mismatch",
    "integer_overflow": "integer overflow",
    "integer_division_by_zero": "integer divide by zero",
    "bad_conversion_to_integer": "invalid conversion to integer",
    "unreachable": "wasm `unreachable` instruction executed",
    "interrupt": "interrupt",
    "out_of_fuel": "all fuel consumed by WebAssembly",
    "atomic_wait_non_shared_memory": "atomic wait on non-shared memory",
    "null_reference": "null reference",
    "array_out_of_bounds": "out of bounds array access",
    "allocation_too_large": "allocation size too large",
    "cast_failure": "cast failure",
    "cannot_enter_component": "cannot enter component instance",
    "no_async_result": "async-lifted export failed to produce a result",
    "unhandled_tag": "unhandled tag",
    "continuation_already_consumed": "continuation already consumed",
    "disabled_opcode": "pulley opcode disabled at compile time was executed",
    "async_deadlock": "deadlock detected: event loop cannot make further progress",
    "cannot_leave_component": "cannot leave component instance",
    "cannot_block_sync_task": "cannot block a synchronous task before returning",
    "invalid_char": "invalid `char` bit pattern",
    "debug_assert_string_encoding_finished": "should have finished string encoding",
    "debug_assert_equal_code_units": "code units should be equal",
    "debug_assert_pointer_aligned": "pointer should be aligned",
    "debug_assert_upper_bits_unset": "upper bits should be unset",
    "string_out_of_bounds": "string content out-of-bounds",
    "list_out_of_bounds": "list content out-of-bounds",
    "invalid_discriminant": "invalid variant discriminant",
    "unaligned_pointer": "unaligned pointer",
    "task_cancel_not_cancelled": "`task.cancel` called by task which has not been cancelled",
    "task_cancel_or_return_twice": (
        "`task.return` or `task.cancel` called more than once for current task"
    ),
    "subtask_cancel_after_terminal": "`subtask.cancel` called after terminal status delivered",
    "task_return_invalid": "invalid `task.return` signature and/or options for current task",
    "waitable_set_drop_has_waiters": "cannot drop waitable set with waiters",
    "subtask_drop_not_resolved": "cannot drop a subtask which has not yet resolved",
    "thread_new_indirect_invalid_type": (
        "start function does not match expected type (currently only `(i32) -> ()` is supported)"
    ),
    "thread_new_indirect_uninitialized": (
        "the start function index points to an uninitialized function"
    ),
    "backpressure_overflow": "backpressure counter overflow",
    "unsupported_callback_code": "unsupported callback code",
    "cannot_resume_thread": "cannot resume thread which is not suspended",
    "concurrent_future_stream_op": "cannot have concurrent operations active on a future/stream",
    "reference_count_overflow": "reference count overflow",
    "stream_op_too_big": "stream read/write count too large",
    "waitable_sync_and_async": (
        "waitable cannot be used synchronously while added to a waitable set"
    ),
    "uncaught_exception": "uncaught exception propagated out of component",
}

#: Traps that mean a value violated the canonical ABI.
_ABI_TRAPS = frozenset(
    {
        "invalid_char",
        "string_out_of_bounds",
        "list_out_of_bounds",
        "invalid_discriminant",
        "unaligned_pointer",
    }
)

#: wasmtime's message for a component with more memories than the store allows.
MEMORIES_EXCEEDED = "memory count too high"

#: Elements of one table, far above what compilers emit.
TABLE_ELEMENTS = 200_000
#: wasmtime's message for another exceeded limit of a store → the limit's name here.
_ITEMS = {
    "instance count too high": "instances",
    MEMORIES_EXCEEDED: "memories",
    "table count too high": "tables",
    "exceeds table limits": "table_elements",
}

#: wasmtime's message for a value that cannot be lifted → description in Carrel's error.
_ABI_FAULTS: tuple[tuple[str, str], ...] = (
    ("utf-8", "a string that is not UTF-8"),
    ("string pointer/length out of bounds", "a string that lies outside its memory"),
    ("list pointer/length out of bounds", "a list that lies outside its memory"),
    ("pointer out of bounds", "a value that lies outside its memory"),
    ("pointer not aligned", "a value at a misaligned address"),
    ("discriminant", "a variant case that does not exist"),
    ("realloc return", "an allocation that lies outside its memory"),
    ("too much data is being copied", "more data at once than the host takes"),
)


def from_wasmtime(
    error: Exception, call: Call, *, output: str = "", input_size: int = 0
) -> PluginError:
    """Returns the Carrel error for a failed guest call.

    Args:
        error: wasmtime's exception.
        call: the failed call; its limits are named in the error.
        output: the guest's; it distinguishes a failed allocation from a panic.
        input_size: number of characters of its arguments, which must fit into its memory.
    """
    plugin, tool = call.plugin, call.tool
    if isinstance(error, wasmtime.ExitTrap):
        return Trap("exit", f"it exited with status {error.code}", plugin=plugin, tool=tool)
    text = str(error)
    if "exceeds memory limits" in text:
        return LimitExceeded("memory", call.limits.memory_bytes, plugin=plugin, tool=tool)
    too_many = _too_many(text)
    if too_many is not None:
        return LimitExceeded(*too_many, plugin=plugin, tool=tool)
    kind = next((kind for kind, words in TRAPS.items() if f"wasm trap: {words}" in text), None)
    if kind is None:
        return _without_trap(text, plugin, tool)
    if kind in _ABI_TRAPS:
        message = f"{plugin}: the plugin returned a value that breaks the ABI: {TRAPS[kind]}"
        return ContractViolation(message, plugin=plugin, tool=tool)
    if kind == "stack_overflow":
        return LimitExceeded("stack", call.limits.stack_bytes, plugin=plugin, tool=tool)
    message = TRAPS[kind]
    if kind == "unreachable":
        last = _last_line(output)
        # An allocator that gets no more memory prints a message and aborts. While the arguments are
        # passed in it cannot print, so large arguments are assumed to be the cause.
        starved = "memory allocation" in last or (
            not last and 4 * input_size > call.limits.memory_bytes
        )
        if starved:
            return LimitExceeded("memory", call.limits.memory_bytes, plugin=plugin, tool=tool)
        message = f"it panicked: {last}" if last else "it aborted (a panic or an abort)"
    return Trap(kind, message, trace=text, plugin=plugin, tool=tool)


def _without_trap(text: str, plugin: str, tool: str) -> PluginError:
    for words, meaning in _ABI_FAULTS:
        if words in text:
            message = f"{plugin}: the plugin returned {meaning}"
            return ContractViolation(message, plugin=plugin, tool=tool)
    return Trap("unknown", "wasmtime refused it", trace=text, plugin=plugin, tool=tool)


def _too_many(text: str) -> tuple[str, int] | None:
    """Returns the name of the store limit that instantiation exceeded, and its value."""
    for words, limit in _ITEMS.items():
        if words in text:
            found = re.search(r"too high at (\d+)", text)
            return limit, int(found[1]) - 1 if found else TABLE_ELEMENTS
    return None


def load_error(error: Exception, plugin: str) -> LoadError:
    """Returns the error for bytes that wasmtime does not accept as a component."""
    lines = str(error).strip().splitlines() or ["unknown reason"]
    return LoadError(f"{plugin}: not a valid component: {lines[0][:300]}", plugin=plugin)


def _last_line(text: str) -> str:
    noise = ("note: run with", "stack backtrace")
    lines = [line.strip() for line in text.splitlines()]
    relevant = [line for line in lines if line and not line.startswith(noise)]
    return relevant[-1][:200] if relevant else ""
