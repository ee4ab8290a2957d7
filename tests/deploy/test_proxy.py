"""Tests the proxy's configuration with the real proxy and two servers."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from carrel.config import load_config
from support.fetch_harness import until
from support.http_server import (
    BOTH,
    HttpServer,
    envelope,
    in_session,
    modern_headers,
    request,
)

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


@contextmanager
def proxied(
    haproxy: Path, servers: Sequence[HttpServer], folder: Path, check: str
) -> Iterator[str]:
    """Starts the proxy before servers, and yields its URL; only addresses differ from the file in
    `deploy`, and how servers are checked.
    """
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    text = CONFIGURATION.read_text("utf-8").replace("bind :8080", f"bind 127.0.0.1:{port}")
    lines = "".join(
        f"  server replica{number} 127.0.0.1:{server.port} {check}\n"
        for number, server in enumerate(servers)
    )
    text = re.sub(r"  server-template .*\n", lines, text)
    file = folder / "haproxy.cfg"
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

    try:
        until(is_ready, 30)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def proxy(
    haproxy: Path, servers: list[HttpServer], tmp_path: Path
) -> Iterator[tuple[str, list[HttpServer]]]:
    """Starts the proxy before two servers that are left alone by its checks."""
    with proxied(haproxy, servers, tmp_path, "check inter 2s fall 30") as url:
        yield url, servers


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


@pytest.mark.long("load")
def test_no_request_is_lost_while_a_replica_is_replaced(haproxy: Path, tmp_path: Path) -> None:
    deployed = load_config(CONFIGURATION.with_name("carrel.toml"), {"HOME": "/"}).server
    [check] = re.findall(
        r"  server-template .* (check .*) resolvers", CONFIGURATION.read_text("utf-8")
    )
    settings = {
        "drain_seconds": deployed.drain_seconds, "shutdown_seconds": deployed.shutdown_seconds,
        "log_level": "warning",
    }  # fmt: skip
    failed: list[str] = []
    ended = threading.Event()

    def ask(url: str) -> None:
        params = {"name": "echo", "arguments": {"value": 1}, "_meta": envelope()}
        headers = {"accept": BOTH, **modern_headers("tools/call", "echo")}
        with httpx2.Client(trust_env=False, timeout=30, headers=headers) as client:
            while not ended.is_set():
                answer = client.post(f"{url}/mcp", json=request("tools/call", params))
                if answer.status_code != 200:
                    failed.append(answer.text)

    with (
        HttpServer(server=settings) as one,
        HttpServer(server=settings) as other,
        proxied(haproxy, [one, other], tmp_path, check) as url,
        ThreadPoolExecutor(3) as pool,
    ):
        asking = [pool.submit(ask, url) for _ in range(3)]
        try:
            time.sleep(0.5)
            one.process.terminate()
            code = one.process.wait(40)
            time.sleep(0.5)
        finally:
            ended.set()
        for each in asking:
            each.result()
    assert (code, failed) == (0, [])
