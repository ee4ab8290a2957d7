"""Tests that every output keeps JSON values and contains no hidden character."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCResponse

from carrel.cli.output import write_json, write_json_text
from carrel.cli.parsing import _one_line, _show
from carrel.cli.tool_call import show
from carrel.plugins.calls.result import Result
from carrel.plugins.extism import content
from carrel.server import answers, frames
from support.hidden import HIDDEN, JOINERS, SELECTORS, hidden_in

pytestmark = [pytest.mark.property, pytest.mark.requirement("result:typed:hidden-characters")]

#: Text in which every second character is hidden, or is close to a hidden one.
LIKELY = [chr(code) for code in sorted(HIDDEN | JOINERS | SELECTORS)]
TEXT = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from(LIKELY), max_size=20)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT, VALUE, max_size=4)


def raw(value: object) -> str:
    """Returns the JSON text of a plugin that escapes only what JSON requires."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def printed(write: Callable[[], None]) -> bytes:
    """Returns the output on stdout in a pipe."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    before, sys.stdout = sys.stdout, out
    try:
        write()
    finally:
        sys.stdout = before
    buffer = out.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def clean(line: bytes) -> Any:
    """Returns the value of an output, after checking that it has no hidden character."""
    assert hidden_in(line.decode()) == []
    return json.loads(line)


EXITS: dict[str, Callable[[str], None]] = {
    "call": lambda text: show(Result(text.encode(), None), as_json=False),
    "parse": lambda text: _show(memoryview(text.encode()), readable=False),
    "parse-many": lambda text: write_json_text(_one_line(text.encode())),
    "tools-and-inspect": lambda text: write_json(json.loads(text)),
}


@pytest.mark.parametrize("write", EXITS.values(), ids=EXITS)
@given(value=OBJECT)
def test_a_command_writes_the_same_value(
    write: Callable[[str], None], value: dict[str, Any]
) -> None:
    text = raw(value)
    assert clean(printed(lambda: write(text))) == value


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("is_raw", [True, False], ids=["fast-path", "sdk"])
@given(value=OBJECT)
def test_a_result_has_the_same_value_as_text_and_as_structured_content(
    revision: str, is_raw: bool, value: dict[str, Any]
) -> None:
    result = Result(raw(value).encode(), value)
    answer = answers.success(result, revision=revision, raw=is_raw)
    if is_raw:
        line = frames.encode_response(1, answer)
    else:
        line = frames.encode(JSONRPCResponse(jsonrpc="2.0", id=1, result=answer))
    received = clean(line)["result"]
    [block] = received["content"]
    assert clean(block["text"].encode()) == value
    assert received.get("structuredContent", value) == value


@pytest.mark.parametrize("is_raw", [True, False], ids=["fast-path", "sdk"])
@given(value=OBJECT, prose=TEXT)
def test_a_modules_text_and_structured_content_are_passed_on(
    is_raw: bool, value: dict[str, Any], prose: str
) -> None:
    texts = [{"type": "text", "text": text} for text in (raw(value), f"say: {prose}")]
    blocks = content.read_blocks({"content": texts})
    result = Result(raw(value).encode(), value, content=blocks)
    answer = answers.success(result, revision="2025-11-25", raw=is_raw)
    received = clean(frames.encode_response(1, answer))["result"]
    assert clean(received["content"][0]["text"].encode()) == value
    assert received["content"][1]["text"] == f"say: {prose}"
    assert received["structuredContent"] == value


@given(prose=TEXT)
def test_resources_and_prompts_of_a_module_are_kept(prose: str) -> None:
    text = f"say: {prose}"
    [document] = content.read_contents({"contents": [{"uri": "a:b", "text": text}]})
    message = {"role": "user", "content": {"type": "text", "text": text}}
    [prompt] = content.read_prompt({"messages": [message]})["messages"]
    received = clean(frames.encode_response(1, {"contents": [document], "messages": [prompt]}))[
        "result"
    ]
    assert received["contents"][0]["text"] == received["messages"][0]["content"]["text"] == text
