"""Tests the order of CPU permits, and instances that are made before a permit is free."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from carrel.errors import Cancelled, LimitExceeded
from carrel.exchange import Call, Limits
from carrel.runtime.cpu_permits import CpuPermit, CpuPermits, PermitPool
from carrel.runtime.instance import OfflineFetcher
from support.guests import guest

from .conftest import Invoke, Load

pytestmark = pytest.mark.alone

PROCESSORS = max(2, os.cpu_count() or 2)
#: Seconds after which a thread that has not continued is considered to wait.
WAITS = 0.2
_SPINS_AT_ITS_START = "(func $spin (loop $l (br $l))) (start $spin)"


def returns(step: Callable[[], None]) -> threading.Event:
    """Runs a step in a new thread; the returned event is set when it has returned."""
    done = threading.Event()

    def run() -> None:
        step()
        done.set()

    threading.Thread(target=run, daemon=True).start()
    return done


@contextmanager
def no_thread_switches() -> Iterator[None]:
    """Keeps the GIL with this thread for as long as it waits for nothing."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(10)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def all_taken(permits: CpuPermits) -> list[CpuPermit]:
    """Instances that were made quickly and now compute, as many as may."""
    holders = [CpuPermit(permits) for _ in range(PROCESSORS)]
    for one in holders:
        one.prepare()
        one.prepared(0.0)
        one.take()
    return holders


def test_one_instance_is_created_ahead_while_no_permit_is_free() -> None:
    holders = all_taken(permits := CpuPermits())
    ahead, behind = CpuPermit(permits), CpuPermit(permits)
    assert returns(ahead.prepare).wait(5)
    computes, prepares = returns(ahead.take), returns(behind.prepare)
    assert not computes.wait(WAITS)
    assert not prepares.wait(WAITS)
    holders[0].give()
    assert computes.wait(5)
    assert prepares.wait(5)


def test_instances_are_created_concurrently_while_permits_are_free() -> None:
    permits = CpuPermits()
    first = CpuPermit(permits)
    first.prepare()
    first.prepared(0.0)
    first.give()
    CpuPermit(permits).prepare()
    assert returns(CpuPermit(permits).prepare).wait(5)


def test_no_instance_is_created_ahead_before_creation_is_known_to_be_quick() -> None:
    permits = CpuPermits()
    for _ in range(PROCESSORS):
        CpuPermit(permits).prepare()
    assert not returns(CpuPermit(permits).prepare).wait(WAITS)


def test_no_instance_is_created_ahead_after_a_slow_one() -> None:
    holders = all_taken(permits := CpuPermits())
    holders[0].prepared(1.0)
    holders[1].prepared(0.0)
    waits = returns(CpuPermit(permits).prepare)
    assert not waits.wait(WAITS)
    holders[0].give()
    assert waits.wait(5)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own there")
def test_a_deprioritised_guest_continues_and_releases_its_permit() -> None:
    permits = CpuPermits()
    computing: list[CpuPermit] = []
    computes, end = threading.Event(), threading.Event()

    # In a new thread, because the low priority stays.
    def compute() -> None:
        computing.append(CpuPermit(permits, threading.get_native_id()))
        computing[0].take()
        computes.set()
        end.wait(30)

    ended = returns(compute)
    assert computes.wait(5)
    quick = [CpuPermit(permits) for _ in range(PROCESSORS)]
    for one in quick[:-1]:
        one.take()
    waits = returns(quick[-1].take)
    assert not waits.wait(WAITS)
    computing[0].step_back()
    assert waits.wait(5)
    assert computing[0].slow
    assert returns(computing[0].take).wait(5)
    end.set()
    assert ended.wait(5)


@pytest.mark.requirement("sandbox:limits:cpu")
def test_a_loop_at_the_start_of_an_instance_ends_at_the_cpu_limit(invoke: Invoke) -> None:
    with pytest.raises(LimitExceeded) as caught:
        invoke(guest(functions=_SPINS_AT_ITS_START), limits=Limits(cpu_seconds=0.3))
    assert caught.value.limit == "cpu"


@pytest.mark.requirement("sandbox:limits:cancel")
def test_a_call_is_cancelled_at_once_wherever_it_waits(load: Load) -> None:
    component = load(guest("(loop $l (br $l))", functions="(func $f) (start $f)"), "crowd")
    calls = [Call("crowd", "tool") for _ in range(PROCESSORS + 3)]
    running = [
        component.submit_call("tool", "{}", call, fetcher=OfflineFetcher(), settings={})
        for call in calls
    ]
    # In reverse order: waiting instances before those that they wait for.
    for call, pending in zip(reversed(calls), reversed(running), strict=True):
        call.cancel()
        with pytest.raises(Cancelled):
            pending.result(timeout=5)
    component.close()


