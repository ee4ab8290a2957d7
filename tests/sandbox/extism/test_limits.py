"""Tests that a module that exceeds a limit ends only its own call, with one typed error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from carrel.errors import Cancelled, DeadlineExceeded, LimitExceeded, Trap
from carrel.exchange import Call, Limits
from carrel.runtime.extism.context import ModuleContext
from carrel.runtime.extism.wrap import EXPORTS
from carrel.runtime.loader import Runtime
from carrel.runtime.pending import Pending
from support.guests import Guest
from support.modules import module

pytestmark = pytest.mark.alone

LOOP = "(loop $again (br $again))"
Start = Callable[..., Pending]


@pytest.fixture
def start(runtime: Runtime) -> Start:
    """Loads a module and starts a call of an export."""

    def start(
        guest: Guest,
        *,
        export: str = "call_tool",
        limits: Limits | None = None,
        call: Call | None = None,
    ) -> Pending:
        loaded = runtime.load_module("guest", guest.wasm, guest.digest)
        call = call or Call("guest", export, limits or Limits())
        pending = loaded.submit(export, "{}", call, config={}, context=ModuleContext())
        loaded.close()
        return pending

    return start


@pytest.mark.long("load")
@pytest.mark.requirement("sandbox:limits:module-cpu")
def test_a_loop_in_any_export_ends_at_the_cpu_limit(runtime: Runtime) -> None:
    everywhere = "\n".join(
        f'(func (export "{name}") (result i32) {LOOP} (i32.const 0))' for name in EXPORTS
    )
    guest = module(exports=everywhere, export="unused")
    loaded = runtime.load_module("guest", guest.wasm, guest.digest)
    pending = [
        loaded.submit(
            name,
            "{}",
            Call("guest", name, Limits(cpu_seconds=0.1)),
            config={},
            context=ModuleContext(),
        )
        for name in EXPORTS
    ]
    for one in pending:
        with pytest.raises(LimitExceeded) as caught:
            one.result(timeout=30)
        assert caught.value.limit == "cpu"
    loaded.close()


@pytest.mark.long("load")
def test_a_loop_in_the_start_function_or_the_initialiser_ends_too(start: Start) -> None:
    starts = module(functions=f"(func $begin {LOOP}) (start $begin)")
    initialises = module(functions=f'(func (export "_initialize") {LOOP})')
    for guest in (starts, initialises):
        with pytest.raises(LimitExceeded) as caught:
            start(guest, limits=Limits(cpu_seconds=0.1)).result(timeout=10)
        assert caught.value.limit == "cpu"


def test_a_loop_ends_at_the_deadline_and_when_the_client_gives_up(start: Start) -> None:
    with pytest.raises(DeadlineExceeded):
        start(module(LOOP), limits=Limits(wall_seconds=0.2)).result(timeout=5)
    call = Call("guest", "call_tool")
    pending = start(module(LOOP), call=call)
    call.cancel()
    with pytest.raises(Cancelled):
        pending.result(timeout=5)


@pytest.mark.requirement("sandbox:limits:module-stack")
def test_endless_recursion_ends_at_the_stack_limit(start: Start) -> None:
    deep = module("(call $deep)", functions="(func $deep (call $deep) (call $deep))")
    with pytest.raises(LimitExceeded) as caught:
        start(deep).result(timeout=10)
    assert caught.value.limit == "stack"


@pytest.mark.requirement("sandbox:limits:module-output")
def test_a_huge_output_passes_the_cap(start: Start) -> None:
    huge = module("(call $say (call $alloc (i64.const 90000000)))")
    with pytest.raises(LimitExceeded) as caught:
        start(huge).result(timeout=10)
    assert caught.value.limit == "output"


@pytest.mark.requirement("sandbox:limits:module-output")
def test_a_huge_error_passes_the_cap_too(start: Start) -> None:
    huge = module("(call $error_set (call $alloc (i64.const 90000000)))")
    with pytest.raises(LimitExceeded):
        start(huge).result(timeout=10)


def test_a_module_larger_than_the_limit_does_not_start(start: Start) -> None:
    with pytest.raises(LimitExceeded) as caught:
        start(module(pages=100), limits=Limits(memory_bytes=4 * 2**20)).result(timeout=10)
    assert caught.value.limit == "memory"


def test_a_trap_is_a_typed_error_with_its_kind(start: Start) -> None:
    with pytest.raises(Trap) as caught:
        start(module("unreachable")).result(timeout=10)
    assert caught.value.kind == "unreachable"


@pytest.mark.requirement("sandbox:limits:module-messages")
def test_a_flood_of_log_lines_and_notifications_is_cut(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    flood = module(
        """
        (loop $again
          (call $log_error (call $alloc (i64.const 10)))
          (call $notify_logging_message (i64.const 0))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $i) (i32.const 5000))))
        """
    )
    with pytest.raises(LimitExceeded) as caught:
        start(flood).result(timeout=20)
    assert caught.value.limit == "reports"
    assert len(caplog.records) <= 1000


@pytest.mark.requirement("serve:alive:module")
def test_spinning_modules_do_not_delay_another_plugin(runtime: Runtime) -> None:
    bad, good = module(LOOP), module("(call $say (call $input_offset))")
    spinning = runtime.load_module("spinning", bad.wasm, bad.digest)
    quick = runtime.load_module("quick", good.wasm, good.digest)
    calls = [Call("spinning", "call_tool", Limits(cpu_seconds=5.0)) for _ in range(4)]
    pending = [
        spinning.submit("call_tool", "", call, config={}, context=ModuleContext()) for call in calls
    ]
    for _ in range(100):
        call = Call("quick", "call_tool")
        done = quick.submit("call_tool", "hello", call, config={}, context=ModuleContext())
        assert done.result(timeout=2) == "hello"
    for call in calls:
        call.cancel()
    for one in pending:
        with pytest.raises(Cancelled):
            one.result(timeout=5)
    spinning.close()
    quick.close()
