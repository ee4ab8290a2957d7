"""Tests that a module's results are validated before clients see them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from carrel.errors import ArgumentError, CarrelError, ContractViolation, ModuleError
from carrel.server.answers import failure
from support.modules import answering_module, text_at

from .conftest import TOOL, Open, listing

TYPED = {**TOOL, "outputSchema": {"type": "object", "required": ["n"]}}


PIXEL = base64.b64encode(b"png").decode()


def test_every_kind_of_content_is_passed_on_and_its_names_are_cleaned(open_toolbox: Open) -> None:
    blocks = [
        {"type": "text", "text": "a\x1b[2J\u202eb\nc\td", "_meta": {"x": 1}, "extra": 1},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "doi:10.1000/182", "name": "a\x00b", "size": 3},
        {"type": "resource", "resource": {"uri": "a:b", "text": "t", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": PIXEL}},
        {"type": "text", "text": "t", "annotations": {"audience": ["user", "x"], "priority": 0.5}},
    ]
    result = open_toolbox(one=listing(TOOL, answer={"content": blocks})).call_sync("one_ask", {})
    assert result.content == (
        {"type": "text", "text": "a\x1b[2J\u202eb\nc\td"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "doi:10.1000/182", "name": "a b", "size": 3},
        {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "t"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": PIXEL}},
        {"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 0.5}},
    )
    assert json.loads(result.text) == result.data == {"content": list(result.content)}


@pytest.mark.requirement("result:typed:module-content")
@pytest.mark.parametrize(
    "content",
    [
        3,
        ["text"],
        [{"type": "text"}],
        [{"type": "text", "text": 3}],
        [{"type": "video", "data": PIXEL}],
        [{"type": "image", "data": "***", "mimeType": "image/png"}],
        [{"type": "image", "data": PIXEL, "mimeType": "nonsense"}],
        [{"type": "image", "data": PIXEL}],
        [{"type": "resource_link", "uri": "no uri", "name": "n"}],
        [{"type": "resource_link", "uri": "a:b"}],
        [{"type": "resource", "resource": {"uri": "a:b"}}],
        [{"type": "text", "text": "x"}] * 1001,
    ],
)
def test_content_that_mcp_does_not_know_is_a_contract_violation(
    open_toolbox: Open, content: Any
) -> None:
    toolbox = open_toolbox(one=listing(TOOL, answer={"content": content}))
    with pytest.raises(ContractViolation, match="content"):
        toolbox.call_sync("one_ask", {})


@pytest.mark.requirement("result:typed:module-structured")
def test_structured_content_is_validated_against_the_output_schema(open_toolbox: Open) -> None:
    good = open_toolbox(one=listing(TYPED, answer={"structuredContent": {"n": 1}, "content": []}))
    result = good.call_sync("one_ask", {})
    assert (result.data, result.structured) == ({"n": 1}, True)
    assert result.content == ({"type": "text", "text": '{"n":1}'},)
    answer: dict[str, Any]
    for answer in ({"content": []}, {"structuredContent": {}}, {"structuredContent": [1]}):
        with pytest.raises(ContractViolation, match="own schema"):
            open_toolbox(one=listing(TYPED, answer=answer)).call_sync("one_ask", {})


@pytest.mark.requirement("result:typed:module-error")
def test_a_result_with_is_error_is_an_error_with_its_text(open_toolbox: Open) -> None:
    answer = {"isError": True, "content": [{"type": "text", "text": "no\x1b such paper"}]}
    with pytest.raises(CarrelError, match="no  such paper") as caught:
        open_toolbox(one=listing(TYPED, answer=answer)).call_sync("one_ask", {})
    assert caught.value.error_code == "upstream_error"


@pytest.mark.requirement("result:typed:module-advice")
def test_a_modules_error_suggests_no_action(open_toolbox: Open) -> None:
    answer = {"isError": True, "content": [{"type": "text", "text": "try again\nat noon"}]}
    reporting = answering_module(
        {"list_tools": {"tools": [TOOL]}},
        "(call $error_set (call $put (i32.const 0) (i32.const 5))) (return (i32.const 1))",
        export="call_tool",
        data=text_at(0, "alas!"),
    )
    for guest, words in ((listing(TOOL, answer=answer), "try again at noon"), (reporting, "alas!")):
        with pytest.raises(ModuleError) as caught:
            open_toolbox(one=guest).call_sync("one_ask", {})
        error = caught.value.to_dict()
        assert error["message"] == f"one: {words}"
        assert (error["code"], error["retryable"], error["action"]) == (
            "upstream_error",
            False,
            "none",
        )
        assert caught.value.advice == ""


def test_a_modules_failed_result_reaches_the_client_with_its_own_content() -> None:
    blocks = [
        {"type": "text", "text": "no such paper\nsee the list"},
        {"type": "resource_link", "uri": "a:b", "name": "list"},
    ]
    error = ModuleError("one: no such paper see the list", plugin="one", tool="ask", content=blocks)
    answer = failure(error, revision="2025-11-25")
    assert answer["content"][:2] == blocks
    assert json.loads(answer["content"][2]["text"])["error"] == error.to_dict()
    old = failure(error, revision="2025-03-26")
    assert old["content"][1] == {"type": "text", "text": "list: a:b"}
    silent = ModuleError("one: the module says that the call failed", plugin="one", tool="ask")
    assert failure(silent, revision="2025-11-25")["content"][0]["text"] == silent.message


def test_arguments_are_checked_by_the_modules_own_schema(open_toolbox: Open) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    closed = open_toolbox(one=listing({**TOOL, "inputSchema": schema}))
    closed.call_sync("one_ask", {"n": 1})
    for wrong in ({}, {"n": "x"}, {"n": None}):
        with pytest.raises(ArgumentError):
            closed.call_sync("one_ask", wrong)
    closed.call_sync("one_ask", {"n": 1, "m": 2})  # the schema allows it
    open_ended = {**schema, "additionalProperties": {"type": "string"}}
    tool = {**TOOL, "inputSchema": open_ended}
    open_toolbox(one=listing(tool)).call_sync("one_ask", {"n": 1, "m": "anything"})
    open_toolbox(one=listing(TOOL)).call_sync("one_ask", {"anything": 1})
