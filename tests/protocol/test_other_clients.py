"""Tests both transports with the protocol's clients in other languages, by one script each.

`python3 scripts/peers.py` installs the clients.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.http_server import HttpServer
from support.stdio_client import server_command

SUPPORT = Path(__file__).parents[1] / "support"


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


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_typescript_client_passes_the_script(
    server: HttpServer, mode: str, transport: str
) -> None:
    folder = installed("mcp-typescript").parents[4]
    where: dict[str, Any] = {"url": server.url}
    if transport == "stdio":
        command, *args = server_command()
        where = {"command": command, "args": args}
    script = SUPPORT / "typescript_client.mjs"
    done = subprocess.run(
        ["node", script, folder, mode, json.dumps(where)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    seen = json.loads(done.stdout)
    assert seen["tools"][0] == "echo"
    del seen["tools"]
    assert seen == {
        "echoed": {"value": [1, {"a": "é"}]},
        "refused": True,
        "unknown": -32602,
        "ok": True,
        "crossed": 0,
    }
