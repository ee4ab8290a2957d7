"""Runs the HTTP server until a signal, and drains it."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from carrel.config import HttpConfig, ServerConfig
from carrel.server.shutdown import (
    CANCEL_AT,
    CLOSE_AT,
    DROP_AT,
    Countdown,
    Watchdog,
    close_toolboxes,
    handling_signals,
)
from carrel.server.standard_streams import standard_streams_taken
from carrel.server.stderrlog import logging_to_stderr

from .address import Address, listen

if TYPE_CHECKING:
    from carrel.server.app import App
    from carrel.server.reload import Renewal
    from carrel.server.toolbox_loader import ToolboxLoader
    from carrel.tools import Toolbox

logger = logging.getLogger(__name__)

#: Seconds between two searches for idle sessions.
_SWEEP_SECONDS: Final = 15.0


def serve(
    make_toolbox: Callable[[], Toolbox],
    address: Address,
    settings: ServerConfig,
    http: HttpConfig,
    *,
    renewal: Renewal | None = None,
    may_offer: Callable[[], bool] = lambda: False,
    watches: Callable[[], bool] = lambda: False,
    expects: Callable[[str], bool] = lambda _tool: False,
    adapt: Callable[[App], object] = lambda _app: None,
) -> int:
    """As `carrel.server.serve_http`; `adapt` is called with the new `App`."""
    from carrel.server.toolbox_loader import ToolboxLoader

    sockets = listen(address)
    watchdog = Watchdog(settings.shutdown_seconds)
    with standard_streams_taken(), logging_to_stderr(settings.log_level):
        try:
            loader = ToolboxLoader(
                make_toolbox, may_offer=may_offer, watches=watches, expects=expects
            )
            server = _Served(loader, settings, http, renewal, adapt)
            asyncio.run(server.run(sockets, address, watchdog))
        except KeyboardInterrupt:
            pass  # before the handlers were set; no call was running
        except Exception:
            logger.exception("the server failed")
            return 1
        finally:
            watchdog.stop()
    return 0


class _Served:
    """One run of the server."""

    def __init__(
        self,
        loader: ToolboxLoader,
        settings: ServerConfig,
        http: HttpConfig,
        renewal: Renewal | None,
        adapt: Callable[[App], object],
    ) -> None:
        self._loader = loader
        self._settings = settings
        self._http = http
        self._renewal = renewal
        self._adapt = adapt
        self._hurry = asyncio.Event()
        self._ended = asyncio.Event()

    def _stop(self) -> None:
        """Handles a signal: the first starts the shutdown; a later one ends the grace period."""
        if self._ended.is_set():
            self._hurry.set()
        self._ended.set()

    async def run(self, sockets: list[socket.socket], address: Address, watchdog: Watchdog) -> None:
        """Serves until a signal."""
        import uvicorn

        from carrel.server.app import App
        from carrel.server.reload import Reloader

        from .connection import protocol_class
        from .gate import Gate
        from .sessions import SessionManager, Sessions

        loop = asyncio.get_running_loop()
        app = App(self._loader, self._settings, raw=False, is_shared=True)
        self._adapt(app)
        reloader = None
        if self._renewal is not None:
            reloader = Reloader(self._loader, app, self._renewal)
            app.last_reload = reloader.report
        sessions = Sessions(self._http)
        sessions.on_ended = app.session_ended
        manager = SessionManager(
            app.sdk,
            session_idle_timeout=self._http.session_idle_seconds,
            max_request_body_size=self._http.max_body_bytes,
            max_sessions=self._http.max_sessions,
        )
        gate = Gate(
            manager,
            sessions,
            self._settings,
            self._http,
            is_ready=lambda: self._loader.loaded is not None,
        )
        config = uvicorn.Config(
            gate,
            http=protocol_class(self._http),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=int(self._http.keep_alive_seconds) or 1,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=self._http.max_header_bytes,
        )
        server = _server(config)
        self._loader.start()
        if reloader is not None:
            reloader.start()
        _announce(address, sockets)
        with handling_signals(loop, self._stop, reloader.ask if reloader is not None else None):
            async with manager.run():
                serving = loop.create_task(server.serve(sockets=sockets))
                sweeping = loop.create_task(_sweep(sessions))
                ending = loop.create_task(self._ended.wait())
                await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
                ending.cancel()
                watchdog.start()
                if reloader is not None:
                    reloader.stop()
                end = Countdown(loop, self._settings.shutdown_seconds)
                gate.stop()
                app.close_subscriptions()
                await end.until(CANCEL_AT, gate.settled(), self._hurry.wait())
                app.calls.cancel_all()
                await end.until(DROP_AT, gate.settled())
                server.should_exit = True
                await end.until(CLOSE_AT, serving)
                sweeping.cancel()
            app.log.detach()
            await close_toolboxes(self._loader, end)
            if serving.done() and not serving.cancelled():
                serving.result()  # raises the server's exception, if any


def _server(config: Any) -> Any:
    """Returns uvicorn's server without its signal handlers, because this module has its own."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(config)


async def _sweep(sessions: Any) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        sessions.expire()


def _announce(address: Address, sockets: list[socket.socket]) -> None:
    """Prints the endpoint's URL, which includes the port that the system chose, to stderr."""
    port = sockets[0].getsockname()[1]
    sys.stderr.write(f"carrel: serving {address.url(port)}\n")
    sys.stderr.flush()
