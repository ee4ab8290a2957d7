"""Tests the paths beside `/mcp`: headers, methods, checks, and who may see what."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from carrel.config import HttpConfig, ServerConfig
from carrel.principal import LOCAL, Principal, acting_as
from carrel.server.operations.live_calls import LiveCall
from carrel.server.operations.operations import Operations
from carrel.server.operations.routes import RouteReply, Routes
from carrel.server.operations.status import status
from carrel.telemetry import Denial
from carrel.text.printable import printable
from support.operated_server import HOST, OperatedServer
from support.operations_page import HOSTILE, HUGE, hostile_view, invented_view
from support.upstream import Upstream

PATHS = ("/", "/page.css", "/page.js", "/icon.svg", "/status.json", "/metrics", "/healthz")


ANNA, BERT = Principal("anna"), Principal("bert")
OPERATOR = Principal("olga", frozenset({"carrel:operate"}))


@pytest.mark.parametrize("path", PATHS)
def test_responses_are_neither_cached_nor_read_by_other_sites(
    server: OperatedServer, path: str
) -> None:
    answer = server.http.get(server.root + path)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def strings(value: Any) -> list[str]:
    """Returns all texts of a JSON value."""
    if isinstance(value, dict):
        return [one for each in value.values() for one in strings(each)]
    if isinstance(value, list):
        return [one for each in value for one in strings(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("name", [HOSTILE, HUGE, "\u2067" * 20_000, "\x00\x1b[2J" * 3000])
def test_names_that_others_chose_are_cut_and_without_hidden_characters(name: str) -> None:
    payload = status(hostile_view(name), LOCAL)
    assert len(payload["plugins"]) == 2
    for text in strings(payload):
        assert len(text) <= 1100
        assert text == printable(text, 2000)
    assert len(json.dumps(payload)) < 20_000


def test_the_page_has_a_policy_without_other_sources(server: OperatedServer) -> None:
    answer = server.http.get(f"{server.root}/")
    policy = dict(
        one.strip().split(" ", 1) for one in answer.headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
    }
    assert answer.headers["x-frame-options"] == "DENY"
    for text in (answer.text, *(server.http.get(server.root + one).text for one in PATHS[1:3])):
        assert not re.search(r"https?://|//[a-z]|innerHTML|document\.write|eval\(|style=", text)


@pytest.mark.parametrize("path", PATHS)
def test_host_and_origin_are_checked(server: OperatedServer, path: str) -> None:
    rebound = server.http.get(server.root + path, headers={"host": "evil.example.org"})
    assert rebound.status_code == 421
    other = server.http.get(server.root + path, headers={"origin": "https://evil.example.org"})
    assert other.status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(server: OperatedServer, method: str) -> None:
    for path in PATHS:
        answer = server.http.request(method, server.root + path)
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET, HEAD"


def test_head_has_no_body(server: OperatedServer) -> None:
    for path in PATHS:
        answer = server.http.head(server.root + path)
        assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "path", ["/page.html", "/page/page.css", "/page.js/", "/status", "/readyz/"]
)
def test_no_other_path_is_served(server: OperatedServer, path: str) -> None:
    assert server.http.get(server.root + path).status_code == 404


def test_the_status_shows_plugins_upstreams_and_denials(
    server: OperatedServer, upstream: Upstream
) -> None:
    server.open(f"https://{HOST}/v1/paper", meta={"carrel/refresh": True})
    server.open("https://other.example.org/v1/x")
    payload = server.status()
    assert payload["server"]["principal"] == "local"
    assert payload["server"]["sees_all"] is True
    [probe] = [one for one in payload["plugins"] if one["name"] == "probe"]
    assert probe["state"] == "ready"
    assert probe["hosts"] == [HOST]
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", probe["digest"])
    assert probe["signer"] is None
    assert str(server.folder) not in json.dumps(payload)
    assert {one["state"] for one in payload["plugins"] if one["name"] == "arxiv"} == {"off"}
    [example] = payload["upstreams"]
    assert example["upstream"] == "example"
    assert example["interval_seconds"] == 0.1
    assert example["breaker"] == "closed"
    denial = payload["denials"][0]
    assert denial["host"] == "other.example.org"
    assert denial["reason"] == "host_not_declared"
    assert denial["count"] >= 1


# Who may see what


def view() -> Operations:
    """Returns a view with a denial and a call of each of two principals."""
    found = Operations(ServerConfig(), HttpConfig())
    for principal in (ANNA, BERT):
        with acting_as(principal):
            found.denied(Denial("p", "t", f"https://{principal.name}.example.org/", "r", "g"))
        found.live._calls[len(found.live)] = LiveCall("t", "p", principal.name, None, 0.0)
    return found


def ask(operations: Operations, path: str, principal: Principal | None) -> RouteReply:
    return asyncio.run(Routes(operations).reply("GET", path, principal))


@pytest.mark.parametrize(
    ("principal", "seen"),
    [
        (ANNA, {"anna"}),
        (Principal("carl"), set()),
        (OPERATOR, {"anna", "bert"}),
        (LOCAL, {"anna", "bert"}),
        (Principal("local"), set()),
    ],
)
def test_a_principal_sees_its_own_calls_and_denials(principal: Principal, seen: set[str]) -> None:
    payload: dict[str, Any] = json.loads(ask(view(), "/status.json", principal).body)
    assert {one["principal"] for one in payload["calls"]} == seen
    assert {one["principal"] for one in payload["denials"]} == seen


@pytest.mark.parametrize(
    ("principal", "sees_all"), [(ANNA, False), (OPERATOR, True), (LOCAL, True)]
)
def test_the_state_of_the_whole_server_is_for_operators(
    principal: Principal, sees_all: bool
) -> None:
    found = view()
    error = {"code": "config", "message": "identity.scopes['bert-only'].plugins: no such plugin"}
    found.gauges.last_reload = lambda: {"ok": False, "at": "now", "error": error}
    found.gauges.sessions = lambda: 14
    server = json.loads(ask(found, "/status.json", principal).body)["server"]
    assert server["reload"]["ok"] is False
    assert ("bert-only" in json.dumps(server)) is sees_all
    assert server["sessions"] == (14 if sees_all else None)


@pytest.mark.parametrize("scopes", [frozenset(), OPERATOR.scopes])
def test_an_operator_sees_plugins_that_it_may_not_use(scopes: frozenset[str]) -> None:
    principal = Principal("olga", scopes, toolsets=frozenset(), plugins=frozenset())
    shown = status(invented_view(), principal)
    assert bool(shown["plugins"]) is bool(scopes)
    assert bool(shown["upstreams"]) is bool(scopes)


@pytest.mark.parametrize(("principal", "status"), [(ANNA, 403), (OPERATOR, 200), (LOCAL, 200)])
def test_metrics_of_all_need_the_operator_s_scope(principal: Principal, status: int) -> None:
    reply = ask(view(), "/metrics", principal)
    assert reply.status == status
    if status == 403:
        challenge = 'Bearer error="insufficient_scope", scope="carrel:operate"'
        assert reply.headers["WWW-Authenticate"] == challenge
        assert b"carrel_calls" not in reply.body


def test_only_data_needs_an_identity() -> None:
    routes = Routes(view())
    access = {path: routes.access(path) for path in (*PATHS, "/readyz", "/mcp", "/x")}
    assert access == {
        **dict.fromkeys(("/", "/page.css", "/page.js", "/icon.svg", "/healthz", "/readyz"), "open"),
        **dict.fromkeys(("/status.json", "/metrics"), "identified"),
        **dict.fromkeys(("/mcp", "/x")),
    }


def test_equal_denials_are_one_row_and_the_rows_are_limited() -> None:
    operations = Operations(ServerConfig(), HttpConfig())
    for number in range(300):
        operations.denied(Denial("p", "t", f"https://h{number % 150}.example.org/", "r", "g"))
    denials = json.loads(ask(operations, "/status.json", LOCAL).body)["denials"]
    assert len(denials) == 100
    assert denials[0]["host"] == "h149.example.org"
    assert denials[0]["count"] == 1  # its first row was dropped
    operations.denied(Denial("p", "t", "https://h149.example.org/", "r", "g"))
    assert operations.live.denials()[0].count == 2
