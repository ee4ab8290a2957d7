"""Tests what a hostile or broken client sends over HTTP: each case has its status and log line.

Refusals of ordinary requests are in `test_http_refusals`.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from carrel.server.http import messages
from carrel.server.http.messages import parse_message
from carrel.server.http.refusals import Refused
from support.fetch_harness import until
from support.http_server import (
    CLIENT,
    HttpServer,
    command,
    envelope,
    events,
    modern_headers,
    request,
)

HEAD = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
CALL = json.dumps(
    request("tools/call", {"name": "echo", "arguments": {"value": 1}, "_meta": envelope()})
).encode()
MODERN = b"".join(
    f"{name}: {value}\r\n".encode() for name, value in modern_headers("tools/call", "echo").items()
)
GOOD = HEAD + MODERN + b"content-length: %d\r\n\r\n" % len(CALL) + CALL


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer(http={"read_seconds": 2}, server={"log_level": "info"}) as server:
        yield server


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


def ask(server: HttpServer, sent: bytes, *, ends: bool = True) -> bytes:
    with server.connect() as connection:
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        return received(connection)


# Messages


AMBIGUOUS = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"METHOD":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"Params":{"a":1}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","\\u006eame":"b"}}',
    b'{"jsonrpc":"2.0","id":1,"meth\\u006fd":"ping","method":"tools/call"}',
    b' {"jsonrpc" : "2.0" , "id" : 1 , "method" : "ping" , "params" : {} , "params" : {"a":1} } ',
    b'{"jsonrpc":"2.0","id":1,"result":{},"result":{"a":1}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"name": "a", "name": "a"}}',
    b'{"jsonrpc":"2.0","id":1,"params":{"a":"}, \\"b\\": {"},"method":"ping","params":{"b":1}}',
    b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"level":"debug","level":"error"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":2}',
]
PLAIN = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
    b'\n{ "jsonrpc": "2.0",\t"id": "\\u00e9", "method": "ping", "params": { } }\r\n',
    (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"name":"b",'
        b'"Name":"c","method":"d","id":[{"id":1,"ID":2}]},"_meta":{"name":1}}}'
    ),
    b'{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"X":2}',
    b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","_meta":{"name":"b"}}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"name": "a", "_meta": {"name": "b"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"x","params":{}}',
]


def has_repeated_member(body: bytes) -> bool:
    """Returns whether a member comes twice in any object of a JSON text."""
    objects: list[list[tuple[str, Any]]] = []
    json.loads(body, object_pairs_hook=objects.append)
    return any(len(dict(one)) < len(one) for one in objects)


@pytest.mark.parametrize("body", AMBIGUOUS)
def test_a_message_that_two_programs_read_differently_is_refused(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        parse_message(body)
    assert refused.value.refusal.name == "ambiguous"


@pytest.mark.parametrize("body", PLAIN)
def test_names_that_are_repeated_elsewhere_are_no_ambiguity(body: bytes) -> None:
    message, id_ = parse_message(body)
    assert message == json.loads(body)
    assert id_ == message["id"]


@pytest.mark.parametrize("body", [one for one in AMBIGUOUS if has_repeated_member(one)])
def test_a_repeated_member_is_not_taken_for_what_a_library_wrote(body: bytes) -> None:
    assert not messages._is_written_plainly(body)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_what_a_library_writes_is_not_decoded_again(separators: tuple[str, str]) -> None:
    """Finding a member that comes twice would otherwise take longer than decoding the body."""
    params = {"name": "a", "arguments": {"name": "\n\u00e9"}, "_meta": {"name": "b"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert messages._is_written_plainly(json.dumps(message, separators=separators).encode())


def test_an_ambiguous_message_is_answered_with_its_id(server: HttpServer) -> None:
    response = server.post(AMBIGUOUS[2])
    assert (response.status_code, response.json()["id"]) == (400, 1)
    server.wait_for("400 ambiguous")


# Requests on the wire: what is sent → the start of the answer, and the line in the log


WIRE = {
    "two lengths": (
        HEAD + b"content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "two different lengths": (
        HEAD + b"content-length: 5\r\ncontent-length: 6\r\n\r\n{}",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "a length that is no number": (
        HEAD + b"content-length: five\r\n\r\n{}",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "a chunk size that is no number": (
        HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "a chunk longer than its size": (
        HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}{}{}\r\n0\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "an unknown transfer encoding": (
        HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "a body that ends early": (
        HEAD + b"content-length: 500\r\n\r\n{",
        b"",
        "closed its connection before its request was read",
    ),
    "chunks over HTTP/1.0": (
        HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "HTTP/2.0 in text": (
        HEAD.replace(b"HTTP/1.1", b"HTTP/2.0") + b"content-length: 2\r\n\r\n{}",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "no host": (b"POST /mcp HTTP/1.1\r\n\r\n", b"HTTP/1.1 400", "not-http"),
    "two hosts": (
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "two content types": (
        HEAD + b"content-type: text/plain\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 400",
        "400 repeated-header",
    ),
    "two sessions": (
        HEAD + b"mcp-session-id: a\r\nmcp-session-id: b\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 400",
        "400 repeated-header",
    ),
    "a folded header": (
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: a\r\n b\x00c\r\n\r\n",
        b"HTTP/1.1 400",
        "not-http",
    ),
    "another protocol": (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"HTTP/1.1 400", "not-http"),
    "an absolute target": (
        b"POST http://evil.example/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 404",
        "404 no-such-path",
    ),
    "CONNECT": (
        b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"HTTP/1.1 404",
        "404 no-such-path",
    ),
    "another upgrade": (
        HEAD + b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 400",
        "400 not-a-message",
    ),
    "a header behind the body": (
        HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nhost: evil.example\r\n\r\n",
        b"HTTP/1.1 400",
        "400 not-a-message",
    ),
}


@pytest.mark.parametrize("case", WIRE)
def test_a_request_that_is_not_valid_is_answered_once(server: HttpServer, case: str) -> None:
    sent, start, line = WIRE[case]
    seen = len(server.lines)
    found = ask(server, sent)
    assert found.startswith(start), found
    assert found.count(b"HTTP/1.1 ") <= 1
    end = time.monotonic() + 20
    while not any(line in one for one in server.lines[seen:]):
        assert time.monotonic() < end, server.lines[seen:]
        time.sleep(0.02)
    assert len(server.lines[seen:]) == 1, server.lines[seen:]
    assert ask(server, GOOD).startswith(b"HTTP/1.1 200"), "the server serves on"


def test_http_1_0_is_answered_and_closed(server: HttpServer) -> None:
    found = ask(server, GOOD.replace(b"HTTP/1.1", b"HTTP/1.0"), ends=False)
    assert found.startswith(b"HTTP/1.1 200")
    assert b'"value":1' in found


def test_a_stream_over_http_1_0_ends_with_its_connection(server: HttpServer) -> None:
    """HTTP/1.0 has no chunks; a client would read their sizes as content."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
    body = json.dumps(request("initialize", params)).encode()
    head = HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + b"content-length: %d\r\n\r\n" % len(body)
    fields, _, stream = ask(server, head + body, ends=False).partition(b"\r\n\r\n")
    assert b"text/event-stream" in fields
    assert b"transfer-encoding" not in fields.lower()
    [message] = [one for _, one in events(stream.decode()) if one]
    assert message["result"]["protocolVersion"] == "2025-11-25"


