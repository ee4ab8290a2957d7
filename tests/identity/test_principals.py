"""Tests that no principal sees or uses what is another's: sessions, events, calls, log lines."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.http_server import (
    BOTH,
    HttpServer,
    answer_of,
    events,
    in_session,
    modern_headers,
    notification,
    request,
)
from support.issuers import RESOURCE, Issuer, bearer

pytestmark = pytest.mark.long("servers")

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


def identity(issuer: Issuer, **more: Any) -> dict[str, Any]:
    return {
        "issuer": issuer.url,
        "resource": RESOURCE,
        "plain_http": True,
        "private": True,
        **more,
    }


@pytest.fixture(scope="module")
def server(issuer: Issuer) -> Iterator[HttpServer]:
    with HttpServer(identity=identity(issuer)) as server:
        yield server


def opened(server: HttpServer, token: str) -> str:
    """Opens a session; returns its id."""
    answer = server.post(request("initialize", INITIALIZE, id_="open"), headers=bearer(token))
    assert answer.status_code == 200, answer.text
    session = str(answer.headers["mcp-session-id"])
    headers = {**in_session(session), **bearer(token)}
    assert server.post(notification("notifications/initialized"), headers=headers).is_success
    return session


@pytest.mark.requirement("identity:apart:sessions")
def test_a_session_is_of_the_principal_that_opened_it(server: HttpServer, issuer: Issuer) -> None:
    alice, bob = issuer.token(sub="alice"), issuer.token(sub="bob")
    session = opened(server, alice)
    own = {**in_session(session), **bearer(alice)}
    tried = {"bob": (bearer(bob), 404), "nobody": ({}, 401), "a bad token": (bearer("x.y.z"), 401)}
    for who, (authorization, status) in tried.items():
        headers = {**in_session(session), **authorization}
        listed = server.post(request("tools/list"), headers=headers)
        assert listed.status_code == status, who
        assert "result" not in listed.json()
        called = server.call("echo", {"value": 1}, session=session, headers=authorization)
        assert called.status_code == status, who
        cancelled = notification("notifications/cancelled", {"requestId": 1})
        assert server.post(cancelled, headers=headers).status_code == status
        for method in ("GET", "DELETE"):
            accepted = {**headers, "accept": "text/event-stream"}
            response = server.http.request(method, server.url, headers=accepted)
            assert response.status_code == status, (who, method)
    assert server.call("echo", {"value": 2}, session=session, headers=own).status_code == 200


def test_another_token_of_the_same_principal_may_use_its_session(
    server: HttpServer, issuer: Issuer
) -> None:
    session = opened(server, issuer.token(sub="alice"))
    later = bearer(issuer.token("rsa", sub="alice", jti="later"))
    assert server.call("echo", {"value": 1}, session=session, headers=later).status_code == 200


@pytest.mark.parametrize("change", ["upper", "title", "cut", "longer", "quoted", "path", "list"])
def test_an_altered_session_id_names_no_session(
    server: HttpServer, issuer: Issuer, change: str
) -> None:
    token = issuer.token(sub="alice")
    session = opened(server, token)
    changed = {
        "upper": session.upper() if session != session.upper() else session + "A",
        "title": f"{session[:-1]}{'0' if session[-1] != '0' else '1'}",
        "cut": session[:-1],
        "longer": session + "0",
        "quoted": f'"{session}"',
        "path": f"../{session}",
        "list": f"{session},{session}",
    }[change]
    response = server.call("echo", session=changed, headers=bearer(token))
    assert response.status_code == 404


def test_events_of_another_session_cannot_be_resumed(server: HttpServer, issuer: Issuer) -> None:
    alice, bob = issuer.token(sub="alice"), issuer.token(sub="bob")
    session = opened(server, alice)
    answered = server.call("echo", {"value": "private"}, session=session, headers=bearer(alice))
    last = next(id_ for id_, _ in events(answered.text) if id_)
    theirs = opened(server, bob)
    for used, status in ((theirs, 410), (session, 404)):
        headers = {
            **in_session(used),
            **bearer(bob),
            "last-event-id": last,
            "accept": "text/event-stream",
        }
        response = server.http.get(server.url, headers=headers)
        assert response.status_code == status
        assert "private" not in response.text


def test_log_lines_and_progress_go_to_their_own_request(server: HttpServer, issuer: Issuer) -> None:
    tokens = {name: issuer.token(sub=name) for name in ("alice", "bob")}
    sessions = {name: opened(server, token) for name, token in tokens.items()}
    for name, session in sessions.items():
        headers = {**in_session(session), **bearer(tokens[name])}
        level = request("logging/setLevel", {"level": "debug"})
        assert "result" in answer_of(server.post(level, headers=headers))
    for name, session in sessions.items():
        arguments = {"level": "info", "text": f"a line of {name}"}
        received = server.call("log", arguments, session=session, headers=bearer(tokens[name])).text
        params = {
            "name": "work",
            "arguments": {"steps": 2},
            "_meta": {"progressToken": f"of {name}"},
        }
        headers = {**in_session(session), **bearer(tokens[name])}
        received += server.post(request("tools/call", params), headers=headers).text
        other = "bob" if name == "alice" else "alice"
        assert f"a line of {name}" in received
        assert f"of {name}" in received
        assert f"of {other}" not in received


def test_a_principal_learns_nothing_about_others(server: HttpServer, issuer: Issuer) -> None:
    params = {"uri": "carrel://health"}
    headers = {**modern_headers("resources/read", "carrel://health"), **bearer(issuer.token())}
    from support.http_server import envelope

    answer = server.post(
        request("resources/read", {**params, "_meta": envelope()}), headers=headers
    )
    health = json.loads(answer.json()["result"]["contents"][0]["text"])
    assert set(health["server"]) == {"name", "version"}


def test_one_principal_cannot_take_all_sessions(issuer: Issuer) -> None:
    with HttpServer(identity=identity(issuer, max_sessions=3)) as server:
        alice, bob = issuer.token(sub="alice"), issuer.token(sub="bob")
        sessions = [opened(server, alice) for _ in range(3)]
        refused = server.post(request("initialize", INITIALIZE), headers=bearer(alice))
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "5"
        opened(server, bob)
        headers = {**in_session(sessions[0]), **bearer(alice)}
        assert server.http.delete(server.url, headers=headers).is_success
        opened(server, alice)


def test_one_principal_cannot_take_all_requests(issuer: Issuer) -> None:
    with HttpServer(identity=identity(issuer, max_in_flight=1, burst=10_000)) as server:
        alice, bob = bearer(issuer.token(sub="alice")), bearer(issuer.token(sub="bob"))

        def wait() -> None:
            while server.call("wait", {"key": "k"}, headers=alice).status_code == 429:
                pass  # the other request was first

        waiting = threading.Thread(target=wait)
        waiting.start()
        while (refused := server.call("echo", {"value": 1}, headers=alice)).status_code != 429:
            pass
        assert "identity.max_in_flight" in refused.json()["error"]["message"]
        assert server.call("echo", {"value": 1}, headers=bob).status_code == 200
        assert server.call("release", {"key": "k"}, headers=bob).status_code == 200
        waiting.join(20)
        assert server.call("echo", {"value": 1}, headers=alice).status_code == 200


@pytest.mark.parametrize("meta", [{}, {"progressToken": 1}], ids=["plain", "sdk"])
def test_a_call_that_its_client_abandoned_counts_until_it_ends(
    issuer: Issuer, meta: dict[str, Any]
) -> None:
    """In a session such a call continues: a client could start calls without limit."""
    with HttpServer(identity=identity(issuer, max_in_flight=2)) as server:
        token = issuer.token(sub="alice")
        session, bob = opened(server, token), bearer(issuer.token(sub="bob"))
        headers = {**in_session(session), **bearer(token)}
        for number in range(2):
            arguments = {"key": f"{number}"}
            params = {"name": "wait", "arguments": arguments, "_meta": meta}
            message = request("tools/call", params, id_=number)
            fields = {**headers, "accept": BOTH, "content-type": "application/json"}
            with server.http.stream("POST", server.url, json=message, headers=fields) as stream:
                next(stream.iter_bytes())  # the call has started
        time.sleep(0.3)
        refused = server.call("echo", session=session, headers=headers, id_=7)
        assert refused.status_code == 429
        assert "identity.max_in_flight" in refused.json()["error"]["message"]
        assert server.call("release", {"key": "0"}, headers=bob).status_code == 200
        end = time.monotonic() + 10
        while server.call("echo", session=session, headers=headers, id_=7).status_code != 200:
            assert time.monotonic() < end


def test_each_principal_has_its_own_rate(issuer: Issuer) -> None:
    limits = identity(issuer, calls_per_second=0.01, burst=3)
    with HttpServer(identity=limits) as server:
        alice, bob = bearer(issuer.token(sub="alice")), bearer(issuer.token(sub="bob"))
        answers = [server.call("echo", {"value": 1}, headers=alice).json() for _ in range(4)]
        assert [one["result"].get("isError", False) for one in answers] == [False] * 3 + [True]
        assert "busy" in json.dumps(answers[3])
        answer = server.call("echo", {"value": 1}, headers=bob).json()
        assert not answer["result"].get("isError", False)


def test_without_its_issuer_the_server_lets_nobody_in_and_then_recovers() -> None:
    with Issuer() as issuer:
        issuer.status = 500
        with HttpServer(identity=identity(issuer)) as server:
            token = bearer(issuer.token())
            response = server.call("echo", {"value": 1}, headers=token)
            assert response.status_code == 503
            assert response.headers["retry-after"] == "10"
            assert "www-authenticate" not in response.headers
            assert server.http.get(server.url.replace("/mcp", "/healthz")).status_code == 200
            server.wait_for("the keys of .* cannot be downloaded: .* answered with status 500")
