"""Serves one client over stdin and stdout until a clean end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import nullcontext
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

    from .app import App
    from .operations.operations import Operations
    from .reload import Reloader, Renewal
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

    operations = _operations(settings)
    watchdog = Watchdog(settings.shutdown_seconds)
    with (
        standard_streams_taken() as streams,
        logging_to_stderr(settings.log_level, settings.log_format),
        nullcontext() if operations is None else operations.open(),
    ):
        try:
            loader = ToolboxLoader(
                make_toolbox, may_offer=may_offer, watches=watches, expects=expects
            )
            server = _Served(loader, settings, renewal, operations)
            asyncio.run(server.run(streams, watchdog))
        except KeyboardInterrupt:
            pass  # before the handlers were set; no call was running
        except Exception:
            logger.exception("the server failed")
            return 1
        finally:
            watchdog.stop()
    return 0


def _operations(settings: ServerConfig) -> Operations | None:
    """Returns the operator's view; None if nothing is traced, recorded or logged with facts."""
    is_observed = settings.audit_log is not None or settings.traces is not None
    if not is_observed and settings.log_format == "text":
        return None
    from .operations.operations import Operations

    return Operations(settings)


class _Served:
    """One run of the server."""

    def __init__(
        self,
        loader: ToolboxLoader,
        settings: ServerConfig,
        renewal: Renewal | None,
        operations: Operations | None,
    ) -> None:
        self._loader = loader
        self._settings = settings
        self._renewal = renewal
        self._operations = operations

    def _make_app(self) -> tuple[App, Reloader | None]:
        """Returns the server's side of the protocol, and what reloads its configuration."""
        from .app import App
        from .reload import Reloader

        app = App(self._loader, self._settings, raw=True)
        if self._renewal is None:
            return app, None
        reloader = Reloader(self._loader, app, self._renewal)
        app.last_reload = reloader.report
        return app, reloader

    def _observe(self, app: App, reloader: Reloader | None) -> Callable[[], None] | None:
        """Reports to the operator's view, if there is one; returns what SIGHUP does."""
        if self._operations is None:
            return None if reloader is None else reloader.ask
        self._operations.attach(self._loader)
        app.observe(self._operations)
        if reloader is not None:
            self._operations.watch_reloads(reloader)
        return self._operations.on_hangup(reloader)

    async def run(self, streams: tuple[int, int], watchdog: Watchdog) -> None:
        """Serves one client until a clean end."""
        from .pipes import open_sink, open_source
        from .transport import Transport

        loop, settings = asyncio.get_running_loop(), self._settings
        stdin, stdout = streams
        app, reloader = self._make_app()
        hang_up = self._observe(app, reloader)

        def when_answered() -> None:
            self._loader.start()
            if reloader is not None:
                reloader.start()

        transport = Transport(
            open_source(loop, stdin),
            open_sink(loop, stdout),
            settings,
            on_first_answer=when_answered,
        )
        if self._operations is None or not self._operations.is_tracing:
            transport.use_fast_path(app.calls, find_list=app.known_list)
        hurry = asyncio.Event()

        def stop() -> None:
            """Handles a signal: the first ends the input; a later one ends the grace period."""
            if transport.ended.is_set():
                hurry.set()
            transport.stop_reading()

        with handling_signals(loop, stop, hang_up):
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
            await end.until(CANCEL_AT, transport.all_answered(), serving, hurry.wait())
            transport.abandon()
            app.calls.cancel_all()
            if not transport.broken:
                await end.until(DROP_AT, transport.all_answered(), serving)
            transport.finish()
            if not await end.until(CLOSE_AT, serving):
                serving.cancel()
            await end.until(CLOSE_AT, transport.flushed())
            transport.close()
            app.log.detach()
            await close_toolboxes(self._loader, end)
            if serving.done() and not serving.cancelled():
                serving.result()  # raises the server's exception, if any