def test_pipelined_requests_are_answered_in_order(server: HttpServer) -> None:
    requests = []
    for number in range(20):
        body = CALL.replace(b'"value": 1', b'"value": %d' % (1000 + number))
        requests.append(HEAD + MODERN + b"content-length: %d\r\n\r\n" % len(body) + body)
    last = requests.pop().replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n", 1)
    found = ask(server, b"".join([*requests, last]), ends=False)
    values = re.findall(rb'"structuredContent":\{"value":(\d+)\}', found)
    assert values == [b"%d" % (1000 + number) for number in range(20)]


@pytest.mark.parametrize(
    "behind",
    [b"nonsense\r\n\r\n", HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"],
    ids=["head", "body"],
)
def test_a_request_is_answered_although_what_follows_is_malformed(
    server: HttpServer, behind: bytes
) -> None:
    seen = len(server.lines)
    found = ask(server, GOOD * 3 + behind, ends=False)
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"200"] * 3 + [b"400"]
    until(lambda: "400 not-http" in "".join(server.lines[seen:]))
    assert len(server.lines[seen:]) == 1, server.lines[seen:]


def test_more_pipelined_requests_than_the_limit_close_their_connection(server: HttpServer) -> None:
    """They are parsed at once, and others would wait meanwhile."""
    found = ask(server, GOOD * 100, ends=False)
    assert b"the requests on this connection do not await responses" in found
    server.wait_for("pipelined")
    assert ask(server, GOOD).startswith(b"HTTP/1.1 200"), "the server serves on"


