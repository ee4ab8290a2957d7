"""Runs the HTTP server until a signal, and drains it."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
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
    from carrel.errors import CarrelError
    from carrel.principal import Principal
    from carrel.server.app import App
    from carrel.server.identity.allowances import Allowances
    from carrel.server.identity.opening import TokenIdentity
    from carrel.server.operations.operations import Operations
    from carrel.server.reload import Reloader, Renewal
    from carrel.server.toolbox_loader import ToolboxLoader
    from carrel.tools import Toolbox

    from .admission import RequestAdmission
    from .gate import ScopesFor
    from .identity import Identifier

logger = logging.getLogger(__name__)

#: Sessions that the SDK may still count after they ended here.
_ENDING: Final = 64
#: Connections that asyncio accepts in one turn of the event loop. It takes this from the length of
#: the system's queue; with all of a flood at once, requests of others would wait for them.
_ACCEPTED_AT_ONCE: Final = 4
#: Connections that wait in the system's queue to be accepted.
_QUEUE: Final = 1024
#: Descriptors for files of the cache, connections to upstreams, and pipes.
_OTHER_DESCRIPTORS: Final = 512
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
    identity: TokenIdentity | None = None,
    store_health: Callable[[], CarrelError | None] = lambda: None,
    adapt: Callable[[App], object] = lambda _app: None,
) -> int:
    """As `carrel.server.serve_http`; `adapt` is called with the new `App`."""
    from carrel.server.identity.roots import toolbox_of
    from carrel.server.operations.metrics_listener import parse_place
    from carrel.server.operations.operations import Operations
    from carrel.server.toolbox_loader import ToolboxLoader

    sockets = listen(address)
    if identity is not None:
        identity = identity.at(address.url(sockets[0].getsockname()[1]))
    metrics_address = parse_place(http.metrics)
    beside = [] if metrics_address is None else listen(Address(*metrics_address), "http.metrics")
    operations = Operations(settings, http, store_health=store_health)
    watchdog = Watchdog(settings.shutdown_seconds)
    logging_here = logging_to_stderr(settings.log_level, settings.log_format)
    with standard_streams_taken(), logging_here as log, operations.open():
        _allow_descriptors(http.max_connections)
        if log is not None:
            operations.gauges.log_lost = lambda: log.lost
        try:
            loader = ToolboxLoader(
                make_toolbox,
                may_offer=may_offer,
                watches=watches,
                expects=expects,
                derive=None if identity is None else toolbox_of,
            )
            operations.attach(loader)
            server = _Served(
                loader,
                settings,
                http,
                renewal=renewal,
                identity=identity,
                adapt=adapt,
                operations=operations,
            )
            asyncio.run(server.run(sockets, beside, address, watchdog))
        except KeyboardInterrupt:
            pass  # before the handlers were set; no call was running
        except Exception:
            logger.exception("the server failed")
            return 1
        finally:
            watchdog.stop()
    return 0


def _allow_descriptors(connections: int) -> None:
    """Raises the limit of open files so that this many connections leave some for other files.

    Many systems allow 1,024 by default, and the program may raise that.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHER_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        logger.warning(
            "%d files may be open, too few for http.max_connections (%d); raise the limit to %d",
            allowed,
            connections,
            needed,
        )


