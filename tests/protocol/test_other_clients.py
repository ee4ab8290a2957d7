"""Tests both transports with the protocol's clients in other languages, by one script each.

`python3 scripts/peers.py` installs the clients.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.http_server import HttpServer
from support.stdio_client import server_command

pytestmark = pytest.mark.long("programs")

SUPPORT = Path(__file__).parents[1] / "support"
#: What each client sees.
SEEN = {
    "echoed": {"value": [1, {"a": "é"}]},
    "refused": True,
    "unknown": -32602,
    "ok": True,
    "crossed": 0,
}


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with HttpServer() as server:
        yield server


def installed(name: str) -> Path:
    """Returns the folder of a client; skips the test if it is not installed."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
    try:
        import peers
    finally:
        sys.path.pop(0)
    found = peers.find(name)
    if found is None:
        pytest.skip(f"needs the client: python3 scripts/peers.py {name}")
    return found


def ran(*words: str | Path, **options: Any) -> str:
    """Runs a program and returns its output."""
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, **options
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return str(done.stdout)


def where(server: HttpServer, transport: str) -> str:
    """Returns the place of a server, as the scripts take it."""
    if transport == "http":
        return json.dumps({"url": server.url})
    command, *args = server_command()
    return json.dumps({"command": command, "args": args})


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("client", ["mcp-typescript", "mcp-go"])
def test_a_client_passes_the_script(
    server: HttpServer, client: str, mode: str, transport: str
) -> None:
    program = installed(client)
    words: list[str | Path] = [program]
    if client == "mcp-typescript":
        words = ["node", SUPPORT / "typescript_client.mjs", program.parents[4]]
    seen = json.loads(ran(*words, mode, where(server, transport)))
    assert "echo" in seen.pop("tools")
    assert seen == SEEN


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector_passes_the_script(
    server: HttpServer, transport: str, tmp_path: Path
) -> None:
    """The Inspector sends one request a run, so nothing can be crossed."""
    package = installed("mcp-inspector").parent
    node = package.parents[1] / ".bin" / "node"
    program = package / "clients" / "launcher" / "build" / "index.js"
    place = [server.url, "--transport", "http"] if transport == "http" else server_command()
    env = {**os.environ, "HOME": str(tmp_path)}

    def ask(method: str, *words: str, fails: bool = False) -> Any:
        done = subprocess.run(
            [node, program, "--cli", *place, "--method", method, *words],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=env,
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode != 0) == fails, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout + done.stderr if fails else json.loads(done.stdout)

    tools = [tool["name"] for tool in ask("tools/list")["tools"]]
    assert "echo" in tools
    value = json.dumps([1, {"a": "é"}])
    echoed = ask("tools/call", "--tool-name", "echo", "--tool-arg", f"value={value}")
    assert echoed["structuredContent"] == SEEN["echoed"]
    assert '"isError": true' in ask("tools/call", "--tool-name", "refuse", fails=True)
    assert "ecko" in ask("tools/call", "--tool-name", "ecko", fails=True)
    health = ask("resources/read", "--uri", "carrel://health")
    assert json.loads(health["contents"][0]["text"])["ok"] is True
