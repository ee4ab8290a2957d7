"""Serves one client over stdin and stdout until a clean end."""

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

from carrel.config import ServerConfig

from .standard_streams import standard_streams_taken
from .stderrlog import logging_to_stderr

if TYPE_CHECKING:
    from carrel.tools import Toolbox

    from .reload import Renewal
    from .toolbox_loader import ToolboxLoader

logger = logging.getLogger(__name__)

#: Shares of `shutdown_seconds`: when running calls are cancelled, when remaining requests are
#: dropped, when unread responses are dropped. At the full time the process ends unconditionally.
_CANCEL_AT: Final = 0.8
_DROP_AT: Final = 0.9
_CLOSE_AT: Final = 0.95


def serve(
    make_toolbox: Callable[[], Toolbox],
    settings: ServerConfig,
    *,
    renewal: Renewal | None = None,
    may_offer: Callable[[], bool] = lambda: False,
    watches: Callable[[], bool] = lambda: False,
    expects: Callable[[str], bool] = lambda _tool: False,
) -> int:
    """As `carrel.server.serve_stdio`."""
    # Imported here, before the loop runs, because importing the MCP SDK takes most of the time to
    # the first response and would block the loop.
    from . import app, reload, transport  # noqa: F401
    from .toolbox_loader import ToolboxLoader

    watchdog = Watchdog(settings.shutdown_seconds)
    with standard_streams_taken() as (stdin, stdout), logging_to_stderr(settings.log_level):
        try:
            loader = ToolboxLoader(
                make_toolbox, may_offer=may_offer, watches=watches, expects=expects
            )
            asyncio.run(_serve(loader, settings, renewal, (stdin, stdout), watchdog))
        except KeyboardInterrupt:
            pass  # before the handlers were set; no call was running
        except Exception:
            logger.exception("the server failed")
            return 1
        finally:
            watchdog.stop()
    return 0


async def _serve(
    loader: ToolboxLoader,
    settings: ServerConfig,
    renewal: Renewal | None,
    streams: tuple[int, int],
    watchdog: Watchdog,
) -> None:
    from .app import App
    from .pipes import open_sink, open_source
    from .reload import Reloader
    from .transport import Transport

    loop = asyncio.get_running_loop()
    stdin, stdout = streams
    app = App(loader, settings, raw=True)
    reloader = Reloader(loader, app, renewal) if renewal is not None else None
    if reloader is not None:
        app.last_reload = reloader.report

    def when_answered() -> None:
        loader.start()
        if reloader is not None:
            reloader.start()

    transport = Transport(
        open_source(loop, stdin), open_sink(loop, stdout), settings, on_first_answer=when_answered
    )
    transport.use_fast_path(app.calls, find_list=app.known_list)
    hurry = asyncio.Event()

    def stop() -> None:
        """Handles a signal: the first ends the input; a later one also ends the grace period."""
        if transport.ended.is_set():
            hurry.set()
        transport.stop_reading()

    with _signals(loop, stop, reloader.ask if reloader is not None else None):
        serving = loop.create_task(
            app.sdk.run(transport.reading, transport.writing, app.initialization_options())
        )
        ending = loop.create_task(transport.ended.wait())
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        watchdog.start()
        if reloader is not None:
            reloader.stop()
        end = Countdown(loop, settings.shutdown_seconds)
        app.close_subscriptions()
        await end.until(_CANCEL_AT, transport.settled(), serving, hurry.wait())
        transport.abandon()
        app.calls.cancel_all()
        if not transport.broken:
            await end.until(_DROP_AT, transport.settled(), serving)
        transport.finish()
        if not await end.until(_CLOSE_AT, serving):
            serving.cancel()
        await end.until(_CLOSE_AT, transport.flushed())
        transport.close()
        app.log.detach()
        await _close(loader, end)
        if serving.done() and not serving.cancelled():
            serving.result()  # raises the server's exception, if any


async def _close(loader: ToolboxLoader, end: Countdown) -> None:
    from carrel.awaiting import run_in_thread

    for toolbox in (loader.loaded, *loader.retired()):
        if toolbox is None:
            continue
        closing = run_in_thread(toolbox.close)
        await end.until(1.0, closing)
        if closing.done() and (error := closing.exception()) is not None:
            logger.error("closing the toolbox failed", exc_info=error)


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


def _ignoring_the_frame(wake: Callable[[], object], _number: int, _frame: object) -> None:
    wake()


@contextmanager
def _signals(
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
    wanted = dict.fromkeys(("SIGINT", "SIGTERM", "SIGBREAK"), stop)
    if reload is not None:
        wanted["SIGHUP"] = reload
    handlers = {getattr(signal, name): one for name, one in wanted.items() if hasattr(signal, name)}
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
