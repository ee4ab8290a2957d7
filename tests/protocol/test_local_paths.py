"""Tests that no local path reaches a client, and that a replay lists what it can read."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.modules import answering_module
from support.stdio_client import StdioClient

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "examples" / "recordings" / "arxiv-query"


def serving(folder: Path, code_folder: Path, *options: str) -> list[str]:
    """Returns a server with a missing plugin, a broken one, and a module with
    resources.
    """
    (folder / "broken.wasm").write_bytes(b"nothing")
    module = answering_module(
        {
            "list_tools": {"tools": []},
            "list_resources": {"resources": [{"uri": "note:1", "name": "one"}]},
            "read_resource": {"contents": [{"uri": "note:1", "text": "here"}]},
        }
    )
    (folder / "notes.wasm").write_bytes(module.wasm)
    settings = folder / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(folder)}
    plugins = {
        name: {"url": (folder / f"{name}.wasm").as_uri()} for name in ("missing", "broken", "notes")
    }
    settings.write_text(json.dumps({**folders, "plugins": plugins}), "utf-8")
    return [sys.executable, "-m", "carrel", "serve", "--config", str(settings), *options]


@pytest.mark.requirement("sandbox:secrets:local-paths")
def test_no_answer_error_health_or_log_line_names_a_path(tmp_path: Path, code_folder: Path) -> None:
    with StdioClient(serving(tmp_path, code_folder, "--replay", str(RECORDING))) as client:
        client.open()
        client.request("logging/setLevel", {"level": "debug"})
        listed = client.request("resources/list")["result"]["resources"]
        uris = [one["uri"] for one in listed]
        assert uris == ["carrel://health", "note:1"]
        unread = client.request("resources/read", {"uri": "pubmed-connect://info"})["error"]
        assert unread["data"]["error"]["code"] == "not_recorded"
        assert unread["message"].endswith("in …/arxiv-query")
        failed = client.result("pubmed_spell", term="asthma")
        assert json.loads(failed["content"][1]["text"])["error"]["code"] == "not_recorded"
        health = client.request("resources/read", {"uri": "carrel://health"})["result"]
        report = json.loads(health["contents"][0]["text"])
        states = {one["name"]: one for one in report["plugins"]}
        assert states["missing"]["url"] == "file:///…/missing.wasm"
        assert "cannot read …/missing.wasm" in states["missing"]["error"]["message"]
        assert client.finish() == 0
    written = b"".join(client.lines).decode()
    for folder in (tmp_path, code_folder, ROOT, Path.home()):
        assert f"{folder}/" not in written
        assert f'{folder}"' not in written


def test_an_invalid_configuration_is_reported_without_its_folder(
    tmp_path: Path, code_folder: Path
) -> None:
    command = serving(tmp_path, code_folder)
    with StdioClient(command) as client:
        client.open()
        client.request("tools/list")
        (tmp_path / "carrel.json").write_text('{"pluginz": {}}', "utf-8")
        while b"configuration not reloaded" not in client.stderr:
            client.request("ping")
        health = client.request("resources/read", {"uri": "carrel://health"})["result"]
        reload = json.loads(health["contents"][0]["text"])["reload"]
        assert "pluginz: unknown key" in reload["error"]["message"]
        assert client.finish() == 0
    assert str(tmp_path).encode() not in b"".join(client.lines)
