"""Tests the server over HTTP on a full disk: filled before it starts, or while it serves."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from carrel.config import Config
from carrel.web.artifacts.resources import ArtifactResources
from carrel.web.artifacts.store import open_artifacts
from support.compiled_code import share_code
from support.http_server import HttpServer, answer_of
from support.operated_server import HOST, OperatedServer, an_upstream, eventually
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

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
    """Each store that cannot be written is named once; calls continue without it."""
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


# A disk that is filled while the server serves: library, cache, state, audit log

BOOK = "@misc{%s, title = {%s}, year = {2020}}"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Yields a file system of two megabytes."""
    mount = shutil.which("mount")
    folder = tmp_path / "disk"
    folder.mkdir()
    words = [str(mount), "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system needs more rights than the tests have here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Uses the last byte of a disk; returns the file that does."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    return filler


def titles(library: Path) -> list[str]:
    return sorted(one["title"] for one in json.loads(library.read_text("utf-8")))


def test_on_a_disk_that_becomes_full_nothing_acknowledged_is_lost(
    disk: Path, tmp_path: Path, code_folder: Path
) -> None:
    library, audit = disk / "library.json", disk / "audit.jsonl"
    with an_upstream() as upstream:
        upstream.on("*", Reply(body=b'{"n":1}' + b" " * 50_000))
        settings: dict[str, Any] = {
            "cache_dir": str(disk / "cache"),
            "data_dir": str(disk / "data"),
            "library": {"file": str(library)},
            "server": {"audit_log": str(audit)},
        }
        share_code(disk / "cache")
        with OperatedServer(tmp_path, upstream, code_folder, **settings) as server:
            server.ready()

            def add(name: str) -> dict[str, Any]:
                arguments = {"inputs": [BOOK % (name, name)]}
                result: dict[str, Any] = answer_of(server.call("library_add", arguments))["result"]
                return result

            def fetch(path: str) -> dict[str, Any]:
                url = f"https://{HOST}/v1/{path}"
                result: dict[str, Any] = server.open(url)["result"]
                return result

            assert not add("first").get("isError")
            assert not fetch("before").get("isError")
            filler = fill(disk)
            refused = add("second")
            assert refused["isError"], refused
            error = json.loads(refused["content"][-1]["text"])["error"]
            assert "No space left on device" in error["message"], error
            assert titles(library) == ["first"]
            for number in range(3):
                assert not fetch(f"full?{number}").get("isError"), "the cache costs no call"
            server.open("https://denied.example.org/")
            server.wait_for("the audit log .* cannot be written: No space left on device")
            server.wait_for("new cache entries")
            filler.unlink()
            assert not add("third").get("isError"), "the server works as before"
            assert titles(library) == ["first", "third"]
            server.open("https://denied.example.org/again")
            eventually(lambda: audit.read_text("utf-8").count('"event":"denial"') >= 2, 30)
            code, _ = server.stop()
        assert code == 0
        assert titles(library) == ["first", "third"]
        assert not list(disk.rglob("*.tmp"))


def test_on_a_full_disk_large_results_are_returned_inline_and_kept_ones_stay(
    disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = Config(cache_dir=disk / "cache", data_dir=disk / "data")
    artifacts = ArtifactResources(open_artifacts(config))
    before = artifacts.keep(b'{"n":1}' * 1000)
    assert before is not None
    filler = fill(disk)
    with caplog.at_level(logging.WARNING):
        assert artifacts.keep(os.urandom(50_000).hex().encode()) is None
    assert "a large result is returned inline" in caplog.text
    assert artifacts.read(before.uri) == '{"n":1}' * 1000
    filler.unlink()
    after = artifacts.keep(b'{"n":2}' * 1000)
    assert after is not None
    assert artifacts.read(after.uri) == '{"n":2}' * 1000
    artifacts.close()
