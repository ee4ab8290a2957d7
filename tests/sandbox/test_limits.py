"""Tests that exceeding any limit of a call is a typed error."""

from __future__ import annotations

import threading
import time

import pytest

from carrel.errors import Cancelled, DeadlineExceeded, LimitExceeded, Trap
from carrel.exchange import Call, Limits
from carrel.runtime.instance import OfflineFetcher
from sandbox.conftest import Invoke, Load
from support.guests import guest

pytestmark = pytest.mark.alone

LOOP = "(loop $again (br $again))"
MIB = 2**20


@pytest.mark.requirement("sandbox:limits:cpu")
def test_a_loop_ends_at_the_cpu_limit(invoke: Invoke) -> None:
    started = time.process_time()
    with pytest.raises(LimitExceeded) as caught:
        invoke(guest(LOOP), limits=Limits(cpu_seconds=0.3))
    assert caught.value.limit == "cpu"
    assert caught.value.error_code == "limit_exceeded"
    assert time.process_time() - started < 2.0


@pytest.mark.requirement("sandbox:limits:wall")
def test_a_loop_ends_at_the_wall_clock_deadline(invoke: Invoke) -> None:
    with pytest.raises(DeadlineExceeded):
        invoke(guest(LOOP), limits=Limits(wall_seconds=0.3))


@pytest.mark.requirement("sandbox:limits:cancel")
def test_cancelling_interrupts_a_running_guest(load: Load) -> None:
    component = load(guest(LOOP))
    call = Call("guest", "tool")
    future = component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
    call.cancel()
    with pytest.raises(Cancelled):
        future.result(timeout=5)


@pytest.mark.requirement("sandbox:limits:cancel")
def test_a_call_cancelled_in_the_queue_never_runs(load: Load) -> None:
    component = load(guest(LOOP))
    busy = [Call("guest", "tool") for _ in range(16)]
    running = [
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        for call in busy
    ]
    queued = Call("guest", "tool", Limits(wall_seconds=0.2))
    future = component.submit_call("tool", "{}", queued, fetcher=OfflineFetcher(), settings={})
    with pytest.raises(DeadlineExceeded):
        future.result(timeout=5)
    for call in busy:
        call.cancel()
    for one in running:
        with pytest.raises(Cancelled):
            one.result(timeout=5)


@pytest.mark.requirement("sandbox:limits:stack")
def test_endless_recursion_ends_at_the_stack_limit(invoke: Invoke) -> None:
    body = "(drop (call $run (local.get 0) (local.get 1) (local.get 2) (local.get 3)))"
    with pytest.raises(LimitExceeded) as caught:
        invoke(guest(body))
    assert caught.value.limit == "stack"


@pytest.mark.requirement("sandbox:limits:memory")
def test_memory_stops_growing_at_its_limit(invoke: Invoke) -> None:
    grown = guest(
        """
        (loop $again
          (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
        (if (i32.gt_u (memory.size) (i32.const 512)) (then unreachable))
        """
    )
    assert invoke(grown, limits=Limits(memory_bytes=32 * MIB))[0] == "{"


@pytest.mark.requirement("sandbox:limits:memory")
def test_a_guest_that_starts_larger_than_the_limit_is_refused(invoke: Invoke) -> None:
    with pytest.raises(LimitExceeded) as caught:
        invoke(guest(pages=64), limits=Limits(memory_bytes=MIB))
    assert caught.value.limit == "memory"


@pytest.mark.requirement("sandbox:limits:output")
def test_a_hundred_megabytes_of_output_pass_the_cap(invoke: Invoke) -> None:
    large = guest(
        """
        (drop (memory.grow (i32.const 1700)))
        (i32.store8 (i32.const 0) (i32.const 0))
        (i32.store (i32.const 4) (i32.const 65536))
        (i32.store (i32.const 8) (i32.const 104857600))
        (return (i32.const 0))
        """
    )
    with pytest.raises(LimitExceeded) as caught:
        invoke(large)
    assert caught.value.limit == "output"
    assert caught.value.allowed == Limits().output_bytes


@pytest.mark.requirement("sandbox:limits:document")
def test_a_document_that_does_not_fit_the_memory_is_a_typed_error(invoke: Invoke) -> None:
    with pytest.raises(LimitExceeded) as caught:
        invoke(guest(), "x" * (40 * MIB), limits=Limits(memory_bytes=8 * MIB))
    assert caught.value.limit == "memory"


@pytest.mark.requirement("serve:alive:loop")
def test_spinning_guests_do_not_delay_another_plugin(load: Load) -> None:
    spinning, good = load(guest(LOOP), "spinning"), load(guest(), "good")
    calls = [Call("spinning", "tool", Limits(cpu_seconds=5.0)) for _ in range(4)]
    futures = [
        spinning.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        for call in calls
    ]
    for _ in range(200):
        done = good.submit_call(
            "tool", "{}", Call("good", "tool"), fetcher=OfflineFetcher(), settings={}
        )
        assert done.result(timeout=2) == "{}"
    for call in calls:
        call.cancel()
    for future in futures:
        with pytest.raises(Cancelled):
            future.result(timeout=5)


@pytest.mark.requirement("sandbox:limits:threads")
def test_threads_do_not_mix_up_each_others_failures(load: Load) -> None:
    """wasmtime-py stores a callback's exception in a module variable; ours must not use it."""
    good, bad = load(guest(result='{"good":1}'), "good"), load(guest("unreachable"), "bad")
    wrong: list[object] = []

    def hammer(component_is_good: bool) -> None:
        component = good if component_is_good else bad
        for _ in range(300):
            call = Call(component.name, "tool")
            future = component.submit_call(
                "tool", "{}", call, fetcher=OfflineFetcher(), settings={}
            )
            try:
                text = future.result(timeout=5)
            except Trap as trap:
                if component_is_good or trap.kind != "unreachable":
                    wrong.append(trap)
            else:
                if not component_is_good or text != '{"good":1}':
                    wrong.append(text)

    threads = [threading.Thread(target=hammer, args=(number % 2 == 0,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
