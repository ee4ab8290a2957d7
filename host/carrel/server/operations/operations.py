"""Counts and records what the calls of one server do, for its operator.

`Operations` is the process's observer while it is open, so the fetch layer and the sandbox report
to it (`carrel.telemetry`). The server reports when a request begins and where its parts are.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from carrel import telemetry
from carrel.config import HttpConfig, ServerConfig
from carrel.errors import CarrelError, HiddenToolError, LimitExceeded
from carrel.principal import current_principal

from .approvals import record_changes, record_start
from .audit import AuditLog, AuditUnavailableError
from .catalogue import Catalogue, status_label
from .gauges import Gauges
from .live_calls import LiveCall, LiveCalls
from .redaction import LogRedactor, secrets_in
from .request_facts import RequestFacts, Serving, current_facts, described
from .traces import AttemptSpan, Traces, carrier_of

if TYPE_CHECKING:
    from carrel.server.reload import Reloader
    from carrel.server.toolbox_loader import ToolboxLoader

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Names of label values for what no tool and no plugin of the toolbox is.
_UNKNOWN: Final = "unknown"
_INTERRUPTED: Final = "cancelled"
#: Requests without a span: one would last for hours, and the other says nothing.
_UNTRACED: Final = frozenset({"subscriptions/listen", "ping"})
#: Refusals of the HTTP server that the audit log has: of a client's identity or origin.
_AUDITED_STATUS: Final = frozenset({401, 403, 421})


class Operations:
    """One server's health, metrics, traces and audit log.

    Args:
        settings: of the server.
        http: of the server over HTTP; None on stdio.
        store_health: returns what is wrong with the store; None when it answers. May block.

    Attributes:
        metrics: every family.
        live: running calls and recent denials.
        gauges: sets the values that are read, not counted.
        audit: the audit log; None without one.

    Raises:
        ConfigError: the audit log or the traces cannot be used.
    """

    def __init__(
        self,
        settings: ServerConfig,
        http: HttpConfig | None = None,
        *,
        store_health: Callable[[], CarrelError | None] = lambda: None,
    ) -> None:
        self.settings = settings
        self.http = http
        self.metrics = Catalogue()
        self.live = LiveCalls()
        self.audit = None
        if settings.audit_log is not None:
            redact = LogRedactor(secrets_in(os.environ))
            self.audit = AuditLog(settings.audit_log, redact=redact)
        self._refuses = settings.audit_failure == "refuse"
        self.gauges = Gauges(
            self.metrics,
            self.live,
            audit=self.audit,
            needs_audit=self._refuses,
            store_health=store_health,
        )
        #: Tool → its name and its plugin, of the toolbox that was used last.
        self._tools: dict[str, tuple[str, str]] = {}
        self._counts_principals = http is not None and http.metrics_by_principal
        self._traces = (
            None if settings.traces is None else Traces(settings.traces, settings.trace_ratio)
        )

    @property
    def is_observing(self) -> bool:
        """Whether anything shows or records what calls do."""
        shown = self.http is not None and (self.http.metrics != "off" or self.http.page)
        return shown or self._traces is not None or self.audit is not None

    @property
    def is_tracing(self) -> bool:
        """Whether calls are traced."""
        return self._traces is not None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Observes the process while the context is open; then sends and closes what is left."""
        with telemetry.observing(self if self.is_observing else None):
            try:
                yield
            finally:
                if self._traces is not None:
                    self._traces.close()
                if self.audit is not None:
                    self.audit.close()

    def attach(self, loader: ToolboxLoader) -> None:
        """Sets the loader of the tools, whose names are label values and approvals are recorded."""
        self.gauges.loader = loader
        if self.audit is not None:
            loader.on_made = partial(record_start, self.audit)

    # Requests and calls

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        request_id: object,
        session: str | None,
        *,
        protocol: str,
        headers: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[None]:
        """Sets the facts of a request, and traces it, while the context is open."""
        facts = RequestFacts(method, params, request_id, session)
        if self._traces is None or request_id is None or method in _UNTRACED:
            return Serving(facts)
        carrier = carrier_of((params or {}).get("_meta"), headers)
        return self._traced(self._traces, facts, carrier, protocol)

    @contextmanager
    def _traced(
        self, traces: Traces, facts: RequestFacts, carrier: Mapping[str, str], protocol: str
    ) -> Iterator[None]:
        with Serving(facts), traces.call(facts, carrier, protocol):
            yield

    def begin(
        self, tool: str, params: Mapping[str, Any], request_id: object, session: str | None
    ) -> PlainCallReport:
        """Returns what observes a call on the fast path; see `RequestObserver`."""
        facts = RequestFacts("tools/call", params, request_id, session)
        return PlainCallReport(self, self._tool_labels(tool), facts)

    async def call(self, tool: str, run: Callable[[], Awaitable[T]]) -> T:
        """Runs a call and counts its outcome.

        Args:
            tool: the tool's name; empty for a call of another method.
            run: runs it.

        Raises:
            AuditUnavailableError: denials could not be recorded, and must be.
        """
        facts = current_facts()
        tool, plugin = self._tool_labels(tool or (facts.method if facts is not None else _UNKNOWN))
        principal = current_principal().name
        started = time.monotonic()
        number = self.live.began(LiveCall(tool, plugin, principal, facts, started))
        code = "ok"
        try:
            self.require_audit()
            return await run()
        except HiddenToolError as error:
            code = error.error_code
            self.denied(telemetry.Denial(error.plugin or "", tool, "", "tool_hidden", error.grant))
            raise
        except CarrelError as error:
            code = error.error_code
            raise
        except Exception:
            code = "internal"
            raise
        except BaseException:
            code = _INTERRUPTED
            raise
        finally:
            self.live.ended(number)
            if facts is not None and code != "ok":
                facts.error_code = code
            self.count(plugin, tool, principal, code, time.monotonic() - started)

    def require_audit(self) -> None:
        """Refuses calls whose denials could not be recorded.

        Raises:
            AuditUnavailableError: the log cannot be written, and must be.
        """
        if self._refuses and self.audit is not None and not self.audit.retry():
            raise AuditUnavailableError(self.audit.path)

    def count(self, plugin: str, tool: str, principal: str, code: str, seconds: float) -> None:
        """Counts a call that ended."""
        metrics = self.metrics
        metrics.calls.add(plugin, tool)
        metrics.call_seconds.observe(seconds, plugin, tool)
        if code != "ok":
            metrics.call_errors.add(plugin, tool, code)
        if self._counts_principals:
            metrics.calls_by_principal.add(principal, code)

    def _tool_labels(self, tool: str) -> tuple[str, str]:
        """Returns the label values of a tool: its name and its plugin."""
        labels = self._tools.get(tool)
        if labels is not None:
            return labels
        if tool in _METHODS:
            return tool, ""
        toolbox = self.gauges.toolbox
        if toolbox is not None:
            # Tools of a module may change at any time, so an unknown one is looked up again.
            self._tools = {listed.name: (listed.name, listed.plugin) for listed in toolbox.tools()}
        return self._tools.get(tool, (_UNKNOWN, _UNKNOWN))

    def refused(
        self, name: str, status: int, peer: str, principal: str | None = None, reason: str = ""
    ) -> None:
        """Counts a request that the HTTP server refused; records those of an identity or origin.

        Args:
            name: of the refusal.
            status: of HTTP.
            peer: the client's address, which behind a proxy is the proxy's.
            principal: who asked, if the token says so.
            reason: why, without the token.
        """
        self.metrics.refusals.add(name)
        if self.audit is not None and status in _AUDITED_STATUS:
            who = {} if principal is None else {"principal": principal}
            self.audit.write(
                "refusal", refusal=name, status=status, peer=peer, **who, reason=reason
            )

    def watch_reloads(self, reloader: Reloader) -> None:
        """Records reloads, and what they changed in approvals and grants."""
        self.gauges.last_reload = reloader.report
        reloader.on_reload = self.configuration_loaded
        if self.audit is not None:
            reloader.on_renewed = partial(record_changes, self.audit)

    def on_hangup(self, reloader: Reloader | None) -> Callable[[], None] | None:
        """Returns what SIGHUP does: opens the audit log again, and reloads."""
        if self.audit is None:
            return None if reloader is None else reloader.ask
        audit = self.audit

        def hang_up() -> None:
            audit.reopen()
            if reloader is not None:
                reloader.ask()

        return hang_up

    def configuration_loaded(self, outcome: Mapping[str, Any]) -> None:
        """Records a reload of the configuration."""
        ok = bool(outcome.get("ok"))
        self.metrics.reloads.add("ok" if ok else "failed")
        self.metrics.reload_ok.set(float(ok))
        self._tools = {}
        if ok:
            self.metrics.reload_at.set(time.time())

    # carrel.telemetry.Observer

    def cache(self, plugin: str, outcome: telemetry.CacheOutcome) -> None:
        """Counts a request that could be answered by the cache."""
        self.metrics.cache.add(plugin, outcome)

    def result_cache_hit(self, plugin: str) -> None:
        """Counts a call that was answered without running the guest."""
        self.metrics.result_cache.add(plugin)

    def denied(self, denial: telemetry.Denial) -> None:
        """Counts and records a refused request."""
        principal = current_principal().name
        self.metrics.denials.add(denial.plugin, denial.reason)
        recent = self.live.denied(denial, principal)
        if self.audit is not None:
            self.audit.write(
                "denial",
                **{
                    "principal": principal,
                    **described(),
                    "plugin": recent.plugin,
                    "tool": recent.tool,
                    "host": recent.host,
                    "reason": recent.reason,
                    "grant": recent.grant,
                },
            )

    @contextmanager
    def guest(self, plugin: str, tool: str) -> Iterator[GuestWatch]:
        """Counts and traces a run of a guest."""
        metrics, watch = self.metrics, GuestWatch()
        metrics.guests_running.add(plugin)
        try:
            if self._traces is None:
                yield watch
            else:
                with self._traces.guest(plugin, tool):
                    yield watch
        except LimitExceeded as error:
            metrics.limits.add(plugin, error.limit)
            raise
        finally:
            metrics.guests_running.add(plugin, amount=-1.0)
            metrics.guest_runs.add(plugin)
            metrics.guest_cpu.add(plugin, amount=max(0.0, watch.cpu_seconds))

    @contextmanager
    def attempt(self, plugin: str, upstream: str, host: str, method: str) -> Iterator[AttemptWatch]:
        """Counts and traces an attempt at an upstream."""
        if self._traces is None:
            watch = AttemptWatch()
            try:
                yield watch
            finally:
                self._attempted(plugin, upstream, watch)
            return
        with self._traces.attempt(upstream, host, method) as span:
            watch = AttemptWatch(span)
            try:
                yield watch
            finally:
                self._attempted(plugin, upstream, watch)

    def _attempted(self, plugin: str, upstream: str, watch: AttemptWatch) -> None:
        end = time.monotonic()
        sent = watch.sent_at
        metrics = self.metrics
        metrics.upstream_requests.add(plugin, upstream, status_label(watch.result))
        metrics.upstream_wait.observe((sent or end) - watch.began, plugin, upstream)
        if sent is not None:
            metrics.upstream_seconds.observe(end - sent, plugin, upstream)

    def circuit_opened(self, plugin: str, upstream: str) -> None:
        """Counts a circuit breaker that opened."""
        self.metrics.circuit_opened.add(plugin, upstream)
        logger.warning("%s: the circuit breaker of %s opened", plugin, upstream)