class _Served:
    """One run of the server."""

    def __init__(
        self,
        loader: ToolboxLoader,
        settings: ServerConfig,
        http: HttpConfig,
        *,
        renewal: Renewal | None,
        identity: TokenIdentity | None,
        adapt: Callable[[App], object],
        operations: Operations,
    ) -> None:
        self._loader = loader
        self._settings = settings
        self._http = http
        self._renewal = renewal
        self._identity = identity
        self._adapt = adapt
        self._operations = operations
        self._hurry = asyncio.Event()
        self._ended = asyncio.Event()

    def _stop(self) -> None:
        """Handles a signal: the first starts the shutdown; a later one ends the grace period."""
        if self._ended.is_set():
            self._hurry.set()
        self._ended.set()

    def _make_app(self, checks: _Checks) -> tuple[App, Reloader | None]:
        """Returns the server's side of the protocol, and what reloads its configuration."""
        from carrel.server.app import App
        from carrel.server.reload import Reloader

        app = App(
            self._loader,
            self._settings,
            raw=False,
            is_shared=True,
            allowances=checks.allowances,
        )
        self._adapt(app)
        if self._operations.is_observing:
            app.observe(self._operations)
        if self._renewal is None:
            return app, None
        reloader = Reloader(self._loader, app, self._renewal)
        app.last_reload = reloader.report
        self._operations.watch_reloads(reloader)
        return app, reloader

    async def run(
        self,
        sockets: list[socket.socket],
        beside: list[socket.socket],
        address: Address,
        watchdog: Watchdog,
    ) -> None:
        """Serves until a signal; metrics on the sockets `beside`, if there are any."""
        from carrel.server.operations.metrics_listener import MetricsApp, parse_place
        from carrel.server.operations.routes import Routes

        from .gate import Gate
        from .origins import OriginCheck
        from .plain_calls import PlainCalls
        from .sessions import SessionManager, Sessions

        loop = asyncio.get_running_loop()
        checks = _Checks(self._identity, self._loader, self._settings)
        app, reloader = self._make_app(checks)
        sessions = Sessions(self._http)
        plain_calls = PlainCalls(app, sessions, self._settings.max_in_flight)
        manager = SessionManager(
            app.sdk,
            session_idle_timeout=None,  # `Sessions` counts plain calls too
            max_request_body_size=self._http.max_body_bytes,
            max_sessions=self._http.max_sessions + _ENDING,
        )
        routes = Routes(self._operations)
        gate = Gate(
            manager,
            sessions,
            self._settings,
            self._http,
            # A traced call takes the SDK's way, where its headers and `_meta` are known.
            plain_calls=None if self._operations.is_tracing else plain_calls,
            routes=routes,
            on_refused=self._operations.refused,
            identifier=checks.identifier,
            allowances=checks.allowances,
            admission=checks.admission,
            scopes_for=checks.scopes_for,
            own_host=None if self._identity is None else self._identity.host,
        )
        sessions.on_expired = gate.expire
        gauges = self._operations.gauges
        gauges.sessions, gauges.requests = lambda: len(sessions), lambda: gate.in_flight
        server = _server(self._config(gate))
        # A loopback address has loopback names only; on another one, Prometheus may use any name.
        metrics_address = parse_place(self._http.metrics)
        is_loopback = metrics_address is None or Address(*metrics_address).is_loopback
        is_own = OriginCheck((), ()).is_own if is_loopback else None
        metrics = _server(self._config(MetricsApp(routes, is_own)))
        self._loader.start()
        if reloader is not None:
            reloader.start()
        _announce(address, sockets, beside, self._settings.log_format)
        with handling_signals(loop, self._stop, self._operations.on_hangup(reloader)):
            async with manager.run():
                serving = loop.create_task(server.serve(sockets=sockets))
                scraped = loop.create_task(_scraped(metrics, beside))
                sweeping = loop.create_task(_sweep(sessions))
                await self._until_signal(serving)
                watchdog.start()
                if reloader is not None:
                    reloader.stop()
                end = Countdown(loop, self._settings.shutdown_seconds)
                gate.stop()
                app.close_subscriptions()
                await end.until(CANCEL_AT, gate.all_answered(), self._hurry.wait())
                app.calls.cancel_all()
                await end.until(DROP_AT, gate.all_answered())
                server.should_exit = metrics.should_exit = True
                await end.until(CLOSE_AT, serving)
                await end.until(CLOSE_AT, scraped)
                sweeping.cancel()
            app.log.detach()
            await close_toolboxes(self._loader, end)
            if serving.done() and not serving.cancelled():
                serving.result()  # raises the server's exception, if any

    async def _until_signal(self, serving: asyncio.Task[None]) -> None:
        """Waits for a signal, or for the server's end by itself; then drains."""
        ending = asyncio.ensure_future(self._ended.wait())
        await asyncio.wait({serving, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        self._operations.gauges.is_draining = True
        if not serving.done():
            await self._drain()

    async def _drain(self) -> None:
        """Serves for `drain_seconds` more, so that load balancers notice; a signal ends it."""
        seconds = self._settings.drain_seconds
        if seconds <= 0:
            return
        logger.warning("draining for %g s: /readyz answers with 503", seconds)
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()  # the next signal ends the grace period of running calls

    def _config(self, application: Any) -> Any:
        """Returns uvicorn's configuration with the limits of HTTP."""
        import uvicorn

        from .connection import protocol_class

        return uvicorn.Config(
            application,
            http=protocol_class(self._http, self._operations.refused),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=int(self._http.keep_alive_seconds) or 1,
            # `run` ends the wait before.
            timeout_graceful_shutdown=math.ceil(self._settings.shutdown_seconds) or 1,
            backlog=_ACCEPTED_AT_ONCE,
        )


class _Checks:
    """The parts of an identity for gate and app; without one, everyone is the local user."""

    def __init__(
        self, identity: TokenIdentity | None, loader: ToolboxLoader, settings: ServerConfig
    ) -> None:
        self.identifier: Identifier | None = None
        self.allowances: Allowances | None = None
        self.admission: RequestAdmission | None = None
        self.scopes_for: ScopesFor = _no_scopes
        if identity is not None:
            from carrel.server.identity.scoping import Scoping

            from .admission import RequestAdmission

            grants = identity.grants
            self.identifier = identity.identifier(grants)
            self.allowances = identity.allowances(settings.patience_seconds)
            self.admission = RequestAdmission(identity.settings.calls_per_second)
            self.scopes_for = Scoping(loader, grants)


def _no_scopes(_principal: Principal, _message: dict[str, Any]) -> Sequence[str]:
    return ()


def _server(config: Any) -> Any:
    """Returns uvicorn's server without its signal handlers, because this module has its own."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            for sock in sockets or ():
                sock.listen(_QUEUE)  # asyncio has set it to `_ACCEPTED_AT_ONCE`

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(config)


async def _scraped(server: Any, sockets: list[socket.socket]) -> None:
    """Serves metrics on their own sockets, if there are any."""
    if sockets:
        await server.serve(sockets=sockets)


async def _sweep(sessions: Any) -> None:
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        sessions.expire()


def _announce(
    address: Address, sockets: list[socket.socket], beside: list[socket.socket], form: str
) -> None:
    """Prints the URLs, which include the ports that the system chose, to stderr.

    Args:
        address: that was asked for.
        sockets: of the server.
        beside: of the metrics, if they have an address of their own.
        form: of the log, `text` or `json`.
    """
    port = sockets[0].getsockname()[1]
    messages = [f"serving {address.url(port)}"]
    for sock in beside:
        host, port = sock.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        messages.append(f"metrics at http://{shown}:{port}/metrics")
    if form == "json":
        from carrel.server.operations.json_log import JsonFormatter
        from carrel.server.operations.redaction import LogRedactor

        # Whatever `log_level` is, as in text.
        facts = {"name": __name__, "levelno": logging.INFO, "levelname": "INFO"}
        records = [logging.makeLogRecord({**facts, "msg": message}) for message in messages]
        lines = [JsonFormatter(LogRedactor()).format(record) for record in records]
    else:
        lines = [f"carrel: {message}" for message in messages]
    try:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # stderr is closed, or its disk is full
