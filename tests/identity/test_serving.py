"""Tests `carrel serve --http` on addresses other than loopback, with a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.state import open_store
from support.http_server import HttpServer
from support.issuers import SigningKey, bearer

SECRET = "a secret of more than 32 bytes, for tests"
RESOURCE = "https://carrel.example.org/mcp"


def token(**claims: object) -> str:
    usual = {"sub": "alice", "aud": RESOURCE, "exp": int(time.time()) + 600}
    key = SigningKey(SECRET.encode(), "HS256", "")
    return key.signed({"alg": "HS256", "typ": "JWT"}, {**usual, **claims})


def words(folder: Path, **identity: object) -> list[str]:
    """Returns a command that serves one plugin on all addresses."""
    path = folder / "carrel.json"
    settings = {
        "cache_dir": str(folder / "cache"),
        "data_dir": str(folder / "data"),
        "replay_dir": str(folder),
        "identity": identity,
    }
    path.write_text(json.dumps(settings), "utf-8")
    serve = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    return [*serve, "--http", "0.0.0.0:0"]


@pytest.mark.requirement("identity:required:addresses")
def test_without_identity_the_server_does_not_start(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "MCP_AUTH_SECRET_KEY"}
    for extra in ({}, {"MCP_AUTH_SECRET_KEY": "short"}, {"MCP_AUTH_SECRET_KEY": SECRET}):
        done = subprocess.run(
            words(tmp_path),
            env={**env, **extra},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert "identity.resource" in done.stderr
        assert "serving http" not in done.stderr.replace("--http: serving http", "")
        assert "short" not in done.stderr


def test_with_a_secret_the_server_serves_any_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    with HttpServer(words(tmp_path, resource=RESOURCE, calls_per_day=2)) as server:
        url = server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert server.call("arxiv_query").status_code == 401
        challenge = server.call("arxiv_query").headers["www-authenticate"]
        assert challenge == "Bearer"
        for bad in (token(aud=url), token(sub="local"), token(exp=1)):
            assert server.call("arxiv_query", headers=bearer(bad)).status_code == 401
        good = {**bearer(token()), "host": "carrel.example.org"}
        answers = [server.call("arxiv_query", {"search": "x"}, headers=good) for _ in range(3)]
        texts = [one.json()["result"]["content"][0]["text"] for one in answers]
        assert "all 2 calls of this day" not in texts[0] + texts[1]
        assert "all 2 calls of this day were made" in texts[2]
        bob = {**good, **bearer(token(sub="bob"))}
        text_of_bob = server.call("arxiv_query", {"search": "x"}, headers=bob).text
        assert "calls of this day" not in text_of_bob
        elsewhere = {**good, "host": "evil.example"}
        assert server.call("arxiv_query", headers=elsewhere).status_code == 421
        assert not [line for line in server.lines if SECRET in line or token()[:60] in line]


def test_calls_of_a_day_survive_a_restart_and_count_for_all_processes(tmp_path: Path) -> None:
    config = Config(cache_dir=tmp_path / "cache", data_dir=tmp_path / "data")
    for count in (1, 2):
        store = open_store(config, "identity")
        assert store.increment("calls:1:alice", 1, limit=2, seconds=60) == count
        store.close()
    other = open_store(config, "identity")
    assert other.increment("calls:1:alice", 1, limit=2, seconds=60) is None
    assert other.increment("calls:1:bob", 1, limit=2, seconds=60) == 1
    other.close()
