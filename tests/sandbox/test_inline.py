"""Tests guests that run in the thread of their caller, within the same limits."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from carrel.errors import BusyError, Cancelled, CarrelError, DeadlineExceeded, LimitExceeded, Trap
from carrel.exchange import Call, Limits
from carrel.runtime.component import PluginReport, SandboxedComponent
from carrel.runtime.cpu_permits import permit_count, processors
from carrel.runtime.ffi import INTERFACE
from carrel.text.utf8 import Utf8
from support.fetch_harness import until
from support.guests import guest

from .conftest import Load
from .test_pool import resident, touching
from .test_threads import threads_of

pytestmark = pytest.mark.alone

PROCESSORS = processors()
MIB = 2**20
WORKERS = permit_count()
LOOP = "(loop $again (br $again))"
#: Returns for the document "{}", loops for a longer one.
LOOP_IF_LONG = f"(if (i32.gt_u (local.get $text_length) (i32.const 2)) (then {LOOP}))"
SAYS_HALLO = "(call $write (i32.const 3) (i32.const 1024) (i32.const 2))"
NEEDS_SIGNALS = pytest.mark.skipif(
    sys.platform == "win32", reason="no SIGALRM there, and os.kill ends the process"
)


def parse(
    component: SandboxedComponent,
    document: str = "{}",
    limits: Limits | None = None,
    call: Call | None = None,
) -> str:
    call = call or Call(component.name, "format", limits or Limits())
    text = component.parse("format", Utf8(document.encode()), call, settings={}, inline=True)
    return bytes(text).decode()


def in_threads(count: int, work: Callable[[], object]) -> tuple[list[threading.Thread], list[str]]:
    """Runs a function in threads; returns each one's text or error code."""
    outcomes: list[str] = []

    def run() -> None:
        try:
            outcomes.append(str(work()))
        except CarrelError as error:
            outcomes.append(error.error_code)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, outcomes


@contextmanager
def busy(component: SandboxedComponent) -> Iterator[None]:
    """Keeps all workers of a component in use."""
    calls = [Call("crowd", "format") for _ in range(WORKERS)]
    one_of = iter(calls)
    threads, _ = in_threads(WORKERS, lambda: parse(component, "<long/>", call=next(one_of)))
    time.sleep(0.1)
    try:
        yield
    finally:
        for call in calls:
            call.cancel()
        for thread in threads:
            thread.join(10)


def test_no_other_thread_is_used(load: Load) -> None:
    component = load(guest(result='{"a":1}'), "inline")
    assert [parse(component) for _ in range(20)] == ['{"a":1}'] * 20
    assert threads_of("inline") == 0
    component.close()


@pytest.mark.requirement("sandbox:fresh:inline")
def test_each_document_meets_a_new_instance(load: Load) -> None:
    # Fails if an earlier call has counted, or left a byte in memory.
    body = """
      (if (global.get $used) (then unreachable))
      (global.set $used (i32.const 1))
      (if (i32.load8_u (i32.const 4000)) (then unreachable))
      (i32.store8 (i32.const 4000) (i32.const 1))
    """
    component = load(guest(body, functions="(global $used (mut i32) (i32.const 0))"))
    assert [parse(component) for _ in range(20)] == ["{}"] * 20
    component.close()


@pytest.mark.long("load")
@pytest.mark.parametrize(
    ("body", "limits", "error"),
    [
        (LOOP, Limits(cpu_seconds=0.2), LimitExceeded),
        (LOOP, Limits(wall_seconds=0.2), DeadlineExceeded),
        ("unreachable", Limits(), Trap),
        (
            "(drop (call $run (local.get 0) (local.get 1) (local.get 2) (local.get 3)))",
            Limits(),
            LimitExceeded,
        ),
        ("", Limits(memory_bytes=2**16), LimitExceeded),
        ("", Limits(output_bytes=1), LimitExceeded),
    ],
    ids=["cpu", "wall", "trap", "stack", "memory", "output"],
)
@pytest.mark.requirement("sandbox:limits:inline")
def test_every_limit_holds_and_the_next_document_is_read(
    load: Load, body: str, limits: Limits, error: type[CarrelError]
) -> None:
    component = load(guest(f"(if (i32.gt_u (local.get $text_length) (i32.const 2)) (then {body}))"))
    with pytest.raises(error):
        parse(component, "<long/>", limits)
    assert parse(component) == "{}"
    component.close()


@pytest.mark.requirement("result:typed:inline")
def test_an_error_of_the_plugin_is_reported(load: Load) -> None:
    component = load(guest(result='{"code":"not_found"}', failed=True))
    with pytest.raises(PluginReport, match="not_found"):
        parse(component)
    component.close()


@pytest.mark.requirement("sandbox:limits:cancel")
def test_another_thread_cancels_it(load: Load) -> None:
    component = load(guest(LOOP))
    call = Call("guest", "format")
    threading.Timer(0.1, call.cancel).start()
    with pytest.raises(Cancelled):
        parse(component, call=call)
    component.close()


