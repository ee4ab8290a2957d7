"""A minimal client that writes and reads lines over a server's pipes.

The SDK's client would take more time than the measured servers.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_CHUNK = 2**18

_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class PipeClient:
    """A server in its own process. A context manager, which ends the server.

    Args:
        command: starts it.
        environment: all of its variables.
        log: where its stderr goes.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        self._rest = b""
        self._ids = 0
        self.started = time.perf_counter()
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                list(command),
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                bufsize=0,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()

    def open(self) -> Self:
        """Goes through the handshake."""
        self.ask(self.request("initialize", _INITIALIZE))
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        return self

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        """Returns a request as a line, with the next id."""
        self._ids += 1
        frame = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        return json.dumps(frame | ({"params": params} if params else {})).encode() + b"\n"

    def tool_call(self, tool: str, arguments: Mapping[str, Any]) -> bytes:
        """Returns a tool call as a line."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def send(self, data: bytes) -> None:
        """Writes all data."""
        left = memoryview(data)
        while left:
            left = left[os.write(self._in, left) :]

    def read_line(self) -> bytes:
        """Returns the next line, without its end."""
        rest = self._rest
        searched = 0
        while (end := rest.find(b"\n", searched)) < 0:
            searched = len(rest)
            chunk = os.read(self._out, _CHUNK)
            if not chunk:
                raise RuntimeError(f"the server ended: {self._log.read_text()[-2000:]}")
            rest += chunk
        self._rest = rest[end + 1 :]
        return rest[:end]

    def ask(self, line: bytes) -> bytes:
        """Sends a line and returns the next line of the server."""
        self.send(line)
        return self.read_line()

    def ask_all(self, lines: Sequence[bytes]) -> list[bytes]:
        """Sends all lines and concurrently reads as many, so that no full pipe blocks either."""
        writer = threading.Thread(target=self.send, args=(b"".join(lines),))
        writer.start()
        answers = [self.read_line() for _ in lines]
        writer.join()
        return answers

    def time_of(self, line: bytes) -> float:
        """Returns the seconds from sending a line to the end of the response."""
        start = time.perf_counter()
        self.ask(line)
        return time.perf_counter() - start

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def result_of(line: bytes) -> dict[str, Any]:
    """Returns the result in a response.

    Raises:
        AssertionError: the response is a protocol error or a tool error.
    """
    frame = json.loads(line)
    result = frame.get("result")
    assert isinstance(result, dict), line[:2000]
    assert not result.get("isError"), line[:2000]
    return result
