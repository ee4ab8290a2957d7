"""A listing of tools says what a model needs and little else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from carrel.config import Config
from carrel.server.listing import without_prose
from support.stdio_client import StdioClient

#: Of the whole default list, at four characters a token.
MOST_TOKENS = 12_000


def test_only_words_are_left_out_of_a_schema() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": "A thing.",
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "description": "Its title.", "minLength": 1},
            "description": {"enum": ["description", "title"], "title": "x"},
        },
        "$defs": {"examples": {"type": "array", "examples": [[]], "items": {"title": "y"}}},
    }
    assert without_prose(schema) == {
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "description": {"enum": ["description", "title"]},
        },
        "$defs": {"examples": {"type": "array", "items": {}}},
    }


@pytest.mark.requirement("result:typed:listing")
def test_the_default_list_costs_at_most_twelve_thousand_tokens(
    config: Config, tmp_path: Path
) -> None:
    settings = tmp_path / "carrel.toml"
    settings.write_text(f"cache_dir = {json.dumps(str(config.cache_dir))}\n", "utf-8")
    command = [sys.executable, "-m", "carrel", "--config", str(settings), "serve"]
    with StdioClient(command) as client:
        client.open()
        tools = client.request("tools/list")["result"]["tools"]
        assert client.finish() == 0
    assert {"arxiv_query", "work_lookup"} <= {tool["name"] for tool in tools}
    assert all(tool["outputSchema"]["type"] == "object" for tool in tools)
    listing = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
    assert len(listing) / 4 <= MOST_TOKENS


def test_every_list_of_an_era_is_the_same_and_a_cursor_is_refused(era_client: StdioClient) -> None:
    lists = [era_client.request("tools/list")["result"] for _ in range(4)]
    assert lists[1:] == lists[:1] * 3
    assert {"echo", "fetch"} <= {tool["name"] for tool in lists[0]["tools"]}
    refused = era_client.request("tools/list", {"cursor": "2"})
    assert refused["error"]["message"] == "unknown cursor; the list has one page"
