"""Tests that a module receives the client's arguments, validated by its own schema."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import ArgumentError
from support.guests import Guest
from support.modules import answering_module, text_at
from support.stdio_client import MODERN, StdioClient

from .conftest import TOOL, Open

#: The parts of a response before and after the input, which is a JSON object.
HEAD, TAIL = '{"content":[],"structuredContent":', "}"


def repeating(schema: dict[str, Any]) -> Guest:
    """Returns a module whose tool returns the input of `call_tool` as structured content."""
    body = f"""
    (local.set $h (call $alloc (i64.add (call $input_length)
      (i64.const {len(HEAD) + len(TAIL)}))))
    (call $copy (local.get $h) (i32.const 0) (i32.const {len(HEAD)}))
    (loop $again
      (call $store_u8
        (i64.add (local.get $h) (i64.extend_i32_u (i32.add (i32.const {len(HEAD)}) (local.get $i))))
        (call $input_load_u8 (i64.extend_i32_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i64.lt_u (i64.extend_i32_u (local.get $i)) (call $input_length))))
    (call $copy
      (i64.add (local.get $h) (i64.add (i64.const {len(HEAD)}) (call $input_length)))
      (i32.const {len(HEAD)}) (i32.const {len(TAIL)}))
    (call $say (local.get $h))
    """
    copy = """
    (func $copy (param $to i64) (param $from i32) (param $length i32) (local $at i32)
      (loop $again
        (call $store_u8 (i64.add (local.get $to) (i64.extend_i32_u (local.get $at)))
          (i32.load8_u (i32.add (local.get $from) (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $again (i32.lt_u (local.get $at) (local.get $length)))))
    """
    return answering_module(
        {"list_tools": {"tools": [{**TOOL, "inputSchema": schema}]}},
        body,
        export="call_tool",
        functions=copy,
        data=text_at(0, HEAD + TAIL),
    )


OPEN = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "page": {"type": ["integer", "null"]}},
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "", "page": None},
        {"query": " \t"},
        {"query": "x", "not in the schema": {"a": [None, ""]}},
        {},
    ],
)
def test_blank_null_and_unlisted_arguments_reach_the_module(
    open_toolbox: Open, arguments: dict[str, Any]
) -> None:
    toolbox = open_toolbox(one=repeating(OPEN))
    assert toolbox.call_sync("one_ask", arguments).data["request"]["arguments"] == arguments
    started = toolbox.start("one_ask", arguments)
    assert started is not None
    assert started.result().data["request"]["arguments"] == arguments


def test_absent_arguments_stay_absent(open_toolbox: Open) -> None:
    toolbox = open_toolbox(one=repeating(OPEN))
    asked = {"name": "ask"}
    assert toolbox.call_sync("one_ask", None).data["request"] == asked
    assert asyncio.run(toolbox.call("one_ask", None)).data["request"] == asked
    started = toolbox.start("one_ask", None)
    assert started is not None
    assert started.result().data["request"] == asked


def test_absent_arguments_are_checked_as_an_empty_object(open_toolbox: Open) -> None:
    toolbox = open_toolbox(one=repeating({**OPEN, "required": ["query"]}))
    with pytest.raises(ArgumentError, match="query"):
        toolbox.call_sync("one_ask", None)


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_a_module_gets_the_clients_arguments_unchanged(
    tmp_path: Path, code_folder: Path, revision: str
) -> None:
    (tmp_path / "one.wasm").write_bytes(repeating(OPEN).wasm)
    settings = tmp_path / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    plugins = {"one": {"url": (tmp_path / "one.wasm").as_uri()}}
    settings.write_text(json.dumps({**folders, "plugins": plugins}), "utf-8")
    with StdioClient(
        [sys.executable, "-m", "carrel", "serve", "--config", str(settings)]
    ) as client:
        client.open(revision)
        client.request("tools/list")
        every: list[dict[str, Any]] = [{}]
        every += [{"arguments": one} for one in (None, {}, {"query": ""})]
        for sent in every:
            # Twice on the fast path, and once through the SDK.
            for more in ({}, {}, {"_meta": {"progressToken": 7}}):
                result = client.request("tools/call", {"name": "one_ask", **sent, **more})["result"]
                given = sent if sent.get("arguments") is not None else {}
                assert result["structuredContent"]["request"] == {"name": "ask", **given}
        assert client.finish() == 0


def test_only_a_closed_schema_refuses_an_unknown_argument(open_toolbox: Open) -> None:
    toolbox = open_toolbox(one=repeating({**OPEN, "additionalProperties": False}))
    with pytest.raises(ArgumentError, match="Additional properties are not allowed"):
        toolbox.call_sync("one_ask", {"queri": "x"})


def test_null_is_refused_if_the_schema_refuses_it(open_toolbox: Open) -> None:
    with pytest.raises(ArgumentError, match='query: null is not of type "string"'):
        open_toolbox(one=repeating(OPEN)).call_sync("one_ask", {"query": None})


def test_format_is_an_annotation_as_in_json_schema(open_toolbox: Open) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    toolbox = open_toolbox(one=repeating(schema))
    assert json.loads(toolbox.call_sync("one_ask", {"at": "soon"}).text)["request"]["name"] == "ask"


def test_a_blank_argument_of_a_prompt_counts_as_given(open_toolbox: Open) -> None:
    answers = {
        "list_tools": {"tools": []},
        "list_prompts": {
            "prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]
        },
        "get_prompt": {"messages": []},
    }
    prompts = open_toolbox(one=answering_module(answers)).prompts
    assert asyncio.run(prompts.get_prompt("one_p", {"a": "", "other": "x"})) == {"messages": []}
    with pytest.raises(ArgumentError, match="a is required"):
        asyncio.run(prompts.get_prompt("one_p", {"other": "x"}))
