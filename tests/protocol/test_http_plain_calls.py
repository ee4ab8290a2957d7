"""Tests the fast path of HTTP: when it is used, and that it behaves as the SDK's path does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from carrel.config import HttpConfig
from carrel.server.http.events import EventLog
from support.http_server import (
    CLIENT,
    HttpServer,
    answer_of,
    events,
    in_session,
    notification,
    request,
)


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


def vanish(server: HttpServer, session: str, params: dict[str, Any], id_: int) -> str:
    """Calls a tool in a session, reads the first event, and closes the connection."""
    body = json.dumps(request("tools/call", params, id_=id_)).encode()
    fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with server.connect() as connection:
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}"
        connection.sendall(start.encode() + b"\r\n\r\n" + body)
        received = b""
        while b"data:" not in received:
            received += connection.recv(4096)
    line = next(line for line in received.decode().splitlines() if line.startswith("id:"))
    return line.removeprefix("id:").strip()


@pytest.mark.parametrize("is_modern", [True, False])
def test_a_plain_call_is_answered_without_the_sdk(server: HttpServer, is_modern: bool) -> None:
    session = None if is_modern else server.initialize()
    # The SDK writes no length of a stream, nor does the fast path if a call takes longer.
    calls = (server.call("echo", {"value": 1}, session=session) for _ in range(50))
    plain = next(one for one in calls if "content-length" in one.headers)
    assert len(plain.content) == int(plain.headers["content-length"])
    assert answer_of(plain)["result"]["structuredContent"] == {"value": 1}
    if session is not None:
        assert plain.headers["mcp-session-id"] == session
        assert [message is None for _, message in events(plain.text)] == [True, False]


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_streams_begin_with_an_event_without_data_since_2025_11_25(
    server: HttpServer, revision: str
) -> None:
    session = server.initialize(revision)
    headers = in_session(session, revision)
    message = request("tools/call", {"name": "echo", "arguments": {}})
    found = events(server.post(message, headers=headers).text)
    assert len(found) == (2 if revision == "2025-11-25" else 1)
    assert all(id_ for id_, _ in found)


def test_a_session_that_begins_again_has_its_new_revision(server: HttpServer) -> None:
    session = server.initialize("2025-11-25")
    assert "structuredContent" in answer_of(server.call("echo", session=session))["result"]
    params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": CLIENT}
    headers = in_session(session, "2024-11-05")
    assert server.post(request("initialize", params, id_=9), headers=headers).status_code == 200
    for message in (None, notification("notifications/initialized")):
        if message is not None:
            assert server.post(message, headers=headers).status_code == 202
        for meta in ({}, {"progressToken": 1}):
            call = request("tools/call", {"name": "echo", "arguments": {}, "_meta": meta})
            result = answer_of(server.post(call, headers=headers))["result"]
            assert "structuredContent" not in result, (message, meta)


@pytest.mark.parametrize(
    ("name", "headers"),
    [
        ("ecko", {}),
        ("echo", {"mcp-name": "other"}),
        ("echo", {"mcp-method": "tools/list"}),
        ("echo", {"mcp-protocol-version": "2027-01-01"}),
    ],
)
def test_a_call_that_the_sdk_refuses_is_refused(
    server: HttpServer, name: str, headers: dict[str, str]
) -> None:
    response = server.call(name, headers=headers)
    assert response.status_code == 400
    assert response.json()["error"]["code"] in {-32602, -32020, -32022}


def test_a_session_in_use_does_not_expire_and_an_idle_one_does() -> None:
    limits = {"session_idle_seconds": 2, "max_sessions": 1}
    with HttpServer(http=limits) as server:
        session = server.initialize()
        for _ in range(8):
            assert server.call("echo", session=session).status_code == 200
            time.sleep(0.5)
        listed = server.post(request("tools/list"), headers=in_session(session))
        assert "result" in answer_of(listed), "the SDK's session is open too"
        time.sleep(2.5)
        server.initialize()  # there is room, here and in the SDK
        assert server.call("echo", session=session).status_code == 404


@pytest.mark.parametrize("again", [{}, {"progressToken": 2}], ids=["plain", "sdk"])
@pytest.mark.parametrize("first", [{}, {"progressToken": 1}], ids=["plain", "sdk"])
def test_an_id_is_in_use_until_the_call_of_a_vanished_client_ends(
    server: HttpServer, first: dict[str, Any], again: dict[str, Any]
) -> None:
    session, key = server.initialize(), f"id {first} {again}"
    vanish(server, session, {"name": "wait", "arguments": {"key": key}, "_meta": first}, 5)
    time.sleep(0.3)
    call = request("tools/call", {"name": "echo", "arguments": {}, "_meta": again}, id_=5)
    refused = server.post(call, headers=in_session(session))
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)
    server.call("release", {"key": key})
    end = time.monotonic() + 10
    while server.post(call, headers=in_session(session)).status_code != 200:
        assert time.monotonic() < end


def test_calls_of_vanished_clients_count_towards_the_limit() -> None:
    with HttpServer(server={"max_in_flight": 2}) as server:
        session = server.initialize()
        for number in (5, 6):
            vanish(server, session, {"name": "wait", "arguments": {"key": f"{number}"}}, number)
        time.sleep(0.3)
        answer = answer_of(server.call("echo", session=session))
        assert answer["error"]["code"] == -32000
        cancel = notification("notifications/cancelled", {"requestId": 5})
        assert server.post(cancel, headers=in_session(session)).status_code == 202
        end = time.monotonic() + 10
        while "error" in answer_of(server.call("echo", session=session)):
            assert time.monotonic() < end


def test_a_resumed_stream_of_a_deleted_session_ends_and_its_call_is_cancelled(
    server: HttpServer,
) -> None:
    session = server.initialize()
    last = vanish(server, session, {"name": "wait", "arguments": {"key": "deleted"}}, 7)
    headers = {**in_session(session), "last-event-id": last, "accept": "text/event-stream"}
    with server.http.stream("GET", server.url, headers=headers) as resumed:
        time.sleep(0.3)
        assert server.http.delete(server.url, headers=in_session(session)).status_code == 200
        assert "result" not in "".join(resumed.iter_text())
    cancelled = server.call("cancelled").json()["result"]["structuredContent"]["keys"]
    assert "deleted" in cancelled


# Events


def test_a_response_is_replayed_to_all_who_wait_for_it() -> None:
    line = b'{"jsonrpc":"2.0","id":1,"result":{"n":1}}'

    async def run() -> list[list[Any]]:
        log = EventLog(HttpConfig())
        kept = log.session()
        kept.expect("1")
        first = kept.start_stream("1")
        found: list[list[Any]] = [[], []]

        async def wait(into: list[Any]) -> None:
            async def take(event: Any) -> None:
                into.append(json.loads(event.message.model_dump_json())["result"])

            assert await kept.replay_events_after(first, take) is None

        waiting = [asyncio.ensure_future(wait(one)) for one in found]
        await asyncio.sleep(0)
        assert found == [[], []]
        left = asyncio.ensure_future(wait([]))
        await asyncio.sleep(0)
        left.cancel()  # one client leaves; the others still wait
        assert kept.end_stream("1", line) is not None
        kept.answered("1")
        await asyncio.gather(*waiting)
        assert log.bytes >= len(line)
        kept.clear()
        assert log.bytes == 0
        return found

    assert asyncio.run(run()) == [[{"n": 1}], [{"n": 1}]]


def test_a_stream_that_the_sdk_serves_instead_is_forgotten() -> None:
    async def run() -> None:
        log = EventLog(HttpConfig())
        kept = log.session()
        kept.forget_stream(kept.start_stream("1"))
        assert (len(log), log.bytes) == (0, 0)

    asyncio.run(run())
