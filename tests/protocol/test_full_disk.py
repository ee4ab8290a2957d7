"""Tests the server over HTTP on a full disk: a file system of 64 KiB, filled before it starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from support.http_server import HttpServer, answer_of
from support.upstream import Reply, Upstream

TESTS = Path(__file__).parents[1]
ARXIV = "export.arxiv.org"
FEED = (TESTS / "fixtures" / "arxiv" / "old_generation" / "response.xml").read_bytes()


@pytest.fixture
def server(
    tmp_path: Path, code_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HttpServer]:
    allowed = shutil.which("unshare") and subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", tmp_path], check=False,
        capture_output=True,
    ).returncode == 0  # fmt: skip
    if not allowed:
        pytest.skip("file systems cannot be mounted here")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*sys.path, str(TESTS)]))
    disk = tmp_path / "disk"
    disk.mkdir()
    (code_folder / "code").mkdir(exist_ok=True)
    fill = (
        'mount -t tmpfs -o size=64k tmpfs "$0" && mkdir "$0/cache" "$0/data" && '
        'ln -s "$1" "$0/cache/code" && { head -c 1000000 /dev/zero > "$0/filler" 2>&1; shift 1; } '
        '; exec "$@"'
    )
    with Upstream(ARXIV, authority=trustme.CA()) as upstream:
        upstream.on("*", Reply(headers=[("content-type", "application/atom+xml")], body=FEED))
        settings = tmp_path / "carrel.json"
        values = {
            "cache_dir": str(disk / "cache"),
            "data_dir": str(disk / "data"),
            "fetch": {"ca_bundle": str(upstream.write_authority(tmp_path))},
        }
        settings.write_text(json.dumps(values), "utf-8")
        program = [sys.executable, str(TESTS / "support" / "upstream_server.py")]
        mount = ["unshare", "--mount", "sh", "-c", fill, str(disk), str(code_folder / "code")]
        command = [*mount, *program, str(upstream.port), "serve"]
        with HttpServer([*command, "--config", str(settings), "--http", "127.0.0.1:0"]) as server:
            yield server


def test_a_full_disk_costs_the_cache_and_no_call(server: HttpServer) -> None:
    """Each store that cannot be written is named once; calls go on without it."""
    arguments = {"search_query": "all:desk", "verify_source_url": False}
    for _ in range(2):
        answer = answer_of(server.call("arxiv_query", arguments))
        assert not answer["result"].get("isError"), answer
        assert answer["result"]["structuredContent"]["entries"]
    for purpose in ("pace shared by processes", "new cache entries"):
        server.wait_for(purpose)
        [line] = [line for line in server.lines if purpose in line]
        assert "cannot be used" in line
    code, _ = server.stop()
    assert code == 0
