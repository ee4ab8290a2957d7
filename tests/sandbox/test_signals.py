"""Tests deferred signals: none is lost or delivered early, and handlers are restored."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from carrel.runtime.signals import held_back

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(sys.platform == "win32", reason="has two signals at most"),
]


@pytest.fixture
def came() -> Iterator[list[int]]:
    """Yields the signals that a handler of two signals has received."""
    came: list[int] = []
    both = (signal.SIGUSR1, signal.SIGUSR2)
    before = [signal.signal(one, lambda number, _frame: came.append(number)) for one in both]
    yield came
    for one, handler in zip(both, before, strict=True):
        signal.signal(one, handler)


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in signal.Signals]


def send(number: int) -> None:
    os.kill(os.getpid(), number)


def raising(error: BaseException) -> Callable[..., None]:
    def handle(*_: object) -> None:
        raise error

    return handle


def test_handlers_are_called_in_order_when_the_block_ends(came: list[int]) -> None:
    before = handlers()
    with held_back():
        for number in (signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR2):
            send(number)
            assert came == []
    assert came == [signal.SIGUSR2, signal.SIGUSR1, signal.SIGUSR2]
    assert handlers() == before
    send(signal.SIGUSR1)
    assert came[3:] == [signal.SIGUSR1]


def test_an_interrupt_is_raised_at_the_end_and_blocks_no_other_signal(came: list[int]) -> None:
    before = handlers()
    done: list[bool] = []

    def interrupted() -> None:
        with held_back():
            send(signal.SIGINT)
            send(signal.SIGUSR1)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == [True]
    assert came == [signal.SIGUSR1]
    assert handlers() == before


def test_an_error_of_the_block_and_an_interrupt_are_both_raised(came: list[int]) -> None:
    def fails() -> None:
        with held_back():
            send(signal.SIGINT)
            raise ValueError("the block's")

    with pytest.raises(KeyboardInterrupt) as caught:
        fails()
    assert isinstance(caught.value.__context__, ValueError)
    assert came == []


def test_blocks_can_be_nested(came: list[int]) -> None:
    before = handlers()
    with held_back():
        with held_back():
            send(signal.SIGUSR1)
        assert came == []
    assert came == [signal.SIGUSR1]
    assert handlers() == before


def test_a_handler_that_raises_at_the_end_leaves_the_others_working(came: list[int]) -> None:
    signal.signal(signal.SIGUSR2, raising(TimeoutError()))
    with pytest.raises(TimeoutError), held_back():
        send(signal.SIGUSR2)
    send(signal.SIGUSR1)
    assert came == [signal.SIGUSR1]
    with pytest.raises(TimeoutError):
        send(signal.SIGUSR2)


def test_signals_that_are_ignored_stay_ignored() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with held_back():
            send(signal.SIGUSR1)
            assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_have_no_effect(came: list[int]) -> None:
    before = handlers()
    seen: list[list[Any]] = []

    def run() -> None:
        with held_back():
            seen.append(handlers())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    assert seen == [before]
    assert came == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork there")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_in_a_fork_by_another_thread_signals_are_not_deferred() -> None:
    """The fork's main thread is that thread, which does not run the end of the `with` block."""
    codes: list[int] = []

    def fork() -> None:
        child = os.fork()
        if not child:
            try:
                send(signal.SIGINT)
                signal.pause()
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    with held_back():
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join(20)
    assert codes == [7]
