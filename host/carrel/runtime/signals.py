"""Defers signal handlers in the main thread during critical sections.

Python runs signal handlers in the main thread between any two bytecodes, and the handler of Ctrl-C
raises. An exception between taking a worker and recording it would leak the worker; inside
wasmtime-py, which frees an object before it clears the pointer, it could cause a double free.
"""

from __future__ import annotations

# The C module: `signal` converts handlers to enums, which takes 80 µs for all of them.
import _signal  # type: ignore[import-not-found, unused-ignore]
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_Handlers = Mapping[int, Callable[[int, Any], Any]]


@contextmanager
def held_back() -> Iterator[None]:
    """Defers signals; their handlers are called when the block ends.

    Takes 10 µs in the main thread, and nothing in other threads, where no handlers run.
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
        # A thread that forks is the main thread in the child process.
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
            # If a handler raises here, `hold` may stay installed; it then defers nothing.
            for number, handler in handlers.items():
                _signal.signal(number, handler)


def _deliver(came: list[int], handlers: _Handlers) -> None:
    """Calls the handlers in order; calls all of them even if one raises."""
    if came:
        number = came.pop(0)
        try:
            handlers[number](number, None)
        finally:
            _deliver(came, handlers)
