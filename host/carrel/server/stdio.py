"""Serves one client over stdin and stdout until a clean end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.config import ServerConfig

from .shutdown import (
    CANCEL_AT,
    CLOSE_AT,
    DROP_AT,
    Countdown,
    Watchdog,
    close_toolboxes,
    handling_signals,
)
from .standard_streams import standard_streams_taken
from .stderrlog import logging_to_stderr

if TYPE_CHECKING:
    from carrel.tools import Toolbox

    from .reload import Renewal
    from .toolbox_loader import ToolboxLoader

logger = logging.getLogger(__name__)


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

    with handling_signals(loop, stop, reloader.ask if reloader is not None else None):
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
        await end.until(CANCEL_AT, transport.settled(), serving, hurry.wait())
        transport.abandon()
        app.calls.cancel_all()
        if not transport.broken:
            await end.until(DROP_AT, transport.settled(), serving)
        transport.finish()
        if not await end.until(CLOSE_AT, serving):
            serving.cancel()
        await end.until(CLOSE_AT, transport.flushed())
        transport.close()
        app.log.detach()
        await close_toolboxes(loader, end)
        if serving.done() and not serving.cancelled():
            serving.result()  # raises the server's exception, if any
