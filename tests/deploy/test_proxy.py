"""Tests the proxy's configuration with the real proxy and two servers."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from support.fetch_harness import until
from support.http_server import HttpServer, in_session, request

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import peers  # noqa: E402 -- it is a script, beside the tests

CONFIGURATION = ROOT / "deploy" / "haproxy.cfg"


@pytest.fixture(scope="module")
def haproxy() -> Path:
    program = peers.find("haproxy")
    if program is None:
        pytest.skip("haproxy is not here; `just peers haproxy` gets it or says why not")
    return program


@pytest.fixture(scope="module")
def servers() -> Iterator[list[HttpServer]]:
    with HttpServer() as one, HttpServer() as other:
        yield [one, other]


@pytest.fixture
def proxy(
    haproxy: Path, servers: list[HttpServer], tmp_path: Path
) -> Iterator[tuple[str, list[HttpServer]]]:
    """Starts the proxy before two servers; only addresses differ from the file in `deploy`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    text = CONFIGURATION.read_text("utf-8").replace("bind :8080", f"bind 127.0.0.1:{port}")
    lines = "".join(
        f"  server replica{number} 127.0.0.1:{server.port} check inter 2s fall 30\n"
        for number, server in enumerate(servers)
    )
    text = re.sub(r"  server-template .*\n", lines, text)
    file = tmp_path / "haproxy.cfg"
    file.write_text(text, "utf-8")
    process = subprocess.Popen(
        [haproxy, "-db", "-f", file], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"

    def is_ready() -> bool:
        try:
            return httpx2.get(f"{url}/readyz", trust_env=False).status_code == 200
        except httpx2.TransportError:
            return False

    until(is_ready, 30)
    yield url, servers
    process.kill()
    process.wait()


def test_the_file_has_no_fault(haproxy: Path) -> None:
    done = subprocess.run(
        [haproxy, "-c", "-f", CONFIGURATION], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr.lower()


def test_a_session_stays_at_the_replica_that_opened_it(
    proxy: tuple[str, list[HttpServer]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, servers = proxy
    client = servers[0]
    direct = client.url
    monkeypatch.setattr(client, "url", f"{url}/mcp")
    sessions = [client.initialize() for _ in range(6)]
    for _ in range(3):
        for session in sessions:
            answer = client.post(request("ping"), headers=in_session(session))
            assert answer.status_code == 200, answer.text
    monkeypatch.setattr(client, "url", direct)
    here = [
        client.post(request("ping"), headers=in_session(session)).status_code == 200
        for session in sessions
    ]
    assert {True, False} == set(here), "sessions are spread over both"
