"""Tests `carrel serve` with the built-in plugin in its sandbox, without a network."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from support.mcp_schema import assert_frames_valid
from support.stdio_client import MODERN, StdioClient, error_of


@pytest.mark.requirement("stdio:pure:real-server")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", MODERN])
def test_a_session_with_the_real_plugin_is_valid_to_the_last_byte(
    revision: str, code_folder: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    settings.write_text(json.dumps(folders), encoding="utf-8")
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    options = ["--config", str(settings), "--replay", str(recordings)]
    with StdioClient([sys.executable, "-m", "carrel", "serve", *options]) as client:
        client.open(revision)
        tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        assert tools["arxiv_query"]["annotations"]["openWorldHint"] is True
        assert "id_list" in tools["arxiv_query"]["inputSchema"]["properties"]

        nothing = client.result("arxiv_query")
        assert error_of(nothing)["code"] == "invalid_arguments"
        assert nothing["_meta"]["carrel/content"] == "untrusted-external-content"
        misspelt = error_of(client.result("arxiv_query", serch_query="x"))
        assert "did you mean 'search_query'" in misspelt["message"]
        # The guest ran, and requested a URL that is not in the recording.
        asked = error_of(client.result("arxiv_query", id_list="2101.00001"))
        assert asked["code"] == "not_recorded"
        assert client.call("arxiv_qery")["error"]["code"] == -32602

        answer = client.request("resources/read", {"uri": "carrel://health"})
        health = json.loads(answer["result"]["contents"][0]["text"])
        assert {plugin["state"] for plugin in health["plugins"]} == {"ready"}
        assert client.finish() == 0
        assert_frames_valid(revision, client.pairs)
