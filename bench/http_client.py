"""A minimal HTTP client that sends prepared requests over open connections.

An ordinary client would take more time than the measured servers.
"""

from __future__ import annotations

import json
import re
import selectors
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_CHUNK = 2**18
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLIENT = {"name": "bench", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class HttpServer:
    """A server in its own process. A context manager, which ends the server.

    Args:
        command: starts it; its stderr has a line with the URL.
        environment: all of its variables.
        log: where its stderr goes.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                list(command), env=dict(environment), stdin=subprocess.DEVNULL, stderr=stderr
            )
        self.port = self._find_port()

    def _find_port(self) -> int:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            found = re.search(r"http://127\.0\.0\.1:(\d+)/mcp", self._log.read_text())
            if found is not None:
                return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"the server does not serve: {self._log.read_text()[-2000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def connect(self, *, in_session: bool) -> HttpConnection:
        """Opens a connection, and a session if asked for."""
        connection = HttpConnection(self.port)
        if in_session:
            connection.initialize()
        return connection


class HttpConnection:
    """One connection to a server."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self._session: str | None = None

    def initialize(self) -> None:
        """Opens a session of revision 2025-11-25."""
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}
        head = self.ask(self._post({"id": 0, "method": "initialize", "params": params}, {}))
        found = re.search(rb"\r\nmcp-session-id: *(\S+)", head, re.IGNORECASE)
        assert found is not None, head
        self._session = found[1].decode()
        done = {"method": "notifications/initialized"}
        self.ask(self._post(done, self._headers("notifications/initialized", None)))

    def tool_call(self, tool: str, arguments: Mapping[str, Any], id_: int) -> bytes:
        """Returns a tool call as the bytes of a request."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if self._session is None:
            params["_meta"] = _META
        message = {"id": id_, "method": "tools/call", "params": params}
        return self._post(message, self._headers("tools/call", tool))

    def _headers(self, method: str, name: str | None) -> dict[str, str]:
        if self._session is not None:
            return {"mcp-session-id": self._session, "mcp-protocol-version": "2025-11-25"}
        named = {} if name is None else {"mcp-name": name}
        return {"mcp-protocol-version": "2026-07-28", "mcp-method": method, **named}

    @staticmethod
    def _post(message: Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        fields = {
            "host": "127.0.0.1",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **headers,
            "content-length": str(len(body)),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body

    def send(self, request: bytes) -> None:
        """Sends a request."""
        self._received = b""
        self.socket.sendall(request)

    def receive(self) -> bytes | None:
        """Reads what has arrived; returns the response if it is complete."""
        chunk = self.socket.recv(_CHUNK)
        if not chunk:
            raise RuntimeError(f"the server closed the connection: {self._received[-500:]!r}")
        received = self._received = self._received + chunk
        end = received.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = _LENGTH.search(received, 0, end + 2)
        if length is not None:
            return received if len(received) >= end + 4 + int(length[1]) else None
        return received if received.endswith(b"\r\n0\r\n\r\n") else None

    def ask(self, request: bytes) -> bytes:
        """Sends a request and returns the response, with its head."""
        self.send(request)
        while (response := self.receive()) is None:
            pass
        return response

    def time_of(self, request: bytes) -> float:
        """Returns the seconds from sending a request to the end of the response."""
        start = time.perf_counter()
        self.ask(request)
        return time.perf_counter() - start

    def close(self) -> None:
        """Closes the connection."""
        self.socket.close()


def times_at_once(
    connections: Sequence[HttpConnection], requests: Sequence[Sequence[bytes]]
) -> tuple[float, list[float]]:
    """Sends each connection's requests one after another, all connections at once.

    Returns:
        The seconds in total, and those of each request.
    """
    times = []
    started: dict[HttpConnection, float] = {}
    left = [iter(own) for own in requests]
    with selectors.DefaultSelector() as selector:
        begin = time.perf_counter()
        for number, connection in enumerate(connections):
            selector.register(connection.socket, selectors.EVENT_READ, (connection, left[number]))
            started[connection] = time.perf_counter()
            connection.send(next(left[number]))
        waiting = len(connections)
        while waiting:
            for key, _ in selector.select(60):
                connection, following = key.data
                if connection.receive() is None:
                    continue
                now = time.perf_counter()
                times.append(now - started[connection])
                request = next(following, None)
                if request is None:
                    selector.unregister(connection.socket)
                    waiting -= 1
                else:
                    started[connection] = time.perf_counter()
                    connection.send(request)
        return time.perf_counter() - begin, times


def result_of(response: bytes) -> dict[str, Any]:
    """Returns the result in a response of either format.

    Raises:
        AssertionError: the response is an error.
    """
    head, _, body = response.partition(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n")[0], response[:2000]
    start, end = body.index(b'{"'), body.rindex(b"}")
    frame = json.loads(body[start : end + 1])
    result = frame.get("result")
    assert isinstance(result, dict), body[:2000]
    assert not result.get("isError"), body[:2000]
    return result
