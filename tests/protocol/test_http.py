"""Tests the HTTP server with real clients: both eras, formats, streams, changes and the end."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from support.http_server import (
    HttpServer,
    answer_of,
    envelope,
    events,
    in_session,
    modern_headers,
    notification,
    request,
)
from support.mcp_schema import assert_frames_valid

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


def text_of(answer: Any) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])


def answer_of_stream(text: str) -> Any:
    """Returns the response that ends a stream."""
    return next(message for _, message in events(text) if message and "method" not in message)


def until(found: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.02)


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_every_handshake_revision_calls_a_tool_in_a_session(
    server: HttpServer, revision: str
) -> None:
    session = server.initialize(revision)
    headers = in_session(session, revision)
    for method in ("tools/list", "resources/list", "ping"):
        answer = answer_of(server.post(request(method), headers=headers))
        assert_frames_valid(revision, [(answer, method)])
    response = server.call("echo", {"value": revision}, session=session)
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["mcp-session-id"] == session
    assert text_of(answer_of(response)) == {"value": revision}


def test_the_stateless_revision_needs_no_session(server: HttpServer) -> None:
    response = server.call("echo", {"value": 1})
    assert response.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in response.headers
    assert_frames_valid("2026-07-28", [(response.json(), "tools/call")])
    assert text_of(response.json()) == {"value": 1}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_lists_and_calls(server: HttpServer, mode: Any) -> None:
    async def talk() -> None:
        async with Client(streamable_http_client(server.url), mode=mode) as client:
            tools = await client.list_tools()
            assert "echo" in {tool.name for tool in tools.tools}
            result = await client.call_tool("echo", {"value": mode})
            assert result.structured_content == {"value": mode}

    asyncio.run(talk())


@pytest.mark.parametrize("is_modern", [True, False])
def test_the_response_has_the_format_that_the_client_accepts(
    server: HttpServer, is_modern: bool
) -> None:
    session = None if is_modern else server.initialize()
    for accept in ("application/json", "text/event-stream", "application/*", "*/*"):
        headers = {"accept": accept}
        response = server.call("echo", {"value": accept}, session=session, headers=headers)
        assert response.status_code == 200
        kind = response.headers["content-type"]
        assert accept == "*/*" or kind == accept.replace("*", "json")
        assert text_of(answer_of(response)) == {"value": accept}


@pytest.mark.parametrize("is_modern", [True, False])
def test_progress_is_streamed_before_the_response(server: HttpServer, is_modern: bool) -> None:
    key = f"progress {is_modern}"
    params = {"name": "wait", "arguments": {"key": key}, "_meta": {"progressToken": "t"}}
    headers = modern_headers("tools/call", "wait")
    if is_modern:
        params["_meta"] = envelope(progressToken="t")
    else:
        headers = in_session(server.initialize())
    waiting = Streamed(server, request("tools/call", params), headers)
    until(lambda: "notifications/progress" in waiting.text)
    assert '"result"' not in waiting.text
    server.call("release", {"key": key})
    waiting.join(20)
    messages = [message for _, message in events(waiting.text) if message]
    assert {one["method"] for one in messages[:-1]} == {"notifications/progress"}
    assert messages[0]["params"]["progressToken"] == "t"
    assert "result" in messages[-1]


def test_a_request_may_follow_as_soon_as_the_response_ends(server: HttpServer) -> None:
    session = server.initialize()
    started = time.monotonic()
    for number in range(30):
        answer = answer_of(server.call("echo", {"value": number}, session=session, id_="same"))
        assert text_of(answer) == {"value": number}
    assert time.monotonic() - started < 30


# Cancellation, disconnection, resumption


class Streamed(threading.Thread):
    """Reads a response in a thread, and remembers its text."""

    def __init__(self, server: HttpServer, message: Any, headers: dict[str, str]) -> None:
        super().__init__(daemon=True)
        self.server, self.message, self.headers = server, message, headers
        self.text = ""
        self.close = threading.Event()
        self.start()

    def run(self) -> None:
        accept = {"accept": "application/json, text/event-stream"}
        with self.server.http.stream(
            "GET" if self.message is None else "POST",
            self.server.url,
            json=self.message,
            headers={**accept, **self.headers},
        ) as response:
            for chunk in response.iter_text():
                self.text += chunk
                if self.close.is_set():
                    return


def cancelled(server: HttpServer, key: str) -> bool:
    return key in json.dumps(text_of(server.call("cancelled").json()))


def test_a_stateless_client_that_vanishes_cancels_its_call(server: HttpServer) -> None:
    params = {"name": "wait", "arguments": {"key": "gone"}, "_meta": envelope()}
    body = json.dumps(request("tools/call", params)).encode()
    fields = {**modern_headers("tools/call", "wait"), "content-type": "application/json"}
    fields |= {"accept": "*/*", "host": f"127.0.0.1:{server.port}"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with server.connect() as connection:
        connection.sendall(
            f"POST /mcp HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body
        )
        time.sleep(0.5)
        assert not cancelled(server, "gone")
    until(lambda: cancelled(server, "gone"))


def test_a_session_cancels_a_call_by_notification(server: HttpServer) -> None:
    session = server.initialize()
    params = {"name": "wait", "arguments": {"key": "notified"}}
    waiting = Streamed(server, request("tools/call", params, id_=7), in_session(session))
    until(lambda: "id:" in waiting.text)
    time.sleep(0.3)
    cancellation = notification("notifications/cancelled", {"requestId": 7})
    assert server.post(cancellation, headers=in_session(session)).status_code == 202
    until(lambda: cancelled(server, "notified"))
    waiting.join(10)
    assert events(waiting.text)[-1][1]["error"]["code"] == -32800


@pytest.mark.parametrize("meta", [{}, {"progressToken": "t"}], ids=["plain", "sdk"])
def test_a_broken_stream_of_a_session_is_resumed(server: HttpServer, meta: dict[str, Any]) -> None:
    session, other, key = server.initialize(), server.initialize(), f"resumed {meta}"
    params = {"name": "wait", "arguments": {"key": key}, "_meta": meta}
    message = json.dumps(request("tools/call", params, id_=5)).encode()
    fields = {**in_session(session), "content-type": "application/json", "accept": "*/*"}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    with server.connect() as connection:
        start = f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(message)}"
        connection.sendall(start.encode() + b"\r\n\r\n" + message)
        received = b""
        while b"data:" not in received:
            received += connection.recv(4096)
    primed = next(line for line in received.decode().splitlines() if line.startswith("id:"))
    last = {"last-event-id": primed.removeprefix("id:").strip()}
    # Another session has no such event, although its request ids are the same.
    stolen = server.http.get(server.url, headers={**in_session(other), **last, "accept": "*/*"})
    assert stolen.status_code == 410
    resumed = Streamed(server, None, {**in_session(session), **last})
    time.sleep(0.3)
    assert not cancelled(server, key)
    server.call("release", {"key": key}, session=other)
    until(lambda: '"result"' in resumed.text)
    replayed = server.http.get(server.url, headers={**in_session(session), **last, "accept": "*/*"})
    assert answer_of(replayed)["id"] == 5
    server.http.delete(server.url, headers=in_session(session))
    resumed.join(10)
    assert not resumed.is_alive()


def test_a_deleted_session_is_unknown(server: HttpServer) -> None:
    session = server.initialize()
    assert server.http.delete(server.url, headers=in_session(session)).status_code == 200
    assert server.call("echo", session=session).status_code == 404


# Changes


CHANGING = Path(__file__).parents[1] / "support" / "conformance_server.py"


def test_changed_lists_reach_the_streams_of_both_eras(tmp_path: Path) -> None:
    with HttpServer([sys.executable, str(CHANGING), str(tmp_path)]) as server:
        root = server.url.removesuffix("/mcp")
        until(lambda: server.http.get(f"{root}/readyz").status_code == 200, 120)
        session = server.initialize()
        standing = Streamed(server, None, in_session(session))
        params = {"notifications": {"toolsListChanged": True}, "_meta": envelope()}
        headers = modern_headers("subscriptions/listen")
        listening = Streamed(server, request("subscriptions/listen", params, id_=4), headers)
        until(lambda: "acknowledged" in listening.text)
        assert server.call("test_trigger_tool_change").status_code == 200
        changed = "notifications/tools/list_changed"
        until(lambda: changed in standing.text)
        until(lambda: changed in listening.text)
        assert server.stop()[0] == 0
        listening.join(10)
        standing.join(10)
        assert answer_of_stream(listening.text)["id"] == 4, "the subscription ended in order"


# Sessions


def test_a_session_hears_only_its_own_log_lines(server: HttpServer) -> None:
    loud, quiet = server.initialize(), server.initialize()
    server.post(request("logging/setLevel", {"level": "debug"}), headers=in_session(loud))
    stream = Streamed(server, None, in_session(loud))
    for session in (loud, quiet):
        text = server.call("log", {"level": "info", "text": "a line"}, session=session).text
        assert ("notifications/message" in text) == (session == loud)
    assert "notifications/message" not in stream.text
    server.http.delete(server.url, headers=in_session(loud))
    stream.join(10)


def test_an_idle_session_expires() -> None:
    with HttpServer(http={"session_idle_seconds": 0.5}) as server:
        session = server.initialize()
        assert server.call("echo", session=session).status_code == 200
        time.sleep(1.0)
        response = server.call("echo", session=session)
        assert response.status_code == 404
        assert response.json()["error"]["code"] == -32600
        server.wait_for("404 unknown-session")


# Probes and the end


def test_probes_answer(server: HttpServer) -> None:
    root = server.url.removesuffix("/mcp")
    assert server.http.get(f"{root}/healthz").json() == {"status": "ok"}
    until(lambda: server.http.get(f"{root}/readyz").status_code == 200)


def test_a_signal_drains_running_calls_and_ends_streams() -> None:
    with HttpServer() as server:
        session = server.initialize()
        listening = Streamed(server, None, in_session(session))
        params = {"name": "wait", "arguments": {"key": "drained"}}
        waiting = Streamed(server, request("tools/call", params, id_=9), in_session(session))
        until(lambda: "id:" in waiting.text)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        code, stdout = server.ended()
        waiting.join(10)
        listening.join(10)
        assert (code, stdout) == (0, "")
        assert "id" in events(waiting.text)[-1][1], "the call was answered"
        server.wait_for("toolbox closed")


def test_stdout_stays_empty_although_tools_print() -> None:
    with HttpServer() as server:
        assert server.call("noisy").status_code == 200
        assert server.stop(signal.SIGINT) == (0, "")


def test_stdio_does_not_import_the_http_server() -> None:
    code = (
        "import sys, carrel.cli.serve, carrel.server.stdio\n"
        "import carrel.server.app, carrel.server.reload, carrel.server.transport\n"
        "print([name for name in sys.modules if name.startswith('carrel.server.http')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"
