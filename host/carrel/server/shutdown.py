"""Shuts a server down within a time limit: signals, remaining time, and a watchdog."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .toolbox_loader import ToolboxLoader

logger = logging.getLogger(__name__)

#: Shares of `shutdown_seconds`: when running calls are cancelled, when remaining requests are
#: dropped, when unread responses are dropped. At the full time the process ends unconditionally.
CANCEL_AT: Final = 0.8
DROP_AT: Final = 0.9
CLOSE_AT: Final = 0.95


class Countdown:
    """The remaining time for an orderly shutdown."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._start = loop.time()
        self._seconds = seconds

    async def until(self, share: float, *events: Any) -> bool:
        """Waits for the first of `events`, until `share` of the time has passed.

        Returns whether one of them occurred. Cancels coroutines among them, but not futures.
        """
        left = self._start + share * self._seconds - self._loop.time()
        futures = {asyncio.ensure_future(event) for event in events}
        done, pending = await asyncio.wait(
            futures, timeout=max(0.0, left), return_when=asyncio.FIRST_COMPLETED
        )
        for future in pending:
            if future not in events:
                future.cancel()
        return bool(done)


class Watchdog:
    """Ends the process if the orderly shutdown hangs, because the client waits for its end."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._bite)
        self._timer.daemon = True

    def start(self) -> None:
        """Starts the timer; later calls have no effect."""
        self._timer.start()

    def stop(self) -> None:
        """Stops the timer."""
        self._timer.cancel()

    def _bite(self) -> None:
        logger.error("shutdown timed out; the process was ended")
        logging.shutdown()
        os._exit(0)


async def close_toolboxes(loader: ToolboxLoader, end: Countdown) -> None:
    """Closes the current toolbox and the replaced ones, within the remaining time."""
    from carrel.awaiting import run_in_thread

    for toolbox in (loader.loaded, *loader.retired()):
        if toolbox is None:
            continue
        closing = run_in_thread(toolbox.close)
        await end.until(1.0, closing)
        if closing.done() and (error := closing.exception()) is not None:
            logger.error("closing the toolbox failed", exc_info=error)


def _ignoring_the_frame(wake: Callable[[], object], _number: int, _frame: object) -> None:
    wake()


@contextmanager
def handling_signals(
    loop: asyncio.AbstractEventLoop, stop: Callable[[], None], reload: Callable[[], None] | None
) -> Iterator[None]:
    """Calls `stop` on SIGINT and SIGTERM and `reload` on SIGHUP while the context is open.

    A SIGINT that was ignored at the start stays ignored: shells start background jobs so, to
    protect them from Ctrl-C. SIGTERM and the end of stdin end such a server. SIGHUP reloads even if
    it was ignored (`nohup`).
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set signal handlers
        return
    by_name = dict.fromkeys(("SIGINT", "SIGTERM", "SIGBREAK"), stop)
    if reload is not None:
        by_name["SIGHUP"] = reload
    handlers = {
        getattr(signal, name): handle for name, handle in by_name.items() if hasattr(signal, name)
    }
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        del handlers[signal.SIGINT]
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handle in handlers.items():
        try:
            loop.add_signal_handler(number, handle)
        except NotImplementedError:
            wake = partial(loop.call_soon_threadsafe, handle)
            signal.signal(number, partial(_ignoring_the_frame, wake))
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
