"""Tests `/metrics` of a server with a real plugin, and the dashboard and alerts that use it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from carrel.server.http.refusals import REFUSALS
from carrel.server.operations.catalogue import STATUSES, Catalogue
from support.http_server import HttpServer, request
from support.operated_server import HOST, OperatedServer, eventually
from support.pages import page
from support.registries import peer
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

ROOT = Path(__file__).resolve().parents[3]
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
DASHBOARD = ROOT / "deploy" / "grafana" / "carrel.json"

#: Of Prometheus itself, for every target.
_OWN = {"up"}


#: Suffixes of samples that count; other tests may have used the server before.
_COUNTS = ("_total", "_count", "_sum")


class Samples:
    """The samples of a text, as Prometheus' client reads them; counts are those since `before`."""

    def __init__(self, text: str, before: Samples | None = None) -> None:
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.samples = [one for family in self.families.values() for one in family.samples]
        self.names = {one.name for one in self.samples}
        self._before = before

    def value(self, name: str, **labels: str) -> float:
        found = sum(
            one.value
            for one in self.samples
            if one.name == name and labels.items() <= one.labels.items()
        )
        if self._before is not None and name.endswith(_COUNTS):
            return found - self._before.value(name, **labels)
        return found


@pytest.fixture(scope="module")
def used(server: OperatedServer, upstream: Upstream) -> Samples:
    """Makes calls of each outcome, and returns what was counted."""
    upstream.on("/v1/counted", Reply(body=b"a paper"))
    upstream.on("/v1/absent", Reply(404, body=b"none"))
    upstream.on("/v1/broken", Reply(503))
    before = Samples(server.metrics())
    server.open(f"https://{HOST}/v1/counted")
    server.open(f"https://{HOST}/v1/counted")
    server.open(f"https://{HOST}/v1/absent")
    server.open(f"https://{HOST}/v1/broken")
    server.open("https://other.example.org/v1/x")
    session = server.initialize()
    server.open(f"https://{HOST}/v1/counted", session=session)
    server.call("no_such_tool_of_anybody", {})
    server.call("probe_open", {"url": 3})
    server.post(b"{", headers={"mcp-protocol-version": "2026-07-28"})
    server.post(request("ping"), headers={"host": "evil.example.org"})
    return Samples(server.metrics(), before)


def test_calls_and_errors_are_counted_by_tool_and_code(used: Samples) -> None:
    assert used.value("carrel_calls_total", plugin="probe", tool="probe_open") == 7
    assert used.value("carrel_call_errors_total", code="invalid_arguments") == 1
    assert used.value("carrel_call_seconds_count", tool="probe_open") == 7
    assert used.value("carrel_calls_by_principal_total", principal="local", outcome="ok") == 6


def test_a_tool_that_does_not_exist_is_no_label_value(used: Samples) -> None:
    assert used.value("carrel_call_errors_total", tool="unknown", code="unknown_tool") == 1
    assert "no_such_tool_of_anybody" not in str(used.samples)


def test_requests_and_waits_are_counted_by_upstream(used: Samples) -> None:
    at = {"plugin": "probe", "upstream": "example"}
    assert used.value("carrel_upstream_requests_total", **at, result="200") == 1
    assert used.value("carrel_upstream_requests_total", **at, result="404") == 1
    assert used.value("carrel_upstream_requests_total", **at, result="503") == 3
    assert used.value("carrel_upstream_wait_seconds_count", **at) == 5
    assert used.value("carrel_upstream_wait_seconds_sum", **at) > 0.1
    assert used.value("carrel_upstream_seconds_count", **at) == 5
    assert used.value("carrel_upstream_pace_seconds", **at) == pytest.approx(0.1)
    assert used.value("carrel_upstream_circuit_open", **at) == 0


def test_cache_hits_and_misses_are_counted(used: Samples) -> None:
    assert used.value("carrel_cache_requests_total", plugin="probe", result="miss") == 3
    hits = used.value("carrel_cache_requests_total", plugin="probe", result="hit")
    results = used.value("carrel_result_cache_hits_total", plugin="probe")
    assert hits >= 1
    assert hits + results == 2


