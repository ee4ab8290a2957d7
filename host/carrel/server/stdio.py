"""Serving one client over stdin and stdout, from its first byte to a clean end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from .settings import ServerSettings
from .standard_streams import standard_streams_taken
from .stderrlog import logging_to_stderr
from .toolbox import Toolbox

logger = logging.getLogger(__name__)

#: Of `shutdown_seconds`: when running calls are cancelled, when whatever remains is dropped, when
#: unread answers are. At the whole of it the process ends, come what may.
_CANCEL_AT: Final = 0.8
_DROP_AT: Final = 0.9
_CLOSE_AT: Final = 0.95


def serve(make_toolbox: Callable[[], Toolbox], settings: ServerSettings) -> int:
    """As `carrel.server.serve_stdio`."""
    watchdog = Watchdog(settings.shutdown_seconds)
    with standard_streams_taken() as (stdin, stdout), logging_to_stderr(settings.log_level):
        try:
            asyncio.run(_serve(make_toolbox, settings, stdin, stdout, watchdog))
        except KeyboardInterrupt:
            pass  # before the handlers were set; nothing was running yet
        except Exception:
            logger.exception("the server failed")
            return 1
        finally:
            watchdog.stop()
    return 0


async def _serve(
    make_toolbox: Callable[[], Toolbox],
    settings: ServerSettings,
    stdin: int,
    stdout: int,
    watchdog: Watchdog,
) -> None:
    # Imported here: these bring the MCP SDK, which is most of the time to a first answer.
    from .app import App
    from .loader import ToolboxLoader
    from .pipes import open_sink, open_source
    from .transport import Transport

    loop = asyncio.get_running_loop()
    loader = ToolboxLoader(make_toolbox)
    app = App(loader, settings, raw=True)
    transport = Transport(
        open_source(loop, stdin), open_sink(loop, stdout), settings, on_first_answer=loader.start
    )
    transport.use_lane(app.calls)
    hurry = asyncio.Event()

    def stop() -> None:
        """A signal ends the input; a second one, or one after its end, ends the patience too."""
        if transport.ended.is_set():
            hurry.set()
        transport.stop_reading()

    with _signals(loop, stop):
        serving = loop.create_task(
            app.sdk.run(transport.reading, transport.writing, app.initialization_options())
        )
        ending = loop.create_task(transport.ended.wait())
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        watchdog.start()
        end = Countdown(loop, settings.shutdown_seconds)
        app.close_subscriptions()
        await end.until(_CANCEL_AT, transport.settled(), serving, hurry.wait())
        app.calls.cancel_all()
        if not transport.broken:
            await end.until(_DROP_AT, transport.settled(), serving)
        transport.finish()
        if not await end.until(_CLOSE_AT, serving):
            serving.cancel()
        await end.until(_CLOSE_AT, transport.flushed())
        transport.close()
        app.log.detach()
        await _close(loader.loaded, end)
        if serving.done() and not serving.cancelled():
            serving.result()  # raises what the server failed of, if it did


async def _close(toolbox: Toolbox | None, end: Countdown) -> None:
    if toolbox is None:
        return
    from .loader import run_in_thread

    closing = run_in_thread(toolbox.close)
    await end.until(1.0, closing)
    if closing.done() and (error := closing.exception()) is not None:
        logger.error("the toolbox did not close", exc_info=error)


class Countdown:
    """The time that is left for an orderly end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._start = loop.time()
        self._seconds = seconds

    async def until(self, share: float, *events: Any) -> bool:
        """Waits for the first of `events`, until `share` of the time has passed.

        Returns whether one of them came. Coroutines among them are cancelled, futures are not.
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
    """Ends the process when an orderly end does not come about: a client waits for that."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._bite)
        self._timer.daemon = True

    def start(self) -> None:
        """Begins to count; it does so once."""
        self._timer.start()

    def stop(self) -> None:
        """The end came about."""
        self._timer.cancel()

    def _bite(self) -> None:
        logger.error("the server hung while it ended, and was cut off")
        logging.shutdown()
        os._exit(0)


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Iterator[None]:
    """While the context is open, SIGINT and SIGTERM call `stop` on the loop."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread's owner
        return
    names = ("SIGINT", "SIGTERM", "SIGBREAK")
    wanted = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in wanted}
    for number in wanted:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:
            signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(stop))
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
