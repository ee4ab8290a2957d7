"""Tests splitting, parsing and writing of frames."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCResponse

from carrel.server.frames import LineCutter, RawJson, TooLong, encode

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=8)


@given(LINES, st.lists(st.integers(min_value=0, max_value=400), max_size=10))
def test_lines_are_the_same_however_the_bytes_arrive(lines: list[bytes], cuts: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    cutter = LineCutter(limit=30)
    found = [line for start, end in pairwise(places) for line in cutter.feed(data[start:end])]
    assert found == [line if len(line) <= 30 else TooLong(None) for line in lines]
    assert cutter.finish() is None


def test_the_rest_after_the_last_line_feed_is_a_line() -> None:
    cutter = LineCutter(limit=30)
    assert cutter.feed(b"one\ntwo") == [b"one"]
    assert cutter.finish() == b"two"
    assert cutter.finish() is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_result_is_one_line_of_strict_json(value: object) -> None:
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result={"value": value}))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    decoded = json.loads(line.decode(), parse_constant=refuse)
    assert decoded["result"].keys() == {"value"}
    assert b"\n" not in line


@pytest.mark.parametrize("rest", [{}, {"content": []}], ids=["alone", "with-content"])
def test_raw_json_is_written_unchanged(rest: dict[str, object]) -> None:
    result = {**rest, "structuredContent": RawJson(b'{"a":1.50}')}
    line = encode(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    assert b'"structuredContent":{"a":1.50}}}' in line
    assert json.loads(line)["result"] == {**rest, "structuredContent": {"a": 1.5}}
