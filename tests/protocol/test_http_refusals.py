"""Tests that bad input over HTTP has its documented status, JSON-RPC error and one log line."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from carrel.server.http.refusals import REFUSALS
from support.http_server import (
    CLIENT,
    HttpServer,
    command,
    events,
    in_session,
    modern_headers,
    request,
)

pytestmark = pytest.mark.long("servers")

#: Limits small enough to exceed them in a test.
LIMITS: dict[str, Any] = {
    "max_body_bytes": 20_000,
    "max_header_bytes": 8192,
    "max_sessions": 20,
    "read_seconds": 1,
    "write_seconds": 2,
    "max_events": 4,
    "allowed_origins": ["https://notes.example.org"],
    "allowed_hosts": ["carrel.example.org"],
}
LIST = request("tools/list")


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer(http=LIMITS) as server:
        yield server


def refused(server: HttpServer, response: Any, name: str) -> None:
    """Checks a refusal: its status, its error, and its line in the log."""
    refusal = REFUSALS[name]
    assert (response.status_code, response.json()["error"]["code"]) == (
        refusal.status,
        refusal.code,
    )
    assert response.json()["jsonrpc"] == "2.0"
    for header, value in refusal.headers.items():
        assert response.headers[header] == value or name == "wrong-method"
    logged(server, rf"refused [A-Z]+ of 127\.0\.0\.1:\d+ \((local|-)\): {refusal.status} {name}: ")


#: Process of a server → number of its lines that a test has looked at.
_SEEN: dict[int, int] = {}


def logged(server: HttpServer, pattern: str) -> None:
    """Waits for a line in the log behind those that were looked at before."""
    end = time.monotonic() + 20
    while True:
        lines = server.lines[_SEEN.get(server.process.pid, 0) :]
        found = next((at for at, line in enumerate(lines) if re.search(pattern, line)), None)
        if found is not None:
            _SEEN[server.process.pid] = _SEEN.get(server.process.pid, 0) + found + 1
            return
        assert time.monotonic() < end, (pattern, lines)
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("name", "headers", "body"),
    [
        ("wrong-host", {"host": "evil.example"}, LIST),
        ("wrong-host", {"host": "127.0.0.1.evil.example"}, LIST),
        ("wrong-host", {"host": "localhost.evil.example:80"}, LIST),
        ("wrong-host", {"host": "evil.example@127.0.0.1"}, LIST),
        ("wrong-origin", {"origin": "http://evil.example"}, LIST),
        ("wrong-origin", {"origin": "null"}, LIST),
        ("wrong-origin", {"origin": "http://localhost:1"}, LIST),
        ("wrong-content-type", {"content-type": "text/plain"}, LIST),
        ("wrong-content-type", {"content-type": "application/jsonx"}, LIST),
        ("encoded-body", {"content-encoding": "gzip"}, LIST),
        ("not-acceptable", {"accept": "text/html"}, LIST),
        ("not-acceptable", {"accept": "application/json;q=0"}, LIST),
        ("headers-too-large", {"x-more": "a" * 9000}, LIST),
        ("body-too-large", {}, b" " * 20_001),
        ("not-json", {}, b'{"jsonrpc": "2.0", "id": 1'),
        ("not-json", {}, b"\xff\xfe"),
        ("not-json", {}, b""),
        ("not-json", {}, b"[" * 5000 + b"]" * 5000),
        ("not-json", {}, b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": NaN}}'),
        ("batch", {}, [LIST, LIST]),
        ("batch", {}, []),
        ("not-a-message", {}, 1),
        ("not-a-message", {}, {"id": 1, "method": "ping"}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": None, "method": "ping"}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": True, "method": "ping"}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1, "method": 5}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1, "method": 5, "result": {}}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1, "method": "ping", "result": {}}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}),
        ("not-a-message", {}, {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}),
        ("no-session", {}, LIST),
        ("unknown-session", {"mcp-session-id": "0" * 32}, LIST),
        ("unknown-session", {"mcp-session-id": "../etc"}, LIST),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_post_is_refused(
    server: HttpServer, name: str, headers: dict[str, str], body: Any
) -> None:
    refused(server, server.post(body, headers=headers), name)
    assert server.call("echo", {"value": 1}).status_code == 200


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {}},
        {"id": 1, "result": 5},
        {"id": 1, "error": {}},
        {"id": 1, "error": {"code": "one", "message": "m"}},
    ],
)
def test_an_invalid_response_is_refused_without_the_words_of_a_validator(
    server: HttpServer, answer: dict[str, Any]
) -> None:
    response = server.post({"jsonrpc": "2.0", **answer}, headers=in_session(server.initialize()))
    refused(server, response, "not-a-message")
    assert "validation" not in response.text.lower()


def test_a_response_is_refused_where_the_server_asks_nothing(server: HttpServer) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert server.post(message, headers=in_session(server.initialize())).status_code == 202
    refused(server, server.post(message, headers=modern_headers("ping")), "not-a-message")


@pytest.mark.parametrize("origin", ["https://notes.example.org", None])
def test_allowed_hosts_and_origins_are_served(server: HttpServer, origin: str | None) -> None:
    headers = {"host": "carrel.example.org:80", "origin": origin or "https://carrel.example.org:80"}
    assert server.call("echo", {}, headers=headers).status_code == 200


def test_a_page_of_an_allowed_origin_may_call_and_read_the_response(server: HttpServer) -> None:
    """A browser sends nothing without the answer to its preflight, and shows no other response."""
    page = {"origin": "https://notes.example.org"}
    asked = {
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-session-id",
    }
    preflight = server.http.options(server.url, headers={**page, **asked})
    assert (preflight.status_code, preflight.content) == (204, b"")
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert preflight.headers["access-control-allow-headers"] == "*, Authorization"
    session = server.initialize()
    answers = [
        preflight,
        server.call("echo", {"value": 1}, headers=page),
        server.call("echo", {"value": 1}, session=session, headers=page),
        server.post(request("ping"), headers={**in_session(session), **page}),
        server.call("echo", session="unknown", headers=page),
        server.post(b"{", headers=page),
    ]
    assert [one.status_code for one in answers] == [204, 200, 200, 200, 404, 400]
    for one in answers:
        assert one.headers["access-control-allow-origin"] == page["origin"]
        assert "mcp-session-id" in one.headers["access-control-expose-headers"].lower()
        assert one.headers["vary"] == "Origin"


def test_no_other_page_may_read_a_response(server: HttpServer) -> None:
    asked = {"access-control-request-method": "POST"}
    for origin in ("https://evil.example", f"http://127.0.0.1:{server.port}", None):
        headers = {} if origin is None else {"origin": origin}
        answers = [
            server.http.options(server.url, headers={**headers, **asked}),
            server.call("echo", headers=headers),
        ]
        assert answers[0].status_code == (403 if origin and "evil" in origin else 405)
        assert all("access-control-allow-origin" not in one.headers for one in answers)
    page = {"origin": "https://notes.example.org"}
    status = server.url.replace("/mcp", "/status.json")
    other = server.http.options(status, headers={**page, **asked})
    assert "access-control-allow-origin" not in other.headers
    refused(server, server.http.options(server.url, headers=page), "wrong-method")


def test_other_methods_and_paths_are_refused(server: HttpServer) -> None:
    root = server.url.removesuffix("/mcp")
    refused(server, server.http.get(f"{root}/other"), "no-such-path")
    refused(server, server.http.post(f"{root}/%6dcp", json=request("ping")), "no-such-path")
    refused(server, server.http.put(server.url), "wrong-method")
    refused(server, server.http.get(server.url), "no-session")
    modern = {**modern_headers("ping"), "accept": "*/*"}
    assert server.http.get(server.url, headers=modern).headers["allow"] == "POST"


def test_a_stream_needs_a_client_that_accepts_one(server: HttpServer) -> None:
    headers = {**in_session(server.initialize()), "accept": "application/json"}
    refused(server, server.http.get(server.url, headers=headers), "not-acceptable")


def test_a_session_has_one_stream_of_notifications(server: HttpServer) -> None:
    headers = {**in_session(server.initialize()), "accept": "text/event-stream"}
    with server.http.stream("GET", server.url, headers=headers) as stream:
        assert stream.status_code == 200
        refused(server, server.http.get(server.url, headers=headers), "stream-open")
    end = time.monotonic() + 10
    while True:
        with server.http.stream("GET", server.url, headers=headers) as stream:
            if stream.status_code == 200:
                return
        assert time.monotonic() < end


def test_accept_may_come_in_several_lines(server: HttpServer) -> None:
    session = server.initialize()
    headers = [*in_session(session).items(), ("accept", "application/json")]
    headers.append(("accept", "text/event-stream"))
    with server.http.stream("GET", server.url, headers=headers) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")


def test_an_unknown_event_cannot_be_resumed_from(server: HttpServer) -> None:
    session = server.initialize()
    known = str(events(server.call("echo", session=session).text)[-1][0])
    for last in ("999999", "abc", "-1", "1" * 500, f"0{known}", known.zfill(20) + "9" * 5000):
        headers = {**in_session(session), "accept": "*/*", "last-event-id": last}
        refused(server, server.http.get(server.url, headers=headers), "event-gone")


def test_too_many_sessions_are_refused() -> None:
    with HttpServer(http={"max_sessions": 2}) as server:
        first, _ = server.initialize(), server.initialize()
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a"}}
        params["clientInfo"] = {"name": "a", "version": "1"}
        opening = request("initialize", params)
        refused(server, server.post(opening), "too-many-sessions")
        server.http.delete(server.url, headers=in_session(first))
        assert server.post(opening).status_code == 200


def test_sessions_that_are_opened_at_once_are_no_more_than_the_limit() -> None:
    with HttpServer(http={"max_sessions": 3}) as server, ExitStack() as stack:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        body = json.dumps(request("initialize", params)).encode()
        fields = "host: localhost\r\naccept: application/json\r\nconnection: close\r\n"
        head = f"POST /mcp HTTP/1.1\r\n{fields}content-type: application/json\r\n"
        message = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        connections = [stack.enter_context(server.connect()) for _ in range(10)]
        for one in connections:
            one.sendall(message)
        statuses = sorted(received(one)[9:12] for one in connections)
        assert statuses == [b"200"] * 3 + [b"503"] * 7


def test_a_refused_initialize_opens_no_session() -> None:
    with HttpServer(http={"max_sessions": 1}) as server:
        for _ in range(3):
            assert "error" in server.post(request("initialize", {})).text
        server.initialize()


def test_requests_over_the_limit_in_flight_are_refused() -> None:
    with HttpServer(server={"max_in_flight": 1}) as server, socket.socket() as waiting:
        session = server.initialize()
        waiting.connect(("127.0.0.1", server.port))
        message = request("tools/call", {"name": "wait", "arguments": {"key": "k"}}, id_=3)
        body = json.dumps(message).encode()
        fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}"
        waiting.sendall(start.encode() + b"\r\n\r\n" + body)
        time.sleep(0.5)
        refused(server, server.call("echo"), "busy")


def test_a_request_id_in_use_is_refused(server: HttpServer) -> None:
    session = server.initialize()
    message = request("tools/call", {"name": "wait", "arguments": {"key": "same"}}, id_=3)
    body = json.dumps(message).encode()
    fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with server.connect() as waiting:
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}"
        waiting.sendall(start.encode() + b"\r\n\r\n" + body)
        waiting.recv(100)
        refused(server, server.call("echo", session=session, id_=3), "id-in-use")
    server.http.delete(server.url, headers=in_session(session))


# Connections


HALF = (
    b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b'content-length: 50\r\n\r\n{"json'
)


def received(connection: socket.socket) -> bytes:
    """Returns what the server sends until it closes the connection."""
    found = b""
    while True:
        try:
            chunk = connection.recv(65536)
        except ConnectionResetError:
            return found
        if not chunk:
            return found
        found += chunk


@pytest.mark.parametrize(
    ("sent", "status", "line"),
    [
        (b"", b"", ""),
        (b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n", b"HTTP/1.1 408", "408 headers-too-slow"),
        (HALF, b"HTTP/1.1 408", "408 body-too-slow"),
        (b"nonsense\r\n\r\n", b"HTTP/1.1 400", "400 not-http"),
        (b"GET /mcp HTTP/1.1\r\nx: " + b"a" * 9000, b"HTTP/1.1 431", "431 headers-too-large"),
    ],
    ids=["nothing", "half of the headers", "half of the body", "not HTTP", "endless header"],
)
def test_a_slow_or_malformed_request_is_ended(
    server: HttpServer, sent: bytes, status: bytes, line: str
) -> None:
    with server.connect() as connection:
        connection.sendall(sent)
        assert received(connection).startswith(status)
    if line:
        logged(server, f"refused .* of 127.0.0.1:.*: {line}|refused a request of .*: {line}")
    assert server.call("echo").status_code == 200


def test_a_client_that_sends_a_byte_at_a_time_is_ended(server: HttpServer) -> None:
    with server.connect() as connection:
        started = time.monotonic()
        try:
            for byte in b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 50:
                connection.sendall(bytes([byte]))
                time.sleep(0.1)
        except OSError:
            pass
        assert time.monotonic() - started < 15


def test_over_the_limit_the_connection_without_a_request_is_closed() -> None:
    with HttpServer(http={"max_connections": 3}) as server:
        server.http.close()
        held = []
        for _ in range(3):
            held.append(server.connect())
            time.sleep(0.1)
        with server.connect() as further:
            further.sendall(b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert further.recv(65536).startswith(b"HTTP/1.1 404")
            assert received(held[0]) == b"", "the oldest"
        server.wait_for("http.max_connections")
        for one in held:
            one.close()


def test_over_the_limit_a_connection_whose_body_has_not_arrived_is_closed() -> None:
    """One principal could otherwise hold all connections with bodies that it sends slowly."""
    with HttpServer(http={"max_connections": 3}) as server:
        server.http.close()
        held = []
        for _ in range(3):
            held.append(server.connect())
            held[-1].sendall(HALF)
            time.sleep(0.1)
        with server.connect() as further:
            further.sendall(b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert further.recv(65536).startswith(b"HTTP/1.1 404")
            assert received(held[0]) == b"", "the oldest"
        for one in held:
            one.close()


def test_over_the_limit_a_connection_is_closed_if_all_others_are_served() -> None:
    with HttpServer(http={"max_connections": 3}) as server:
        session = server.initialize()
        server.http.close()
        held = []
        for number in range(3):
            held.append(server.connect())
            message = request("tools/call", {"name": "ignore", "arguments": {}}, id_=number)
            body = json.dumps(message).encode()
            fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
            head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
            start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}"
            held[-1].sendall(start.encode() + b"\r\n\r\n" + body)
            assert held[-1].recv(65536).startswith(b"HTTP/1.1 200"), "its stream has begun"
        with server.connect() as further:
            assert received(further) == b""
        server.wait_for("http.max_connections")
        for one in held:
            one.close()


@pytest.mark.skipif(os.name != "posix", reason="limits descriptors")
def test_a_low_limit_of_open_files_is_raised_for_the_connections() -> None:
    """Without descriptors a server accepts nobody, and cannot open its own files."""
    limited = ["sh", "-c", 'ulimit -Sn 64 && exec "$@"', "sh"]
    with HttpServer([*limited, *command(http={"max_connections": 200})]) as server:
        held = [server.connect() for _ in range(100)]
        assert server.call("echo").status_code == 200
        for one in held:
            one.close()
    limited[2] = 'ulimit -n 256 && exec "$@"'
    with HttpServer([*limited, *command(http={"max_connections": 200})]) as server:
        server.wait_for(r"256 files may be open, .*\(200\); raise the limit to 712")


def test_a_client_that_reads_nothing_is_disconnected() -> None:
    with HttpServer(http={"write_seconds": 1}) as server, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        session = server.initialize()
        arguments = {"bytes": 8_000_000}
        message = request("tools/call", {"name": "large", "arguments": arguments})
        body = json.dumps(message).encode()
        fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}"
        slow.sendall(start.encode() + b"\r\n\r\n" + body)
        server.wait_for("http.write_seconds")
        assert server.call("echo").status_code == 200
