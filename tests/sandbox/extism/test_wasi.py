"""Tests the WASI stubs: clocks, sleep and random numbers, but no files and sockets."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import pytest

from carrel.errors import Cancelled, DeadlineExceeded, Trap
from carrel.exchange import Call, Limits
from carrel.runtime.extism.context import ModuleContext
from carrel.runtime.loader import Runtime
from support.modules import module, text_at

from .conftest import Run


def test_there_are_no_arguments_no_environment_no_files_and_no_sockets(run: Run) -> None:
    body = """
    (drop (call $args_sizes_get (i32.const 0) (i32.const 4)))
    (drop (call $environ_sizes_get (i32.const 8) (i32.const 12)))
    (call $number (i64.extend_i32_u (i32.add
      (i32.add (i32.load (i32.const 0)) (i32.load (i32.const 8)))
      (i32.add (i32.mul (i32.const 10000) (call $fd_prestat_get (i32.const 3) (i32.const 16)))
        (i32.add (i32.mul (i32.const 100) (call $path_open (i32.const 3) (i32.const 0) (i32.const 0)
          (i32.const 1) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 20)))
          (call $sock_send (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0)
            (i32.const 20)))))))
    """
    assert int(run(module(body))) == 8_00_00 + 76_00 + 52


def test_stdout_and_stderr_of_a_guest_are_logged(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    body = """
    (i32.store (i32.const 0) (i32.const 100)) (i32.store (i32.const 4) (i32.const 7))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    (drop (call $fd_write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
    (if (i32.ne (call $fd_write (i32.const 3) (i32.const 0) (i32.const 1) (i32.const 8))
      (i32.const 8)) (then unreachable))
    (call $number (i64.extend_i32_u (i32.load (i32.const 8))))
    """
    with caplog.at_level(logging.INFO, logger="carrel.plugin"):
        assert int(run(module(body, data=text_at(100, b"h\xc3\xb6r\x1b!\n")))) == 7
    assert caplog.text.count("guest: output: hör !") == 2


def test_clocks_tell_the_time_and_random_numbers_differ(run: Run) -> None:
    clock = """
    (drop (call $clock_time_get (i32.const 0) (i64.const 1) (i32.const 0)))
    (call $number (i64.load (i32.const 0)))
    """
    assert abs(int(run(module(clock))) - time.time_ns()) < 60e9
    dice = """
    (drop (call $random_get (i32.const 0) (i32.const 13)))
    (call $number (i64.load (i32.const 0)))
    """
    assert run(module(dice)) != run(module(dice))


SLEEP = """
(i64.store (i32.const 0) (i64.const 42)) (i32.store (i32.const 16) (i32.const 1))
(i64.store (i32.const 24) (i64.const {nanoseconds}))
(drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 100)))
(call $number (i64.add (i64.load (i32.const 64)) (i64.extend_i32_u (i32.load (i32.const 100)))))
"""


def test_a_module_can_sleep_and_it_costs_no_processor_time(run: Run) -> None:
    started = time.monotonic()
    sleeps = module(SLEEP.format(nanoseconds=300_000_000))
    assert int(run(sleeps, limits=Limits(cpu_seconds=0.2))) == 43
    assert time.monotonic() - started >= 0.3


@pytest.mark.requirement("sandbox:limits:sleep")
def test_sleeping_ends_at_the_deadline_and_when_the_client_gives_up(runtime: Runtime) -> None:
    guest = module(SLEEP.format(nanoseconds=3_600_000_000_000))
    loaded = runtime.load_module("guest", guest.wasm, guest.digest)

    def start(limits: Limits) -> tuple[Call, Callable[[], str]]:
        call = Call("guest", "call_tool", limits)
        pending = loaded.submit("call_tool", "", call, config={}, context=ModuleContext())
        return call, lambda: pending.result(timeout=5)

    _, late = start(Limits(wall_seconds=0.3))
    with pytest.raises(DeadlineExceeded):
        late()
    call, cancelled = start(Limits())
    time.sleep(0.1)
    call.cancel()
    with pytest.raises(Cancelled):
        cancelled()
    loaded.close()


def test_leaving_is_a_trap_that_names_the_status(run: Run) -> None:
    with pytest.raises(Trap, match="status 3") as caught:
        run(module("(call $proc_exit (i32.const 3))"))
    assert caught.value.kind == "exit"
