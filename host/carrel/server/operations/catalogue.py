"""Lists every metric of a server.

`docs/reference/metrics.md` has the same table; a test compares them.

Label values are bounded: names of plugins, tools and upstreams are the configuration's, codes and
reasons are closed lists. No label is a URL, a host of the public web, or text of a client. The
principal is a label of one family, which is filled only if the operator asks for it.
"""

from __future__ import annotations

from typing import Final

from .exposition import HistogramFamily, MetricFamily

#: Seconds; from a cached result to the longest call.
_SECONDS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

#: Statuses that are label values; another one is its class, such as `4xx`.
_STATUSES: Final = (
    "200 201 202 204 206 301 302 303 304 307 308 400 401 403 404 408 409 410 413 414 415 421 422 "
    "425 429 451 500 501 502 503 504"
)
STATUSES: Final = frozenset(_STATUSES.split())


class Catalogue:
    """The families, by the names that the code counts with."""

    def __init__(self) -> None:
        counter, gauge = MetricFamily, _gauge
        own = ("plugin", "tool")
        upstream = ("plugin", "upstream")
        self.calls = counter(
            "carrel_calls_total", "Tool calls, prompts and resources that ended.", labels=own
        )
        self.call_errors = counter(
            "carrel_call_errors_total", "Calls that ended with an error.", labels=(*own, "code")
        )
        self.call_seconds = HistogramFamily(
            "carrel_call_seconds", "Time from a call's start to its result.", own, bounds=_SECONDS
        )
        self.calls_running = gauge("carrel_calls_running", "Calls that run now.")
        self.calls_by_principal = counter(
            "carrel_calls_by_principal_total",
            "Calls by principal, if http.metrics_by_principal is true.",
            labels=("principal", "outcome"),
        )
        self.limits = counter(
            "carrel_limits_exceeded_total",
            "Runs of guests that exceeded a limit.",
            labels=("plugin", "limit"),
        )
        self.requests_running = gauge(
            "carrel_http_requests_running", "Requests over HTTP that are not answered yet."
        )
        self.sessions = gauge("carrel_http_sessions", "Open sessions.")
        self.refusals = counter(
            "carrel_http_refusals_total",
            "Requests and connections that were refused before a handler, by the refusal's name.",
            labels=("refusal",),
        )
        self.cache = counter(
            "carrel_cache_requests_total",
            "Requests to upstreams that may be cached: hit, miss, or shared with one in flight.",
            labels=("plugin", "result"),
        )
        self.result_cache = counter(
            "carrel_result_cache_hits_total",
            "Calls that were answered without running the guest.",
            labels=("plugin",),
        )
        self.upstream_requests = counter(
            "carrel_upstream_requests_total",
            "Attempts at upstreams, by status or kind of failure.",
            labels=(*upstream, "result"),
        )
        self.upstream_wait = HistogramFamily(
            "carrel_upstream_wait_seconds",
            "Time that a request waited for pace and concurrency.",
            upstream,
            bounds=_SECONDS,
        )
        self.upstream_seconds = HistogramFamily(
            "carrel_upstream_seconds",
            "Time from sending a request to the end of its response.",
            upstream,
            bounds=_SECONDS,
        )
        self.upstream_queue = gauge(
            "carrel_upstream_waiting_requests", "Requests in the queue.", upstream
        )
        self.upstream_running = gauge(
            "carrel_upstream_running_requests", "Requests that were sent.", upstream
        )
        self.upstream_interval = gauge(
            "carrel_upstream_pace_seconds", "Seconds between two requests, by the pace.", upstream
        )
        self.upstream_paused = gauge(
            "carrel_upstream_paused_seconds",
            "Seconds for which the upstream asked for no request.",
            upstream,
        )
        self.circuit_open = gauge(
            "carrel_upstream_circuit_open", "1 while the circuit breaker is open.", upstream
        )
        self.circuit_opened = counter(
            "carrel_upstream_circuit_opened_total",
            "Times that the circuit breaker opened.",
            labels=upstream,
        )
        self.denials = counter(
            "carrel_denials_total",
            "Requests of plugins that policy refused.",
            labels=("plugin", "reason"),
        )
        self.guest_runs = counter(
            "carrel_guest_runs_total", "Runs of guests that ended.", labels=("plugin",)
        )
        self.guest_cpu = counter(
            "carrel_guest_cpu_seconds_total", "Processor time of guests.", labels=("plugin",)
        )
        self.guests_running = gauge(
            "carrel_guests_running", "Guests that run or wait for an upstream.", ("plugin",)
        )
        self.guest_memory = gauge(
            "carrel_guest_memory_bytes",
            "Linear memory of all guests that is in RAM; Linux only.",
        )
        self.plugin_ready = gauge(
            "carrel_plugin_ready", "1 for a plugin that can be called, 0 for a failed one.",
            ("plugin",),
        )  # fmt: skip
        self.ready = gauge("carrel_ready", "1 while /readyz answers with 200.")
        self.store_up = gauge("carrel_store_up", "1 while the store answers and has room.")
        self.reloads = counter(
            "carrel_config_reloads_total", "Reloads of the configuration.", labels=("result",)
        )
        self.reload_ok = gauge(
            "carrel_config_last_reload_successful", "0 if the last reload kept the old one."
        )
        self.reload_at = gauge(
            "carrel_config_last_reload_success_timestamp_seconds",
            "When the configuration in use was loaded, in seconds since 1970.",
        )
        self.audit_lines = counter("carrel_audit_lines_total", "Lines of the audit log.")
        self.audit_failing = gauge(
            "carrel_audit_failing", "1 while the audit log cannot be written."
        )
        self.log_lost = counter(
            "carrel_log_lines_lost_total", "Log lines that were dropped: stderr was not read."
        )
        self.build = gauge(
            "carrel_build_info", "1; the label is the version of Carrel.", ("version",)
        )
        self.started = gauge(
            "process_start_time_seconds", "When the process started, in seconds since 1970."
        )
        self.cpu = counter("process_cpu_seconds_total", "Processor time of the process.")
        self.memory = gauge("process_resident_memory_bytes", "Memory of the process in RAM.")
        self.files = gauge("process_open_fds", "Open file descriptors.")
        self.threads = gauge("carrel_process_threads", "Threads of the process.")

    def families(self) -> list[MetricFamily]:
        """Returns every family, in the order of their definition."""
        return [value for value in vars(self).values() if isinstance(value, MetricFamily)]


def _gauge(name: str, help_text: str, labels: tuple[str, ...] = ()) -> MetricFamily:
    return MetricFamily(name, help_text, "gauge", labels)


def status_label(result: str) -> str:
    """Returns a result of an attempt as a label value: a known status, a class, or a failure."""
    if not result.isdigit() or result in STATUSES:
        return result
    return f"{result[0]}xx"
