"""Tests the size of a tool listing."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel import Carrel
from carrel.config import Config, builtin
from carrel.plugins.schemas.schema import compile_schema
from carrel.server.announced import announced_schema, without_prose
from support.stdio_client import StdioClient

#: Average tokens of a tool, at four characters each: of the part that models are shown, and of its
#: output schema. With these, forty tools cost 11,200 and 14,000.
MOST_SHOWN, MOST_OUTPUT = 280, 350
FIXTURES = Path(__file__).parents[1] / "fixtures"


def test_only_descriptions_are_removed_from_a_schema() -> None:
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


SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["works"],
    "properties": {
        "sort": {"type": "string", "enum": ["asc", "desc"]},
        "status": {"type": "string", "enum": ["found", "failed"]},
        "code": {"type": "string", "enum": [f"code_{number}" for number in range(13)]},
        "works": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["authors"],
                "properties": {
                    "url": {"type": "string", "format": "uri"},
                    "authors": {"type": "array", "items": {"$ref": "#/$defs/person"}},
                    "editors": {"type": "array", "items": {"$ref": "#/$defs/person"}},
                    "dates": {
                        "type": "object",
                        "properties": {
                            "printed": {
                                "type": "object",
                                "properties": {"year": {"type": "integer", "maximum": 9999}},
                            }
                        },
                    },
                },
            },
        },
    },
    "$defs": {
        "unused": {"type": "null"},
        "person": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}},
        },
    },
}
ARGUMENTS = {"type": "object", "properties": {"sort": {"enum": ["asc", "desc"]}}}


def test_an_output_schema_is_announced_as_its_shape() -> None:
    assert announced_schema(SCHEMA, ARGUMENTS) == {
        "type": "object",
        "required": ["works"],
        "properties": {
            "sort": {"type": "string"},
            "status": {"enum": ["found", "failed"]},
            "code": {"type": "string"},
            "works": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "url": {"type": "string"},
                        "authors": {"type": "array", "items": {"$ref": "#/$defs/person"}},
                        "editors": {"type": "array", "items": {"$ref": "#/$defs/person"}},
                        "dates": {"type": "object", "properties": {"printed": {"type": "object"}}},
                    },
                },
            },
        },
        "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }


def test_a_shape_that_occurs_twice_is_announced_once() -> None:
    person = {"type": "object", "properties": {name: {"type": "string"} for name in "abcdefgh"}}
    people = {"type": "array", "items": person}
    schema = {"type": "object", "properties": {"authors": people, "editors": people}}
    reference = {"$ref": "#/$defs/authors"}
    assert announced_schema(schema, {}) == {
        "type": "object",
        "properties": {"authors": reference, "editors": reference},
        "$defs": {"authors": people},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "not": {"required": ["a"], "properties": {"a": {"minimum": 3}}}},
        {"type": "object", "oneOf": [{"required": ["a"]}, {"maxProperties": 2}]},
        {"type": "object", "properties": {"a": {"if": {"minimum": 1}, "then": {"maximum": 2}}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["a"]},
        {"type": "object", "unevaluatedProperties": False, "properties": {"a": {"maxLength": 2}}},
    ],
    ids=["not", "oneOf", "if", "recursive", "draft-07", "unevaluated"],
)
def test_a_schema_with_other_keywords_is_announced_unchanged(schema: dict[str, Any]) -> None:
    worded = {**schema, "description": "Of a stranger."}
    assert announced_schema(worded, ARGUMENTS) == schema


@pytest.mark.requirement("result:typed:announced")
@pytest.mark.parametrize("plugin", ["arxiv", "crossref", "eutils"])
def test_every_result_of_the_fixtures_conforms_to_the_announced_schema(
    plugin: str, config: Config
) -> None:
    with Carrel(replace(config, plugins=(builtin(plugin),))) as api:
        [state] = api.plugins()
    assert state.manifest is not None
    found = 0
    for one in state.manifest.formats:
        own = compile_schema(one.output_schema)
        announced = compile_schema(announced_schema(one.output_schema, {}))
        for path in FIXTURES.glob(f"{plugin}/*/expected.json"):
            result = json.loads(path.read_text("utf-8"))
            if own.is_valid(result):
                found += 1
                assert announced.is_valid(result), (one.name, path.parent.name)
    assert found >= 20


@pytest.mark.requirement("result:typed:listing")
def test_a_tool_costs_at_most_280_tokens_and_its_output_schema_350(
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
    shown = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert sum(map(tokens, shown)) / len(tools) <= MOST_SHOWN
    assert sum(tokens(tool["outputSchema"]) for tool in tools) / len(tools) <= MOST_OUTPUT


def tokens(value: Any) -> float:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False)) / 4


def test_every_list_of_an_era_is_the_same_and_a_cursor_is_refused(era_client: StdioClient) -> None:
    lists = [era_client.request("tools/list")["result"] for _ in range(4)]
    assert lists[1:] == lists[:1] * 3
    assert {"echo", "fetch"} <= {tool["name"] for tool in lists[0]["tools"]}
    refused = era_client.request("tools/list", {"cursor": "2"})
    assert refused["error"]["message"] == "unknown cursor; the list has one page"