def test_guests_are_measured(used: Samples) -> None:
    assert used.value("carrel_guest_runs_total", plugin="probe") >= 5
    assert 0 < used.value("carrel_guest_cpu_seconds_total", plugin="probe") < 30
    assert used.value("carrel_guests_running", plugin="probe") == 0
    assert used.value("carrel_guest_memory_bytes") >= 0


def test_denials_are_counted_by_reason(used: Samples) -> None:
    assert used.value("carrel_denials_total", plugin="probe", reason="host_not_declared") == 1


def test_refused_requests_are_counted_by_name(used: Samples) -> None:
    assert used.value("carrel_http_refusals_total", refusal="not-json") == 1
    assert used.value("carrel_http_refusals_total", refusal="wrong-host") == 1


def test_refusals_below_the_handlers_are_counted_too() -> None:
    """What is no request of HTTP is answered by the connection, which counts it."""
    limits = {"read_seconds": 0.5, "max_header_bytes": 4096, "max_connections": 4}
    with HttpServer(http=limits) as server:
        root = server.url.removesuffix("/mcp")
        sent = {
            "not-http": b"\x16\x03\x01\r\n\r\n",
            "headers-too-slow": b"POST /mcp HTTP/1.1\r\nHost: a",
            "headers-too-large": b"GET / HTTP/1.1\r\nX: " + b"a" * 20_000,
        }
        for data in sent.values():
            with server.connect() as connection:
                connection.sendall(data)
                assert connection.recv(65_536).startswith(b"HTTP/1.1 4")
        held = [server.connect() for _ in range(12)]
        server.wait_for("http.max_connections")
        for one in held:
            one.close()

        def counted() -> set[str]:
            try:
                text = server.http.get(f"{root}/metrics").text
            except httpx2.TransportError:  # connections that were closed are still counted
                return set()
            pattern = r'carrel_http_refusals_total\{refusal="([a-z-]+)"\} [1-9]'
            return set(re.findall(pattern, text))

        eventually(lambda: {*sent, "too-many-connections"} <= counted())


def test_levels_are_read(used: Samples) -> None:
    assert used.value("carrel_ready") == 1
    assert used.value("carrel_store_up") == 1
    assert used.value("carrel_plugin_ready", plugin="probe") == 1
    assert used.value("carrel_http_sessions") >= 1
    assert used.value("carrel_calls_running") == 0
    assert used.value("carrel_config_last_reload_successful") == 1
    assert used.value("process_resident_memory_bytes") > 2**20


def test_no_label_has_a_url_or_a_path(used: Samples) -> None:
    values = {value for one in used.samples for value in one.labels.values()}
    assert not [value for value in values if "/" in value or "example.org" in value]


def test_the_reference_lists_every_metric() -> None:
    rows = page("docs/reference/metrics.md").section("All metrics").rows()
    documented = {row[0].strip("`"): (row[1], row[2].replace("`", ""), row[3]) for row in rows}
    assert documented == {
        family.name: (family.kind, ", ".join(family.labels) or "none", family.help_text)
        for family in Catalogue().families()
    }


# The dashboard and the alerts


def names_in(query: str) -> set[str]:
    """Returns the metrics that a query reads, by Prometheus' grammar."""
    text = query.replace("$__rate_interval", "5m").replace("$instance", ".*")
    found: set[str] = set()

    def walk(node: Any) -> None:
        name = type(node).__name__
        if name == "VectorSelector":
            found.add(node.name)
        for part in ("expr", "lhs", "rhs", "vector_selector", "vs", "param"):
            child = getattr(node, part, None)
            if child is not None and not isinstance(child, str | float | int | bool):
                walk(child)
        for child in getattr(node, "args", None) or []:
            walk(child)

    walk(promql_parser.parse(text))
    return found


#: Label → its values, where they are a closed list; those of `result` are of several metrics.
ERRORS = json.loads((ROOT / "contract" / "v1" / "errors.json").read_text("utf-8"))
VALUES: dict[str, set[str]] = {
    "code": {*ERRORS["codes"]},
    "limit": {*ERRORS["limits"]},
    "reason": {*ERRORS["denial_reasons"], "tool_hidden"},
    "refusal": {*REFUSALS},
    "result": {*STATUSES, "hit", "miss", "shared", "ok", "failed"},
}
#: Of every series, by Prometheus.
_TARGET = {"instance", "job"}


