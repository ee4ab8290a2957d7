"""Signals wait while the main thread is in the middle of something that must be finished.

Python runs handlers of signals in the main thread, between any two steps of what runs there, and
that of Ctrl-C raises. Between taking a worker and noting it this is a worker that nobody gives
back, and in the middle of wasmtime-py, which frees a thing before it forgets its address, a crash.
"""

from __future__ import annotations

# What `signal` wraps in enums, which takes 80 µs for all handlers.
import _signal  # type: ignore[import-not-found, unused-ignore]
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_Handlers = Mapping[int, Callable[[int, Any], Any]]


@contextmanager
def held_back() -> Iterator[None]:
    """Keeps signals from their handlers, which are called for those that came when the block ends.

    Costs 10 µs in the main thread, and nothing in others, where no handler runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {
        number: handler
        for number in range(1, _signal.NSIG)
        if callable(handler := _signal.getsignal(number))
    }
    here = threading.get_ident()
    holding = True

    def hold(number: int, frame: Any) -> None:
        # Another thread becomes the main one in a fork that it makes.
        if holding and threading.get_ident() == here:
            came.append(number)
        else:
            handlers[number](number, frame)

    try:
        for number in handlers:
            _signal.signal(number, hold)
        yield
    finally:
        holding = False
        try:
            _deliver(came, handlers)
        finally:
            # A handler that raises in here leaves `hold` in the place of others: it holds no more.
            for number, handler in handlers.items():
                _signal.signal(number, handler)


def _deliver(came: list[int], handlers: _Handlers) -> None:
    """Calls the handlers in order; one that raises keeps no other from being called."""
    if came:
        number = came.pop(0)
        try:
            handlers[number](number, None)
        finally:
            _deliver(came, handlers)
