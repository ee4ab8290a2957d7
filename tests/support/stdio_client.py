"""A minimal MCP client over pipes that stores every line that it receives."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SERVER = Path(__file__).with_name("scripted_toolbox.py")
MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
PATIENCE = 20.0

Frame = dict[str, Any]


def server_command(**settings: Any) -> list[str]:
    """Returns the command that starts a server with the scripted tools."""
    return [sys.executable, "-W", "error", str(SERVER), json.dumps(settings)]


class StdioClient:
    """Starts a server and exchanges JSON lines with it.

    Attributes:
        lines: every line the server wrote, in order.
        pairs: each frame with the method of the request it answers, or None.
        methods: id → method of its request.
        next_id: of the next request.
    """

    def __init__(self, command: Sequence[str] | None = None, **settings: Any) -> None:
        self.process = subprocess.Popen(
            command or server_command(**settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.revision: str | None = None
        self.lines: list[bytes] = []
        self.pairs: list[tuple[Frame, str | None]] = []
        self.stderr = b""
        self.methods: dict[int | str, str] = {}
        self._frames: queue.SimpleQueue[Frame | list[Frame] | None] = queue.SimpleQueue()
        self._held: list[Frame | list[Frame]] = []
        self.next_id = 1
        self._gate = threading.Event()
        self._gate.set()
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_stdout, self._read_stderr)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate.set()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                pass  # data was still buffered for a server that has exited

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        while self._gate.wait() and (line := self.process.stdout.readline()):
            self.lines.append(line)
            try:
                frame = json.loads(line)
            except ValueError:
                frame = {"stray": line}
            for part in frame if isinstance(frame, list) else [frame]:
                method = self.methods.get(part["id"]) if part.get("id") is not None else None
                self.pairs.append((part, method))
            self._frames.put(frame)
        self._frames.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line

    def stop_reading(self) -> None:
        """Stops reading until `read_on`; the line being read is still received."""
        self._gate.clear()

    def read_on(self) -> None:
        self._gate.set()

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, frame: Any) -> None:
        self.send_bytes(json.dumps(frame).encode() + b"\n")

    def request_frame(self, method: str, params: Mapping[str, Any] | None = None) -> Frame:
        """Returns a request with a fresh id and, on a modern connection, the envelope."""
        id_ = self.next_id
        self.next_id += 1
        self.methods[id_] = method
        body = dict(params or {})
        if self.revision == MODERN:
            body["_meta"] = {**envelope(), **body.get("_meta", {})}
        frame: Frame = {"jsonrpc": "2.0", "id": id_, "method": method}
        if body:
            frame["params"] = body
        return frame

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Sends a request and returns its id."""
        frame = self.request_frame(method, params)
        self.send(frame)
        return int(frame["id"])

    def start_call(self, tool: str, token: str | None = None, **arguments: Any) -> int:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        return self.start("tools/call", params)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        frame: Frame = {"jsonrpc": "2.0", "method": method}
        if params:
            frame["params"] = dict(params)
        self.send(frame)

    def next_frame(self) -> Any:
        """Returns the next frame in order, queued ones first; None at the end of the output."""
        if self._held:
            return self._held.pop(0)
        return self._frames.get(timeout=PATIENCE)

    def wait_for(self, wanted: Callable[[Frame], bool]) -> Frame:
        """Returns the next matching frame; queues others for later."""
        for index, frame in enumerate(self._held):
            if isinstance(frame, dict) and wanted(frame):
                del self._held[index]
                return frame
        while (arrived := self._frames.get(timeout=PATIENCE)) is not None:
            if isinstance(arrived, dict) and wanted(arrived):
                return arrived
            self._held.append(arrived)
        msg = f"the server ended; stderr: {self.stderr.decode(errors='replace')[-2000:]}"
        raise AssertionError(msg)

    def answer(self, id_: int | str) -> Frame:
        """Returns the response to a request."""
        return self.wait_for(lambda frame: frame.get("id") == id_ and "method" not in frame)

    def notification(self, method: str) -> Frame:
        return self.wait_for(lambda frame: frame.get("method") == method)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Frame:
        return self.answer(self.start(method, params))

    def call(self, tool: str, **arguments: Any) -> Frame:
        return self.answer(self.start_call(tool, **arguments))

    def result(self, tool: str, **arguments: Any) -> Frame:
        frame = self.call(tool, **arguments)
        assert "result" in frame, frame
        result = frame["result"]
        assert isinstance(result, dict)
        return result

    def open(self, revision: str = "2025-11-25") -> Frame:
        """Opens the connection in the era of `revision`; returns the first response's result."""
        if revision == MODERN:
            self.revision = revision
            answer = self.request("server/discover")
        else:
            client = {"name": "test", "version": "1"}
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
            answer = self.request("initialize", params)
            self.revision = answer["result"]["protocolVersion"]
            self.notify("notifications/initialized")
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, seconds: float = PATIENCE) -> int:
        """Returns the exit code after reading all output."""
        code = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(seconds)
        return code

    def finish(self) -> int:
        """Ends the input and waits for the end of the server."""
        self.end_input()
        return self.wait()


def envelope(**more: Any) -> dict[str, Any]:
    """Returns the `_meta` that every request has since revision 2026-07-28."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        **more,
    }


def error_of(result: Frame) -> Frame:
    """Returns the error object of a failed call."""
    assert result["isError"] is True
    error = json.loads(result["content"][1]["text"])["error"]
    assert isinstance(error, dict)
    return error