@pytest.mark.requirement("sandbox:fresh:pool")
def test_waiting_calls_with_an_instance_are_isolated(load: Load) -> None:
    # Counts in a global, and fails if an earlier call has counted.
    body = """
      (if (global.get $used) (then unreachable))
      (global.set $used (i32.const 1))
      (loop $l (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $i) (i32.const 100000))))
    """
    functions = "(global $used (mut i32) (i32.const 0))"
    component = load(guest(body, functions=functions), "crowd")
    running = [
        component.submit_call(
            "tool", "{}", Call("crowd", "tool"), fetcher=OfflineFetcher(), settings={}
        )
        for _ in range(200)
    ]
    assert [one.result(timeout=20) for one in running] == ["{}"] * 200
    component.close()


@contextmanager
def alarm_after(seconds: float, handler: Callable[..., None]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


NEEDS_ALARMS = pytest.mark.skipif(sys.platform == "win32", reason="no SIGALRM there")


@NEEDS_ALARMS
@pytest.mark.requirement("sandbox:limits:interrupt")
def test_a_timeout_that_passes_in_a_signal_handler_ends_the_wait() -> None:
    permits = PermitPool(0)
    rescue = threading.Timer(10, permits.release)
    rescue.daemon = True
    rescue.start()
    with alarm_after(0.02, lambda *_: time.sleep(0.2)):
        assert not permits.acquire(0.05)
    rescue.cancel()


@NEEDS_ALARMS
def test_a_wait_that_a_signal_handler_ends_takes_no_permit() -> None:
    def too_late(*_: object) -> None:
        raise TimeoutError("too late")

    permits = PermitPool(0)
    with alarm_after(0.02, too_late), pytest.raises(TimeoutError, match="too late"):
        permits.acquire()
    permits.release()
    assert permits.try_acquire()


def test_permits_go_to_the_thread_that_waited_longest() -> None:
    permits, order = PermitPool(1), []
    assert permits.acquire()

    def wait(number: int) -> None:
        permits.acquire()
        order.append(number)
        permits.release()

    waiting = []
    for number in range(5):
        waiting.append(returns(lambda number=number: wait(number)))  # type: ignore[misc]
        while len(permits._waiting) <= number:
            time.sleep(0.001)
    permits.release()
    assert all(one.wait(10) for one in waiting)
    assert order == list(range(5))
    assert permits.try_acquire()
    assert not permits.acquire(0.01)


def waiting_on(permits: PermitPool) -> threading.Event:
    """Starts a thread that waits for a permit; the event is set when it has one."""

    def wait() -> None:
        permits.acquire()

    done = returns(wait)
    while not permits._waiting:
        time.sleep(0.001)
    return done


def test_a_released_permit_may_be_taken_before_the_woken_thread_runs() -> None:
    permits = PermitPool(1, barging=60)
    assert permits.acquire()
    done = waiting_on(permits)
    with no_thread_switches():
        permits.release()
        overtook = permits.try_acquire()
    assert overtook
    assert not done.wait(0.05), "the waiting thread was woken, and waits again"
    permits.release()
    assert done.wait(10)


def test_a_thread_that_was_overtaken_is_not_woken_for_each_release() -> None:
    permits = PermitPool(1, barging=60)
    assert permits.acquire()
    done = waiting_on(permits)
    waiter = permits._waiting[0]
    woken = []
    for _ in range(2):
        with no_thread_switches():
            permits.release()
            woken.append(waiter.woken)
            assert permits.try_acquire()
        while not waiter.overtaken:
            time.sleep(0.001)
    assert woken == [True, False]
    permits.release()
    assert done.wait(10), "it looks for a free permit without being woken"


def test_a_thread_that_waited_for_long_is_handed_the_permit() -> None:
    permits = PermitPool(1, barging=0.01)
    assert permits.acquire()
    done = waiting_on(permits)
    time.sleep(0.02)
    permits.release()
    assert not permits.try_acquire()
    assert done.wait(10)


@pytest.mark.long("load")
def test_no_thread_waits_for_ever_behind_one_that_never_pauses() -> None:
    permits = PermitPool(1, barging=0.02)
    done = waiting_on(permits) if permits.acquire() else None
    assert done is not None
    deadline = time.monotonic() + 10
    while not done.is_set() and time.monotonic() < deadline:
        permits.release()
        assert permits.acquire(10) or done.is_set()
    assert done.is_set()