#: Methods that are calls of their own, and no tools.
_METHODS: Final = frozenset({"resources/read", "prompts/get", "completion/complete"})


class PlainCallReport:
    """One call on the fast path; see `carrel.server.request_observer.CallReport`."""

    __slots__ = ("_facts", "_labels", "_number", "_principal", "_since", "_view", "code")

    def __init__(self, view: Operations, labels: tuple[str, str], facts: RequestFacts) -> None:
        self._view = view
        self._labels = labels
        self._facts = facts
        self._principal = current_principal().name
        self._since = time.monotonic()
        self._number = view.live.began(LiveCall(*labels, self._principal, facts, self._since))
        self.code = "ok"

    def run(self, start: Callable[[], T]) -> T:
        """Starts the call in the context of its request."""
        self._view.require_audit()
        with Serving(self._facts):
            return start()

    def ended(self) -> None:
        """Counts the call."""
        self._view.live.ended(self._number)
        tool, plugin = self._labels
        seconds = time.monotonic() - self._since
        self._view.count(plugin, tool, self._principal, self.code, seconds)

    def dropped(self) -> None:
        """Forgets the call: the SDK handles it."""
        self._view.live.ended(self._number)


class GuestWatch:
    """One run of a guest."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0

    def used(self, cpu_seconds: float) -> None:
        """Notes the processor time that the guest used."""
        self.cpu_seconds = cpu_seconds


class AttemptWatch:
    """One attempt at an upstream.

    Attributes:
        began: when its wait for pace began.
        sent_at: when it ended; None if it was not sent.
        result: the status, or the kind of failure; `cancelled` until it is known.
    """

    def __init__(self, span: AttemptSpan | None = None) -> None:
        self._span = span
        self.began = time.monotonic()
        self.sent_at: float | None = None
        self.result = _INTERRUPTED

    def sent(self) -> None:
        """Ends the wait."""
        self.sent_at = time.monotonic()
        if self._span is not None:
            self._span.sent()

    def ended(self, result: str) -> None:
        """Notes the outcome."""
        self.result = result
        if self._span is not None:
            self._span.ended(result)

    def headers(self) -> Mapping[str, str]:
        """Returns the headers that continue the trace."""
        return {} if self._span is None else self._span.headers()