def wrong_labels(query: str) -> list[str]:
    """Returns labels, and values of labels, that the metrics of a query do not have."""
    text = query.replace("$__rate_interval", "5m").replace("$instance", ".*")
    labels = {one.name: {*one.labels} for one in Catalogue().families()}
    wrong: list[str] = []

    def walk(node: Any) -> set[str]:
        """Returns the labels of the node's result."""
        if type(node).__name__ == "VectorSelector":
            base = re.sub("_(bucket|sum|count)$", "", node.name)
            has = labels.get(node.name, labels.get(base, set())) | _TARGET
            has |= {"le"} if node.name.endswith("_bucket") else set()
            for one in node.matchers.matchers:
                known = VALUES.get(one.name)
                alternatives = one.value.split("|") if known is not None else ()
                wrong.extend(
                    f"{one.name}={value}"
                    for value in alternatives
                    if not any(re.fullmatch(value, each) for each in known or ())
                )
                wrong.extend([one.name] if one.name not in has else [])
            return has
        children = [*(getattr(node, "args", None) or [])]
        children += [
            child
            for part in ("expr", "lhs", "rhs", "vector_selector", "vs", "param")
            if (child := getattr(node, part, None)) is not None
            and not isinstance(child, str | float | int | bool)
        ]
        found = {label for child in children for label in walk(child)}
        if type(node).__name__ == "AggregateExpr":
            by = {*node.modifier.labels} if node.modifier is not None else set()
            wrong.extend(by - found)
            return by
        return found

    walk(promql_parser.parse(text))
    return wrong


def panels() -> Iterator[tuple[str, str]]:
    for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def alerts() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


@pytest.mark.parametrize(("title", "query"), [*panels()], ids=lambda one: one[:40])
def test_the_dashboard_reads_metrics_that_exist(title: str, query: str, used: Samples) -> None:
    assert names_in(query), title
    assert names_in(query) <= known_names(used)
    assert wrong_labels(query) == []


@pytest.mark.parametrize("rule", alerts(), ids=lambda one: one["alert"])
def test_an_alert_reads_metrics_that_exist_and_says_what_to_do(
    rule: dict[str, Any], used: Samples
) -> None:
    names = names_in(rule["expr"])
    assert names
    assert names <= known_names(used) | _OWN
    assert wrong_labels(rule["expr"]) == []
    series = [one for one in (*FIRING[rule["alert"]][0], *QUIET) if not one.startswith("up")]
    assert [wrong_labels(one) for one in series if wrong_labels(one)] == []
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert rule["annotations"].keys() == {"summary", "description"}


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ('carrel_http_refusals_total{name="busy"}', ["name"]),
        ('carrel_http_refusals_total{refusal=~"busy|too-busy"}', ["refusal=too-busy"]),
        ("sum by (tool) (rate(carrel_upstream_seconds_bucket[5m]))", ["tool"]),
        ("histogram_quantile(0.9, sum by (le) (rate(carrel_call_seconds_bucket[5m])))", []),
    ],
)
def test_wrong_labels_of_a_query_are_noticed(query: str, wrong: list[str]) -> None:
    assert wrong_labels(query) == wrong


def known_names(used: Samples) -> set[str]:
    """Returns the names of samples: those of the text, and of families without one so far."""
    declared = {family.name for family in Catalogue().families()}
    served = {f"{name}_total" if f.type == "counter" else name for name, f in used.families.items()}
    assert declared == served
    return used.names | declared


