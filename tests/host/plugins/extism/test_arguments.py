"""A module is given the arguments that the client sent, checked against its own schema."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from carrel.errors import ArgumentError
from support.guests import Guest
from support.modules import answering_module, text_at

from .conftest import TOOL, Open

#: What an answer is made of around the input, which stands between the two as a JSON object.
HEAD, TAIL = '{"content":[],"structuredContent":', "}"


def repeating(schema: dict[str, Any]) -> Guest:
    """A module whose tool returns, as structured content, what `call_tool` was given."""
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
    open_box: Open, arguments: dict[str, Any]
) -> None:
    box = open_box(one=repeating(OPEN))
    assert box.call_sync("one_ask", arguments).data["request"]["arguments"] == arguments
    started = box.start("one_ask", arguments)
    assert started is not None
    assert started.result().data["request"]["arguments"] == arguments


def test_a_closed_schema_is_what_refuses_an_unknown_argument(open_box: Open) -> None:
    box = open_box(one=repeating({**OPEN, "additionalProperties": False}))
    with pytest.raises(ArgumentError, match="Additional properties are not allowed"):
        box.call_sync("one_ask", {"queri": "x"})


def test_null_is_refused_where_the_schema_refuses_it(open_box: Open) -> None:
    with pytest.raises(ArgumentError, match='query: null is not of type "string"'):
        open_box(one=repeating(OPEN)).call_sync("one_ask", {"query": None})


def test_format_is_an_annotation_as_in_json_schema(open_box: Open) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}
    box = open_box(one=repeating(schema))
    assert json.loads(box.call_sync("one_ask", {"at": "soon"}).text)["request"]["name"] == "ask"


def test_a_blank_argument_of_a_prompt_counts_as_given(open_box: Open) -> None:
    answers = {
        "list_tools": {"tools": []},
        "list_prompts": {
            "prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]
        },
        "get_prompt": {"messages": []},
    }
    offers = open_box(one=answering_module(answers)).offers
    assert asyncio.run(offers.get_prompt("one_p", {"a": "", "other": "x"})) == {"messages": []}
    with pytest.raises(ArgumentError, match="a is required"):
        asyncio.run(offers.get_prompt("one_p", {"other": "x"}))
