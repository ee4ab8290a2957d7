"""A real HTTP server with scripted tools, and raw requests to it.

Run as a program it serves: `python http_server.py [SETTINGS AS JSON]`, with the members `server`,
`http`, `identity` and `port`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx2

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.server.http import Address

MODERN = "2026-07-28"
BOTH = "application/json, text/event-stream"
CLIENT = {"name": "test", "version": "1"}


def command(**settings: Any) -> list[str]:
    """Returns the command of a server with scripted tools and these settings."""
    return [sys.executable, __file__, json.dumps(settings)]


class HttpServer:
    """A server in its own process, and requests to it.

    Args:
        words: the command; by default one with scripted tools.
        settings: of that server: `server`, `http`, `identity` and `port`.
    """

    def __init__(self, words: list[str] | None = None, **settings: Any) -> None:
        self.process = subprocess.Popen(
            words or command(**settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.wait_for(r"(?:carrel: |\")serving ([^\s\"]+)")[1]
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])
        self.http = httpx2.Client(timeout=30, trust_env=False)

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()

    def wait_for(self, pattern: str, seconds: float = 30) -> re.Match[str]:
        """Returns the first log line that matches, waiting for it."""

        def found() -> re.Match[str] | None:
            return next((m for line in self.lines if (m := re.search(pattern, line))), None)

        with self._changed:
            self._changed.wait_for(lambda: found() is not None, seconds)
            match = found()
        assert match is not None, f"no line matches {pattern!r}: {self.lines}"
        return match

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.http.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(5)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Sends a signal; returns the exit code and what was written to stdout."""
        os.kill(self.process.pid, number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Waits for the end; returns the exit code and what was written to stdout."""
        code = self.process.wait(30)
        assert self.process.stdout is not None
        return code, self.process.stdout.read()

    # Requests

    def post(self, body: Any, **more: Any) -> httpx2.Response:
        """Posts a message, or bytes; `headers` overrides the usual ones."""
        headers = {
            "content-type": "application/json",
            "accept": BOTH,
            **more.pop("headers", {}),
        }
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(self.url, content=content, headers=headers, **more)

    def initialize(self, revision: str = "2025-11-25") -> str:
        """Opens a session; returns its id."""
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
        answer = self.post(request("initialize", params, id_="open"))
        assert answer.status_code == 200, answer.text
        session = answer.headers["mcp-session-id"]
        done = self.post(notification("notifications/initialized"), headers=in_session(session))
        assert done.status_code == 202
        return str(session)

    def call(
        self, tool: str, arguments: Any = None, *, session: str | None = None, **more: Any
    ) -> httpx2.Response:
        """Calls a tool: of the session, or in revision 2026-07-28."""
        params = {"name": tool, "arguments": arguments or {}}
        id_ = more.pop("id_", 1)
        if session is not None:
            headers = {**in_session(session), **more.pop("headers", {})}
            return self.post(request("tools/call", params, id_=id_), headers=headers, **more)
        headers = {**modern_headers("tools/call", tool), **more.pop("headers", {})}
        params["_meta"] = envelope(**more.pop("meta", {}))
        return self.post(request("tools/call", params, id_=id_), headers=headers, **more)

    def connect(self) -> socket.socket:
        """Opens a raw connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)


def request(method: str, params: Any = None, *, id_: Any = 1) -> dict[str, Any]:
    """Returns a request."""
    message = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    """Returns a notification."""
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def in_session(session: str, revision: str = "2025-11-25") -> dict[str, str]:
    """Returns the headers of a request in a session."""
    return {"mcp-session-id": session, "mcp-protocol-version": revision}


def modern_headers(method: str, name: str | None = None) -> dict[str, str]:
    """Returns the headers of a request of revision 2026-07-28."""
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    return headers if name is None else {**headers, "mcp-name": name}


def envelope(**more: Any) -> dict[str, Any]:
    """Returns the `_meta` of a request of revision 2026-07-28."""
    prefix = "io.modelcontextprotocol/"
    return {
        f"{prefix}protocolVersion": MODERN,
        f"{prefix}clientInfo": CLIENT,
        f"{prefix}clientCapabilities": {},
        **more,
    }


def events(text: str) -> list[tuple[str | None, Any]]:
    """Returns the events of a stream: id and message; None for an event without data."""
    found = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(
            line.split(":", 1) for line in block.split("\n") if line and not line.startswith(":")
        )
        if fields:
            data = fields.get("data", "").strip()
            id_ = fields.get("id")
            found.append((id_ and id_.strip(), json.loads(data) if data else None))
    return found


def answer_of(response: httpx2.Response) -> Any:
    """Returns the JSON-RPC response in a body of either kind."""
    if response.headers["content-type"].startswith("text/event-stream"):
        return next(m for _, m in events(response.text) if m and "method" not in m)
    return response.json()


def main() -> int:
    """Serves scripted tools."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from carrel.config import HttpConfig, ServerConfig
    from carrel.server import serve_http
    from carrel.server.http import parse_address
    from support.scripted_toolbox import ScriptedToolbox, as_toolbox

    settings = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    http: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in settings.get("http", {}).items()
    }
    double = ScriptedToolbox()
    address = parse_address(f"127.0.0.1:{settings.get('port', 0)}")
    server = settings.get("server", {})
    if "audit_log" in server:
        server["audit_log"] = Path(server["audit_log"])
    return serve_http(
        lambda: as_toolbox(double),
        address,
        ServerConfig(**server),
        HttpConfig(**http),
        identity=_identity(double.config, settings.get("identity"), address),
    )


def _identity(config: Config, settings: dict[str, Any] | None, address: Address) -> Any:
    from carrel.cli.serve_identity import identity_of
    from carrel.config.identity_rules import IDENTITY_RULES
    from carrel.config.model import IdentityConfig

    if settings is None:
        return None
    values = {name: IDENTITY_RULES[name](value, Path()) for name, value in settings.items()}
    return identity_of(replace(config, identity=IdentityConfig(**values)), address)


if __name__ == "__main__":
    sys.exit(main())
