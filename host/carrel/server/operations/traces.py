"""Sends OpenTelemetry spans: one for each call, run of a guest, and attempt at an upstream.

A call's span continues the client's trace: `traceparent` in the request's `_meta`, else in the
HTTP headers. The client decides the trace's id and may say that it is not sampled. It cannot make
this server send more than `trace_ratio` of all traces.

Spans have names of plugins, tools, upstreams and hosts, never a URL, an argument or a result.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError, ConfigError
from carrel.principal import current_principal
from carrel.version import __version__

from .request_facts import RequestFacts

if TYPE_CHECKING:
    from opentelemetry.trace import Span

logger = logging.getLogger(__name__)

_CARRIED: Final = ("traceparent", "tracestate")
_PACKAGES: Final = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http")
#: Seconds for sending what is left at the end.
_LAST_SECONDS: Final = 1.0


def require_otel() -> None:
    """Checks that what makes and sends spans is installed.

    Raises:
        ConfigError: the extra `otel` is not installed.
    """
    import importlib.util

    try:
        found = [importlib.util.find_spec(package) for package in _PACKAGES]
    except ModuleNotFoundError:  # of a package above
        found = [None]
    if None in found:
        raise ConfigError(
            ["server.traces needs the extra `otel`; to install it: pip install 'carrel[otel]'"]
        )


class Traces:
    """Makes spans and sends them to a collector.

    Args:
        endpoint: base URL of the collector; spans are posted to `/v1/traces` below it.
        ratio: share of traces that are sent.

    Raises:
        ConfigError: the extra `otel` is not installed.
    """

    def __init__(self, endpoint: str, ratio: float) -> None:
        require_otel()
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        sampled = TraceIdRatioBased(ratio)
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "carrel", "service.version": __version__}),
            sampler=ParentBased(sampled, remote_parent_sampled=sampled),
            shutdown_on_exit=False,
        )
        exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("carrel", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def call(
        self, facts: RequestFacts, carrier: Mapping[str, str], protocol: str
    ) -> Iterator[None]:
        """Wraps a request of a client in a span, which is the parent of the others."""
        from opentelemetry.trace import SpanKind

        attributes: dict[str, str] = {
            "mcp.method.name": facts.method,
            "mcp.protocol.version": protocol,
            "enduser.id": current_principal().name,
        }
        if facts.tool is not None:
            attributes["gen_ai.tool.name"] = facts.tool
        if facts.request_id is not None:
            attributes["jsonrpc.request.id"] = facts.request_id
        name = facts.method if facts.tool is None else f"{facts.method} {facts.tool}"
        with self._tracer.start_as_current_span(
            name,
            context=self._propagator.extract(dict(carrier)),
            kind=SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            context = span.get_span_context()
            facts.trace_id = f"{context.trace_id:032x}"
            with _failing(span):
                yield
                # A failed call has a result, so no exception comes here.
                if facts.error_code is not None:
                    _mark(span, facts.error_code)

    @contextmanager
    def guest(self, plugin: str, tool: str) -> Iterator[None]:
        """Wraps a run of a guest in a span."""
        with (
            self._tracer.start_as_current_span(
                f"guest {plugin}",
                attributes={"carrel.plugin": plugin, "gen_ai.tool.name": tool},
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _failing(span),
        ):
            yield

    @contextmanager
    def attempt(self, upstream: str, host: str, method: str) -> Iterator[AttemptSpan]:
        """Wraps an attempt at an upstream in a span."""
        from opentelemetry.trace import SpanKind

        with (
            self._tracer.start_as_current_span(
                f"{method} {upstream}",
                kind=SpanKind.CLIENT,
                attributes={
                    "http.request.method": method,
                    "server.address": host,
                    "carrel.upstream": upstream,
                },
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
            _failing(span),
        ):
            yield AttemptSpan(span, self._headers)

    def _headers(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return {name.title(): value for name, value in carrier.items() if name == "traceparent"}

    def close(self) -> None:
        """Sends the remaining spans; those that are not sent within a second are lost.

        In a thread, because OpenTelemetry's own limits do not hold here: `force_flush` ignores its
        timeout, and `shutdown` waits 30 s for a collector that accepts and does not answer.
        """
        sending = threading.Thread(
            target=self._provider.shutdown, name="carrel-traces", daemon=True
        )
        sending.start()
        sending.join(_LAST_SECONDS)
        if sending.is_alive():
            logger.warning("the last spans were not sent: the collector did not answer in time")


class AttemptSpan:
    """The span of an attempt at an upstream."""

    def __init__(self, span: Span, headers: Any) -> None:
        self._span = span
        self._headers = headers

    def sent(self) -> None:
        """Notes when the wait for pace ended."""
        self._span.add_event("sent")

    def ended(self, result: str) -> None:
        """Notes the status or the kind of failure."""
        if result.isdigit():
            self._span.set_attribute("http.response.status_code", int(result))
        if not result.isdigit() or int(result) >= 400:
            _mark(self._span, result)

    def headers(self) -> Mapping[str, str]:
        """Returns the header that continues this span."""
        headers: Mapping[str, str] = self._headers()
        return headers


def carrier_of(meta: object, headers: Mapping[str, str] | None) -> dict[str, str]:
    """Returns the trace context of a request: that of `_meta`, else that of its HTTP headers."""
    for source in (meta if isinstance(meta, Mapping) else {}, headers or {}):
        found = {
            name: value
            for name in _CARRIED
            if isinstance(value := source.get(name), str) and len(value) <= 512
        }
        if "traceparent" in found:
            return found
    return {}


@contextmanager
def _failing(span: Span) -> Iterator[None]:
    """Marks the span by an exception's code; the exception's text may quote anything."""
    try:
        yield
    except CarrelError as error:
        _mark(span, error.error_code)
        raise
    except BaseException as error:
        _mark(span, type(error).__name__)
        raise


def _mark(span: Span, error: str) -> None:
    """Marks a span as failed."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", error)
    span.set_status(StatusCode.ERROR)