@pytest.mark.parametrize(
    ("host", "length", "status"), [("evil.example", 2, 421), ("localhost", 10**9, 413)]
)
def test_a_refused_request_is_not_asked_for_its_body(
    server: HttpServer, host: str, length: int, status: int
) -> None:
    head = HEAD.replace(b"localhost", host.encode()) + b"expect: 100-continue\r\n"
    found = ask(server, head + b"content-length: %d\r\n\r\n" % length, ends=False)
    assert found.startswith(b"HTTP/1.1 %d " % status)


def test_a_body_is_asked_for_if_its_client_waits(server: HttpServer) -> None:
    head = HEAD + MODERN + b"connection: close\r\nexpect: 100-continue\r\n"
    with server.connect() as connection:
        connection.sendall(head + b"content-length: %d\r\n\r\n" % len(CALL))
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(CALL)
        assert received(connection).startswith(b"HTTP/1.1 200")


def test_a_body_in_one_byte_chunks_is_read(server: HttpServer) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in CALL)
    found = ask(
        server, HEAD + MODERN + b"transfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    )
    assert found.startswith(b"HTTP/1.1 200")


def test_a_body_that_never_ends_is_refused_at_its_limit() -> None:
    with HttpServer(http={"max_body_bytes": 100_000}) as server, server.connect() as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        try:
            for _ in range(1000):
                connection.sendall(b"2710\r\n" + b" " * 10_000 + b"\r\n")
        except OSError:
            pass  # closed
        server.wait_for("413 body-too-large")
        assert ask(server, GOOD).startswith(b"HTTP/1.1 200")


# Clients that vanish


@pytest.mark.parametrize("behind", [b"", GOOD], ids=["", "pipelines"])
@pytest.mark.parametrize("is_rude", [False, True], ids=["closes", "resets"])
@pytest.mark.parametrize("further", [{}, {"progressToken": 1}], ids=["plain", "sdk"])
def test_a_stateless_client_that_vanishes_ends_its_call(
    server: HttpServer, is_rude: bool, behind: bytes, further: dict[str, Any]
) -> None:
    key = f"vanishes-{is_rude}-{len(behind)}-{len(further)}"
    params = {"name": "wait", "arguments": {"key": key}, "_meta": {**envelope(), **further}}
    body = json.dumps(request("tools/call", params)).encode()
    named = MODERN.replace(b"mcp-name: echo", b"mcp-name: wait")
    with server.connect() as connection:
        connection.sendall(HEAD + named + b"content-length: %d\r\n\r\n" % len(body) + body + behind)
        time.sleep(0.4)
        if is_rude:
            linger = b"\x01\0\0\0\0\0\0\0"
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    server.wait_for(f"cancelled {key}")
    server.wait_for("closed its connection before the response")


# The end


def outcome(connection: socket.socket) -> int | str:
    """Sends a request; returns the status of its answer, or how the connection ended."""
    found = b""
    try:
        connection.sendall(GOOD)
        while b"\r\n\r\n" not in found or not found.endswith(b"}"):
            chunk = connection.recv(65536)
            if not chunk:
                break
            found += chunk
        else:
            return int(found.split(b" ", 2)[1])
    except OSError:
        pass
    # A server may close a connection between two requests, but not within a response.
    return "cut" if found else "closed"


@pytest.mark.long("load")
@pytest.mark.alone
def test_under_load_every_accepted_request_is_answered_or_refused_at_the_end() -> None:
    with HttpServer() as server:
        stopping = threading.Event()
        outcomes: list[int | str] = []

        def flood() -> None:
            with server.connect() as connection:
                last: int | str = 200
                while last == 200:
                    last = outcome(connection)
                    if last == "closed" and not stopping.is_set():
                        last = "lost"
                    outcomes.append(last)

        threads = [threading.Thread(target=flood) for _ in range(16)]
        for thread in threads:
            thread.start()
        while outcomes.count(200) < 100:
            time.sleep(0.02)
        stopping.set()
        server.process.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join(30)
        code, stdout = server.ended()
    assert (code, stdout) == (0, "")
    assert set(outcomes) <= {200, 503, "closed"}, set(outcomes)


def test_a_request_that_has_not_arrived_at_the_signal_is_refused() -> None:
    params = {"name": "wait", "arguments": {"key": "k"}, "_meta": envelope()}
    body = json.dumps(request("tools/call", params)).encode()
    named = MODERN.replace(b"mcp-name: echo", b"mcp-name: wait")
    with HttpServer() as server, ExitStack() as stack:
        served, late, never = (stack.enter_context(server.connect()) for _ in range(3))
        served.sendall(HEAD + named + b"content-length: %d\r\n\r\n" % len(body) + body)
        for connection in (late, never):
            connection.sendall(GOOD[:-10])
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        late.sendall(GOOD[-10:])
        assert received(late).startswith(b"HTTP/1.1 503")
        served.close()
        assert received(never).startswith(b"HTTP/1.1 503")
        assert server.ended() == (0, "")


def test_a_client_that_reads_slowly_gets_its_response_at_the_end() -> None:
    params = {"name": "large", "arguments": {"bytes": 8_000_000}, "_meta": envelope()}
    body = json.dumps(request("tools/call", params)).encode()
    named = MODERN.replace(b"mcp-name: echo", b"mcp-name: large")
    with HttpServer(server={"shutdown_seconds": 60}) as server, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        slow.settimeout(60)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(HEAD + named + b"content-length: %d\r\n\r\n" % len(body) + body)
        found = slow.recv(4096)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(2)
        head, _, start = (found + received(slow)).partition(b"\r\n\r\n")
        [length] = re.findall(rb"content-length: (\d+)", head)
        assert len(start) == int(length) > 8_000_000
        assert server.ended() == (0, "")


# A full disk


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_server_whose_log_cannot_be_written_serves_on() -> None:
    """`/dev/full` refuses every write, as a full disk does."""
    with Path("/dev/full").open("wb") as full, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        words = command(port=port)
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=full) as process:
            try:
                end = time.monotonic() + 60
                while True:
                    assert time.monotonic() < end
                    try:
                        connection = socket.create_connection(("127.0.0.1", port), timeout=20)
                    except ConnectionRefusedError:
                        time.sleep(0.1)
                        continue
                    break
                with connection:
                    connection.sendall(b"GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n" + GOOD)
                    connection.shutdown(socket.SHUT_WR)
                    found = received(connection)
                assert found.startswith(b"HTTP/1.1 404")
                assert b"HTTP/1.1 200" in found
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(30) == 0
