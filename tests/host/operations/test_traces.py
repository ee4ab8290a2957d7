"""Tests traces with a collector that decodes what is sent: from the client to the upstream."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.server.operations.request_facts import RequestFacts
from carrel.server.operations.traces import Traces, carrier_of
from support.http_server import in_session, request
from support.operated_server import (
    HOST,
    SECRET,
    Collector,
    OperatedServer,
    an_upstream,
    attributes,
    eventually,
    probe_plugin,
)
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def parent(trace: str = TRACE, *, flags: str = "01") -> str:
    return f"00-{trace}-{SPAN}-{flags}"


def spans_of(collector: Collector, trace: str, count: int) -> dict[str, Any]:
    """Waits for so many spans of a trace, and returns them by the first word of their names."""

    def found() -> list[Any]:
        return [span for span in list(collector.spans) if span.trace_id.hex() == trace]

    # A call's span ends after those below it, and may come in a later batch.
    eventually(
        lambda: len(found()) >= count and any(one.name.startswith("tools/call") for one in found())
    )
    return {span.name.partition(" ")[0]: span for span in found()}


def open_path(server: OperatedServer, path: str, **more: Any) -> Any:
    return server.open(f"https://{HOST}/v1/{path}", **more)


def test_the_client_s_trace_continues_through_guest_and_upstream(
    server: OperatedServer, upstream: Upstream, collector: Collector
) -> None:
    upstream.on("/v1/traced", Reply(body=b"x"))
    open_path(server, "traced?q=private-words", meta={"traceparent": parent()})
    spans = spans_of(collector, TRACE, 3)
    assert spans.keys() == {"tools/call", "guest", "GET"}
    call, guest, attempt = spans["tools/call"], spans["guest"], spans["GET"]
    assert call.parent_span_id.hex() == SPAN
    assert guest.parent_span_id == call.span_id
    assert attempt.parent_span_id == guest.span_id
    assert (call.kind, attempt.kind) == (2, 3)  # server, client
    call_attributes = attributes(call)
    assert call_attributes["mcp.method.name"] == "tools/call"
    assert call_attributes["gen_ai.tool.name"] == "probe_open"
    assert call_attributes["enduser.id"] == "local"
    assert attributes(guest)["carrel.plugin"] == "probe"
    attempt_attributes = attributes(attempt)
    assert attempt_attributes["server.address"] == HOST
    assert attempt_attributes["http.response.status_code"] == 200
    assert [event.name for event in attempt.events] == ["sent"]


@pytest.mark.requirement("operate:secrets:spans")
def test_spans_have_no_url_no_argument_and_no_secret(collector: Collector) -> None:
    text = "".join(map(str, collector.spans))
    assert "tools/call" in text
    for word in ("private-words", "/v1/", SECRET, "api_key"):
        assert word not in text


def test_the_trace_of_the_http_headers_is_used_without_one_in_meta(
    server: OperatedServer, upstream: Upstream, collector: Collector
) -> None:
    trace = "1" * 32
    open_path(server, "paper", headers={"traceparent": parent(trace)})
    assert spans_of(collector, trace, 1)["tools/call"].parent_span_id.hex() == SPAN
    trace = "2" * 32
    session = server.initialize()
    params = {
        "name": "probe_open",
        "arguments": {"url": f"https://{HOST}/v1/paper"},
        "_meta": {"traceparent": parent(trace)},
    }
    server.post(request("tools/call", params), headers=in_session(session))
    spans_of(collector, trace, 1)


def test_a_failure_has_its_code(server: OperatedServer, collector: Collector) -> None:
    trace = "3" * 32
    server.call("probe_open", {"url": 3}, meta={"traceparent": parent(trace)})
    call = spans_of(collector, trace, 1)["tools/call"]
    assert attributes(call)["error.type"] == "invalid_arguments"
    assert call.status.code == 2
    assert not call.status.message
    assert not call.events


def test_the_upstream_does_not_see_the_trace(server: OperatedServer, upstream: Upstream) -> None:
    upstream.on("/v1/unseen", Reply(body=b"x"))
    open_path(server, "unseen", meta={"traceparent": parent("4" * 32)})
    [seen] = [one for one in upstream.seen if one.path.startswith("/v1/unseen")]
    assert not {"traceparent", "tracestate", "baggage"} & seen.headers.keys()


@pytest.fixture
def granted(
    tmp_path: Path, code_folder: Path, collector: Collector
) -> Iterator[tuple[OperatedServer, Upstream]]:
    grant = {"allowed_hosts": [HOST], "secrets": ["key"], "trace_hosts": [HOST]}
    with an_upstream() as upstream:
        upstream.on("/v1/paper", Reply(body=b"a paper"))
        plugins = {"probe": {"url": probe_plugin(tmp_path), "runtime_config": grant}}
        with OperatedServer(
            tmp_path,
            upstream,
            code_folder,
            plugins=plugins,
            server={"traces": collector.url, "trace_ratio": 0},
        ) as server:
            yield server.ready(), upstream


def test_an_upstream_that_is_granted_the_trace_sees_it_and_the_ratio_holds(
    granted: tuple[OperatedServer, Upstream], collector: Collector
) -> None:
    server, upstream = granted
    trace = "5" * 32
    open_path(server, "paper", meta={"traceparent": parent(trace), "tracestate": "a=private"})
    [seen] = upstream.seen
    version, trace_id, _span, flags = seen.headers["traceparent"].split("-")
    assert (version, trace_id) == ("00", trace)
    assert "tracestate" not in seen.headers
    # The client's flag says that it is sampled, and the operator sends none.
    assert flags == "00"
    assert server.stop()[0] == 0
    assert not [one for one in collector.spans if one.trace_id.hex() == trace]


@pytest.mark.parametrize(
    "given",
    ["", "nonsense", "00-" + "0" * 32 + f"-{SPAN}-01", f"ff-{TRACE}-{SPAN}-01", "x" * 600, "\x00"],
)
def test_an_unusable_traceparent_starts_a_new_trace(
    server: OperatedServer, collector: Collector, given: str
) -> None:
    before = len(collector.named("tools/call probe_open"))
    assert "result" in open_path(server, "paper", meta={"traceparent": given})
    eventually(lambda: len(collector.named("tools/call probe_open")) > before)
    assert not collector.named("tools/call probe_open")[-1].parent_span_id


def test_the_trace_context_is_taken_from_meta_first() -> None:
    headers = {"traceparent": "h", "tracestate": "hs"}
    assert carrier_of({"traceparent": "m"}, headers) == {"traceparent": "m"}
    assert carrier_of({"traceparent": 3}, headers) == headers
    assert carrier_of(None, None) == {}
    assert carrier_of({"tracestate": "s"}, None) == {}


def test_the_collector_learns_the_name_of_the_service(collector: Collector) -> None:
    resource = attributes(collector.resources[0])
    assert resource["service.name"] == "carrel"
    assert "service.version" in resource


@pytest.mark.parametrize("collector_is", ["gone", "silent"])
def test_a_collector_that_does_not_answer_holds_up_neither_calls_nor_the_end(
    collector_is: str,
) -> None:
    """A silent collector accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = 9 if collector_is == "gone" else silent.getsockname()[1]
        traces = Traces(f"http://127.0.0.1:{port}", 1.0)
        started = time.monotonic()
        for number in range(1000):  # more than one batch
            with traces.call(RequestFacts("tools/call", request_id=number), {}, "2025-11-25"):
                pass
        assert time.monotonic() - started < 2
        started = time.monotonic()
        traces.close()
        assert time.monotonic() - started < 2


def test_without_the_extra_the_setting_is_an_error(tmp_path: Path) -> None:
    code = """
import sys
sys.modules["opentelemetry.sdk"] = None
sys.modules["opentelemetry.exporter"] = None
from carrel.errors import ConfigError
from carrel.server.operations.traces import Traces
try:
    Traces("http://127.0.0.1:9", 1.0)
except ConfigError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'carrel[otel]'" in done.stdout


def test_spans_are_made_on_stdio_too(
    tmp_path: Path, code_folder: Path, collector: Collector
) -> None:
    from support.stdio_client import StdioClient

    settings = {"traces": collector.url, "log_format": "json", "log_level": "info"}
    scripted = Path(__file__).resolve().parents[2] / "support" / "scripted_toolbox.py"
    trace = "6" * 32
    with StdioClient([sys.executable, str(scripted), json.dumps(settings)]) as client:
        client.open()
        params = {"name": "echo", "arguments": {}, "_meta": {"traceparent": parent(trace)}}
        assert "result" in client.request("tools/call", params)
        assert client.finish() == 0
    spans_of(collector, trace, 1)