@pytest.mark.requirement("serve:alive:inline")
def test_as_many_run_as_there_are_processors_and_the_others_wait(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG), "crowd")
    calls = [Call("crowd", "format") for _ in range(WORKERS)]
    one_of = iter(calls)
    threads, outcomes = in_threads(WORKERS, lambda: parse(component, "<long/>", call=next(one_of)))
    time.sleep(0.1)
    with pytest.raises(DeadlineExceeded):
        parse(component, limits=Limits(wall_seconds=0.2))
    (waits,), answers = in_threads(1, lambda: parse(component))
    waits.join(0.2)
    assert answers == []
    calls[0].cancel()
    waits.join(10)
    assert answers == ["{}"]
    for call in calls:
        call.cancel()
    for thread in threads:
        thread.join(10)
    assert outcomes == ["cancelled"] * WORKERS
    assert threads_of("crowd") == 0
    component.close()


@pytest.mark.requirement("sandbox:limits:cancel")
def test_a_call_that_waits_for_a_worker_can_be_cancelled(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    with busy(component):
        call = Call("guest", "format")
        threading.Timer(0.1, call.cancel).start()
        started = time.monotonic()
        with pytest.raises(Cancelled):
            parse(component, call=call)
        assert time.monotonic() - started < 2
    component.close()


@NEEDS_SIGNALS
@pytest.mark.requirement("sandbox:limits:interrupt")
def test_a_call_that_waits_for_a_worker_can_be_interrupted(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    with busy(component):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            parse(component)
        assert time.monotonic() - started < 2
    assert parse(component) == "{}"
    component.close()


def test_closing_ends_the_waiting_for_a_worker(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    with busy(component):
        (thread,), outcomes = in_threads(1, lambda: parse(component))
        time.sleep(0.1)
        component.close()
        thread.join(10)
        assert outcomes == ["busy"]


def test_concurrent_and_sequential_calls_give_equal_results(load: Load) -> None:
    component = load(guest(result='{"a":1}'))
    threads, outcomes = in_threads(16, lambda: {parse(component) for _ in range(50)})
    for thread in threads:
        thread.join(30)
    assert outcomes == [str({'{"a":1}'})] * 16
    component.close()


@pytest.mark.long("load")
@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own there")
def test_the_callers_priority_is_not_lowered(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def priority_after() -> int:
        with pytest.raises(LimitExceeded):
            parse(component, "<long/>", Limits(cpu_seconds=0.5))
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    # More than processors: guests in the host's own threads would get low priority.
    threads, outcomes = in_threads(PROCESSORS + 2, priority_after)
    for thread in threads:
        thread.join(30)
    assert outcomes == [str(before)] * (PROCESSORS + 2)
    component.close()


def test_memory_beyond_the_kept_size_is_returned_immediately(load: Load) -> None:
    component = load(guest(touching(2048)))
    before = resident()
    parse(component)
    assert resident() < before + 64 * MIB
    component.close()


@pytest.mark.skipif(INTERFACE.name != "direct", reason="memory is pooled on the fast path only")
def test_memory_for_large_documents_is_returned_after_an_idle_period(load: Load) -> None:
    component = load(guest(touching(384)))
    document = "x" * (3 * MIB)
    before = resident()
    for _ in range(3):
        parse(component, document)
        assert resident() > before + 20 * MIB
    until(lambda: resident() < before + 16 * MIB)
    assert parse(component) == "{}"
    component.close()


@NEEDS_SIGNALS
@pytest.mark.requirement("sandbox:limits:interrupt")
def test_an_interrupt_is_seen_when_the_guest_has_ended(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        parse(component, "<long/>", Limits(cpu_seconds=0.3))
    assert time.monotonic() - started < 5
    assert [parse(component) for _ in range(5)] == ["{}"] * 5
    component.close()


@pytest.mark.requirement("sandbox:limits:interrupt")
def test_an_interrupt_during_a_host_function_does_not_cross_the_guest(load: Load) -> None:
    class Interrupting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            signal.raise_signal(signal.SIGINT)

    component = load(guest(f"{SAYS_HALLO} {LOOP}", reporting=True))
    log = logging.getLogger("carrel.plugin")
    handler = Interrupting()
    log.addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            parse(component, limits=Limits(cpu_seconds=0.2))
    finally:
        log.removeHandler(handler)
    with pytest.raises(LimitExceeded):
        parse(component, limits=Limits(cpu_seconds=0.1))
    component.close()


@NEEDS_SIGNALS
def test_an_exception_of_a_signal_handler_reaches_the_caller(load: Load) -> None:
    def too_late(*_: object) -> None:
        raise TimeoutError("too late")

    component = load(guest(LOOP_IF_LONG))
    before = signal.signal(signal.SIGALRM, too_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(TimeoutError, match="too late"):
            parse(component, "<long/>", Limits(cpu_seconds=0.3))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert parse(component) == "{}"
    component.close()


def test_after_closing_there_is_no_worker(load: Load) -> None:
    component = load(guest(LOOP_IF_LONG))
    call = Call("guest", "format")
    (thread,), outcomes = in_threads(1, lambda: parse(component, "<long/>", call=call))
    time.sleep(0.1)
    component.close()
    with pytest.raises(BusyError):
        parse(component)
    assert outcomes == []
    call.cancel()
    thread.join(10)
    assert outcomes == ["cancelled"]