def test_the_dashboard_s_panels_do_not_overlap_and_have_ids() -> None:
    found = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    assert len({panel["id"] for panel in found}) == len(found)
    taken: set[tuple[int, int]] = set()
    for panel in found:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_promtool_accepts_the_alerts(tmp_path: Path) -> None:
    promtool = peer("promtool")
    checked = subprocess.run(
        [promtool, "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"{len(alerts())} rules found" in checked.stdout
    config = tmp_path / "prometheus.yml"
    config.write_text(f"rule_files: ['{ALERTS}']\n", "utf-8")
    checked = subprocess.run(
        [promtool, "check", "config", str(config)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_promtool_accepts_the_metrics(used: Samples, server: OperatedServer) -> None:
    checked = subprocess.run(
        [peer("promtool"), "check", "metrics"],
        input=server.metrics(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


#: Alert → series with their values, minute by minute, the minute, and the labels of the alert.
FIRING: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    "CarrelDown": ({'up{job="carrel"}': "0x10"}, "3m", {"job": "carrel"}),
    "CarrelNotReady": ({"carrel_ready": "1 0x10"}, "7m", {}),
    "CarrelStoreDown": ({"carrel_store_up": "1 0x10"}, "3m", {}),
    "CarrelAuditLogFailing": ({"carrel_audit_failing": "0 1x10"}, "3m", {}),
    "CarrelIdentityUnavailable": (
        {
            'carrel_http_refusals_total{refusal="identity-unavailable"}': "0+1x20",
            'carrel_http_refusals_total{refusal="invalid-token"}': "0+1x20",
        },
        "9m",
        {},
    ),
    "CarrelReloadFailed": ({"carrel_config_last_reload_successful": "1 0x10"}, "7m", {}),
    "CarrelPluginFailed": (
        {'carrel_plugin_ready{plugin="p"}': "0x20", 'carrel_plugin_ready{plugin="q"}': "1x20"},
        "12m",
        {"plugin": "p"},
    ),
    "CarrelPluginErrors": (
        {
            'carrel_call_errors_total{plugin="p",code="plugin_failed"}': "0+3x40",
            'carrel_call_errors_total{plugin="q",code="not_found"}': "0+9x40",
        },
        "30m",
        {"plugin": "p"},
    ),
    "CarrelCallsSlow": (
        {
            'carrel_call_seconds_bucket{plugin="p",le="30"}': "0+5x60",
            'carrel_call_seconds_bucket{plugin="p",le="60"}': "0+10x60",
            'carrel_call_seconds_bucket{plugin="p",le="+Inf"}': "0+10x60",
        },
        "45m",
        {"plugin": "p"},
    ),
    "CarrelUpstreamCircuitOpen": (
        # Open for 24 to 36 s, then half-open until a probe has failed.
        {
            'carrel_upstream_circuit_opened_total{plugin="p",upstream="u"}': "0+1x20",
            'carrel_upstream_circuit_open{plugin="p",upstream="u"}': "1 0 1 0 1 0 1 0 1 0 1 0 1 0",
        },
        "14m",
        {"plugin": "p", "upstream": "u"},
    ),
    "CarrelUpstreamRateLimits": (
        {
            'carrel_upstream_requests_total{upstream="u",result="429"}': "0+2x60",
            'carrel_upstream_requests_total{upstream="u",result="200"}': "0+8x60",
            'carrel_upstream_requests_total{upstream="v",result="200"}': "0+8x60",
        },
        "45m",
        {"upstream": "u"},
    ),
    "CarrelUpstreamQueueLong": (
        {'carrel_upstream_waiting_requests{plugin="p",upstream="u"}': "300x20"},
        "12m",
        {"upstream": "u"},
    ),
    "CarrelBusy": ({'carrel_http_refusals_total{refusal="busy"}': "0+1x20"}, "12m", {}),
    "CarrelDenials": (
        {'carrel_denials_total{plugin="p",reason="host_not_granted"}': "0+1x60"},
        "50m",
        {"plugin": "p", "reason": "host_not_granted"},
    ),
    "CarrelGuestLimits": (
        {'carrel_limits_exceeded_total{plugin="p",limit="memory"}': "0+1x60"},
        "50m",
        {"plugin": "p", "limit": "memory"},
    ),
    "CarrelClientsRefused": (
        {'carrel_http_refusals_total{refusal="invalid-token"}': "0+120x60"},
        "30m",
        {"refusal": "invalid-token"},
    ),
}
#: A server at work: no alert.
QUIET = {
    'up{job="carrel"}': "1x60",
    "carrel_ready": "1x60",
    "carrel_store_up": "1x60",
    "carrel_audit_failing": "0x60",
    "carrel_config_last_reload_successful": "1x60",
    'carrel_plugin_ready{plugin="p"}': "1x60",
    'carrel_call_errors_total{plugin="p",code="not_found"}': "0+9x60",
    'carrel_call_seconds_bucket{plugin="p",le="30"}': "0+100x60",
    'carrel_call_seconds_bucket{plugin="p",le="+Inf"}': "0+101x60",
    'carrel_upstream_circuit_open{plugin="p",upstream="u"}': "0x60",
    'carrel_upstream_circuit_opened_total{plugin="p",upstream="u"}': "0 0 3x58",
    # Some site on the web is always down, or refuses robots.
    'carrel_upstream_circuit_opened_total{plugin="w",upstream="public-web"}': "0+1x60",
    'carrel_upstream_requests_total{upstream="public-web",result="429"}': "0+9x60",
    'carrel_upstream_requests_total{upstream="u",result="200"}': "0+80x60",
    'carrel_upstream_requests_total{upstream="u",result="429"}': "0+1x60",
    'carrel_upstream_waiting_requests{plugin="p",upstream="u"}': "3x60",
    'carrel_http_refusals_total{refusal="busy"}': "3x60",
    'carrel_http_refusals_total{refusal="no-token"}': "0+1x60",
    'carrel_denials_total{plugin="p",reason="host_not_granted"}': "0 0 0 5x57",
    'carrel_limits_exceeded_total{plugin="p",limit="memory"}': "2x60",
}


def expected(rule: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """Returns an alert with these labels, as promtool's tests name it."""

    def label(found: re.Match[str]) -> str:
        return labels.get(found[1], "")

    texts = rule["annotations"].items()
    return {
        "exp_labels": {**labels, **rule["labels"]},
        "exp_annotations": {
            key: re.sub(r"{{ \$labels\.(\w+) }}", label, text) for key, text in texts
        },
    }


def case_of(rule: dict[str, Any], series: dict[str, str], at: str, *labels: dict[str, str]) -> Any:
    """Returns a test of promtool: the rule fires once with each of these labels."""
    alerts_ = [expected(rule, one) for one in labels]
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": at, "alertname": rule["alert"], "exp_alerts": alerts_}],
    }


def test_the_alerts_fire_when_they_should_and_only_then(tmp_path: Path) -> None:
    """Prometheus' own unit tests of rules, with invented series."""
    rules = {rule["alert"]: rule for rule in alerts()}
    assert FIRING.keys() == rules.keys()
    cases = [
        case_of(rules[name], series, at, labels) for name, (series, at, labels) in FIRING.items()
    ]
    cases += [case_of(rule, QUIET, "55m") for rule in rules.values()]
    file = tmp_path / "cases.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": cases}), "utf-8")
    checked = subprocess.run(
        [peer("promtool"), "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


# Where they are served


def test_metrics_have_an_address_of_their_own() -> None:
    with HttpServer(http={"metrics": "127.0.0.1:0", "page": False}) as server:
        line = server.wait_for(r"metrics at (http://127\.0\.0\.1:\d+/metrics)")
        root = server.url.removesuffix("/mcp")
        assert server.http.get(f"{root}/metrics").status_code == 404
        eventually(lambda: server.http.get(line[1]).status_code == 200)
        answer = server.http.get(line[1])
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "carrel_build_info" in answer.text
        other = line[1].removesuffix("/metrics")
        assert server.http.get(f"{other}/status.json").status_code == 404
        assert server.http.post(line[1]).status_code == 405
        rebound = server.http.get(line[1], headers={"host": "evil.example.org"})
        assert rebound.status_code == 403
        page_ = server.http.get(line[1], headers={"origin": "https://evil.example.org"})
        assert page_.status_code == 403
        assert server.stop()[0] == 0


def test_a_prometheus_elsewhere_may_use_any_name_of_the_machine() -> None:
    """On an address that is not loopback, the network decides who may ask."""
    with HttpServer(http={"metrics": "0.0.0.0:0", "page": False}) as server:
        port = server.wait_for(r"metrics at http://0\.0\.0\.0:(\d+)/metrics")[1]
        url = f"http://127.0.0.1:{port}/metrics"
        named = {"host": f"carrel-7d4b9.carrel.svc:{port}"}
        eventually(lambda: server.http.get(url, headers=named).status_code == 200)
        page_ = server.http.get(url, headers={**named, "origin": "https://evil.example.org"})
        assert page_.status_code == 403


def test_metrics_can_be_off() -> None:
    with HttpServer(http={"metrics": "off", "page": False}) as server:
        root = server.url.removesuffix("/mcp")
        for path in ("/metrics", "/", "/page.js", "/status.json"):
            assert server.http.get(f"{root}{path}").status_code == 404
        assert server.http.get(f"{root}/healthz").status_code == 200
