"""Tests resources, prompts and completion of modules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from carrel.errors import ArgumentError, ContractViolation, UnknownNameError
from carrel.tools import Toolbox
from support.guests import Guest
from support.modules import answering_module

from .conftest import TOOL, Open, listing


def test_the_configurations_order_decides_between_two_with_one_uri(open_toolbox: Open) -> None:
    def offering(text: str) -> Guest:
        return listing(
            list_resources={"resources": [{"uri": "doi:10.1000/182", "name": "n"}]},
            list_resource_templates={
                "resourceTemplates": [{"uriTemplate": "arxiv:{id}", "name": "n"}]
            },
            read_resource={"contents": [{"uri": "doi:10.1000/182", "text": text}]},
        )

    toolbox = open_toolbox(one=offering("first"), two=offering("second"))
    assert [one.plugin for one in toolbox.resources()] == ["one"]
    assert [one.plugin for one in toolbox.prompts.templates()] == ["one"]
    for uri in ("doi:10.1000/182", "arxiv:hep-ex/0307015"):
        read = asyncio.run(toolbox.read_resource(uri))
        assert read.content == ({"uri": "doi:10.1000/182", "text": "first"},)
    with pytest.raises(UnknownNameError):
        asyncio.run(toolbox.read_resource("arxiv:"))


def test_a_prompt_is_checked_as_mcps(open_toolbox: Open) -> None:
    def saying(answer: Any) -> Toolbox:
        prompts = {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]}
        return open_toolbox(one=listing(list_prompts=prompts, get_prompt=answer))

    message = {"role": "user", "content": {"type": "text", "text": "hi\x07"}}
    filled = asyncio.run(saying({"messages": [message]}).prompts.get_prompt("one_p", {"a": "x"}))
    assert filled == {"messages": [{"role": "user", "content": {"type": "text", "text": "hi\x07"}}]}
    for bad in (
        {},
        {"messages": [{**message, "role": "system"}]},
        {"messages": [{"role": "user"}]},
    ):
        with pytest.raises(ContractViolation, match="messages"):
            asyncio.run(saying(bad).prompts.get_prompt("one_p", {"a": "x"}))
    with pytest.raises(ArgumentError, match="a is required"):
        asyncio.run(saying({}).prompts.get_prompt("one_p", {"b": "x"}))


def test_completion_is_cut_at_mcps_cap(open_toolbox: Open) -> None:
    toolbox = open_toolbox(
        one=listing(
            list_prompts={"prompts": [{"name": "p"}]},
            complete={"completion": {"values": [f"v{n}\x00" for n in range(150)], "total": 150}},
        )
    )
    assert toolbox.prompts.completes
    reference = {"type": "ref/prompt", "name": "one_p"}
    found = asyncio.run(toolbox.prompts.complete(reference, {"name": "a", "value": ""}, {}))
    assert len(found["values"]) == 100
    assert found["values"][0] == "v0 "
    assert (found["total"], found["hasMore"]) == (150, True)
    with pytest.raises(UnknownNameError):
        asyncio.run(
            toolbox.prompts.complete(
                {"type": "ref/prompt", "name": "x"}, {"name": "a", "value": ""}, {}
            )
        )


def test_list_changes_are_announced_at_most_once_a_second(open_toolbox: Open) -> None:
    news = "(call $notify_tool_list_changed) " * 5 + (
        "(call $say (call $put (i32.const 0) (i32.const 2)))"
    )
    toolbox = open_toolbox(
        one=answering_module(
            {"list_tools": {"tools": [TOOL]}},
            news,
            export="call_tool",
            data='(data (i32.const 0) "{}")',
        )
    )
    announced: list[str] = []
    toolbox.on_list_changed(announced.append)
    toolbox.call_sync("one_ask", {})
    assert announced == ["tools"]
