"""Reads what is not counted: readiness, plugins, upstreams, sessions, memory."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError, StateError
from carrel.principal import LOCAL, acting_as
from carrel.version import __version__

from .process import process_usage, start_time

if TYPE_CHECKING:
    from carrel.plugins.state import PluginState
    from carrel.server.toolbox_loader import ToolboxLoader
    from carrel.telemetry import UpstreamState
    from carrel.tools import Toolbox

    from .audit import AuditLog
    from .catalogue import Catalogue
    from .live_calls import LiveCalls

logger = logging.getLogger(__name__)

#: Seconds for which the states of plugins and the store's health are not read again.
_FRESH: Final = 2.0


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether the server should get calls.

    Attributes:
        reasons: why not; empty when it should. No paths and no secrets.
        plugins: state → number of plugins.
        reload: the outcome of the last reload, without its text; None before the first.
    """

    reasons: tuple[str, ...]
    plugins: dict[str, int]
    reload: dict[str, Any] | None

    @property
    def is_ready(self) -> bool:
        """Whether there is no reason against it."""
        return not self.reasons


class Gauges:
    """Reads the parts of one server. Thread-safe; methods that block say so.

    Args:
        metrics: the families that are set.
        live: the running calls.
        audit: the audit log; None without one.
        needs_audit: whether no call runs while the audit log cannot be written.
        store_health: returns what is wrong with the store; None when it answers. May block.

    Attributes:
        is_draining: whether the server will stop soon, and new clients should go elsewhere.
        loader: of the toolbox; None before the server starts.
        sessions: returns the number of open sessions.
        requests: returns the number of unanswered requests over HTTP.
        log_lost: returns the number of dropped log lines.
        last_reload: returns the outcome of the last reload.
    """

    def __init__(
        self,
        metrics: Catalogue,
        live: LiveCalls,
        *,
        audit: AuditLog | None,
        needs_audit: bool,
        store_health: Callable[[], CarrelError | None],
    ) -> None:
        self._metrics = metrics
        self._live = live
        self._audit = audit
        self._needs_audit = needs_audit
        self._store_health = store_health
        self.is_draining = False
        self.loader: ToolboxLoader | None = None
        self.sessions: Callable[[], int] = lambda: 0
        self.requests: Callable[[], int] = lambda: 0
        self.log_lost: Callable[[], int] = lambda: 0
        self.last_reload: Callable[[], dict[str, Any] | None] = lambda: None
        self._reading_states = threading.Lock()
        self._asking_store = threading.Lock()
        self._states: tuple[float, object, Sequence[PluginState]] = (-_FRESH, None, ())
        self._store: tuple[float, CarrelError | None] = (-_FRESH, None)
        metrics.build.set(1, __version__)
        metrics.started.set(start_time())
        metrics.reload_ok.set(1)
        metrics.reload_at.set(time.time())

    @property
    def toolbox(self) -> Toolbox | None:
        """The server's own toolbox, for every principal; None before it is loaded."""
        if self.loader is None:
            return None
        with acting_as(LOCAL):
            return self.loader.loaded

    def plugins(self) -> Sequence[PluginState]:
        """Returns the states of the plugins; blocks while they are read."""
        toolbox = self.toolbox
        if toolbox is None:
            return ()
        with self._reading_states:
            at, of, states = self._states
            if of is not toolbox or time.monotonic() - at > _FRESH:
                states = toolbox.known_plugins()
                self._states = time.monotonic(), toolbox, states
        return states

    def upstreams(self) -> Sequence[UpstreamState]:
        """Returns the pace and the breakers of upstreams."""
        toolbox = self.toolbox
        return () if toolbox is None else toolbox.upstreams()

    def store_fault(self) -> CarrelError | None:
        """Returns what is wrong with the store; blocks while it is asked."""
        with self._asking_store:
            at, fault = self._store
            if time.monotonic() - at > _FRESH:
                try:
                    fault = self._store_health()
                except CarrelError as error:
                    fault = error
                if fault is not None and self._store[1] is None:
                    logger.warning("the store cannot be used: %s", fault.message)
                self._store = time.monotonic(), fault
        return fault

    def readiness(self) -> Readiness:
        """Returns whether the server should get calls; blocks."""
        reasons = []
        if self.is_draining:
            reasons.append("draining")
        if self.toolbox is None:
            has_failed = self.loader is not None and self.loader.has_failed
            reasons.append("failed" if has_failed else "starting")
        fault = self.store_fault()
        # A full store still serves rate limits, and is as full for every other replica.
        if fault is not None and not (isinstance(fault, StateError) and fault.is_full):
            reasons.append("store")
        # Also where calls do not need it: what was kept is written soon after there is space.
        if self._audit is not None and not self._audit.retry() and self._needs_audit:
            reasons.append("audit_log")
        counted: dict[str, int] = {}
        for plugin in self.plugins():
            state = state_of(plugin)
            counted[state] = counted.get(state, 0) + 1
        reload = self.last_reload()
        if reload is not None:
            error = reload.get("error")
            reload = {key: reload[key] for key in ("ok", "at") if key in reload}
            if isinstance(error, dict):
                reload["code"] = error.get("code")
        return Readiness(tuple(reasons), counted, reload)

    def collect(self) -> None:
        """Sets the gauges; blocks."""
        metrics = self._metrics
        metrics.calls_running.set(len(self._live))
        metrics.sessions.set(self.sessions())
        metrics.requests_running.set(self.requests())
        metrics.ready.set(float(self.readiness().is_ready))
        metrics.store_up.set(float(self.store_fault() is None))
        metrics.plugin_ready.replace(
            ((plugin.name,), float(plugin.error is None))
            for plugin in self.plugins()
            if plugin.enabled
        )
        metrics.log_lost.replace([((), float(self.log_lost()))])
        if self._audit is not None:
            metrics.audit_lines.replace([((), float(self._audit.lines))])
            metrics.audit_failing.set(float(self._audit.is_failing))
        states = [((state.plugin, state.upstream), state) for state in self.upstreams()]
        metrics.upstream_queue.replace((labels, state.waiting) for labels, state in states)
        metrics.upstream_running.replace((labels, state.in_flight) for labels, state in states)
        named = [pair for pair in states if pair[1].upstream != _PUBLIC_WEB]
        metrics.upstream_interval.replace((labels, state.interval) for labels, state in named)
        metrics.upstream_paused.replace((labels, state.paused) for labels, state in states)
        metrics.circuit_open.replace(
            (labels, float(state.open_for > 0)) for labels, state in states
        )
        self._collect_process()

    def _collect_process(self) -> None:
        metrics, usage = self._metrics, process_usage()
        metrics.cpu.replace([((), usage.cpu_seconds)])
        for family, value in (
            (metrics.memory, usage.resident_bytes),
            (metrics.files, usage.open_files),
            (metrics.threads, usage.threads),
            (metrics.guest_memory, usage.guest_bytes),
        ):
            family.replace([] if value is None else [((), float(value))])


#: The upstream of all hosts of the public web: its numbers are sums.
_PUBLIC_WEB: Final = "public-web"


def state_of(plugin: PluginState) -> str:
    """Returns `ready`, `failed` or `off`."""
    if not plugin.enabled:
        return "off"
    return "ready" if plugin.error is None else "failed"
