"""Tests that the instructions describe exactly the tools that will be listed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.config import DEFAULT_PLUGINS
from support.stdio_client import MODERN, StdioClient


def read_instructions(folder: Path, revision: str, **settings: Any) -> tuple[str, set[str]]:
    """Returns the instructions, and the names of the tools that are listed afterwards."""
    path = folder / "carrel.json"
    path.write_text(json.dumps({"cache_dir": str(folder / "cache"), **settings}), "utf-8")
    command = [sys.executable, "-m", "carrel", "--config", str(path), "serve"]
    with StdioClient(command) as client:
        opening = client.open(revision)
        answer = opening if "instructions" in opening else client.request("server/discover")
        listed = client.request("tools/list")["result"]["tools"]
        assert client.finish() == 0
    text = answer.get("instructions") or answer["result"]["instructions"]
    return text, {tool["name"] for tool in listed}


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_every_built_in_tool_is_named_before_plugins_are_loaded(
    tmp_path: Path, revision: str
) -> None:
    text, listed = read_instructions(tmp_path, revision)
    assert len(listed) >= 26
    assert {"arxiv_query", "openalex_works", "work_lookup", "paper_search"} <= listed
    assert all(name in text for name in listed)
    assert "ten e-prints 5,000" in text


def test_the_tools_of_the_paper_store_are_named_where_a_folder_is_set(tmp_path: Path) -> None:
    plugins = {name: {"url": f"builtin:{name}", "enabled": False} for name in DEFAULT_PLUGINS}
    folder = {"folder": str(tmp_path / "papers")}
    text, listed = read_instructions(tmp_path, "2025-11-25", plugins=plugins, papers=folder)
    assert "paper_info" in listed
    assert "paper_search" not in listed
    assert all(name in text for name in listed)
    assert "paper_search " not in text


def test_tools_that_are_off_or_hidden_are_not_named(tmp_path: Path) -> None:
    plugins = {
        "arxiv": {"url": "builtin:arxiv", "enabled": False},
        "eutils": {"url": "builtin:eutils", "runtime_config": {"skip_tools": ["mesh"]}},
    }
    text, listed = read_instructions(tmp_path, "2025-11-25", plugins=plugins)
    assert {"pubmed_fetch", "crossref_works", "work_lookup"} <= listed
    assert all(name in text for name in listed)
    assert "arxiv_query" not in text
    assert "pubmed_mesh" not in text
    assert "Unknown" in text
