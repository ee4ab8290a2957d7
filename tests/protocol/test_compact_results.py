"""Tests results as compact text, selected by the setting or by a call's `_meta`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.mcp_schema import assert_frames_valid
from support.stdio_client import MODERN, StdioClient, error_of

TEXT = '{ "works": [{"id": "a1", "n": 1}, {"id": "b2", "n": 1}], "note": "x\\u202ey" }'
COMPACT = 'works[id]:\n *n: 1\n a1\n b2\nnote: "x\\u202ey"'


@pytest.fixture(scope="module", params=["2024-11-05", "2025-11-25", MODERN])
def compact_client(request: pytest.FixtureRequest) -> Iterator[StdioClient]:
    """Yields a client of a server whose setting is `compact`."""
    with StdioClient(text="compact") as client:
        client.open(request.param)
        yield client
        assert client.finish() == 0
        assert_frames_valid(request.param, client.pairs)


def layout(client: StdioClient, **meta: Any) -> dict[str, Any]:
    params: dict[str, Any] = {"name": "layout", "arguments": {"text": TEXT}}
    if meta:
        params["_meta"] = {f"carrel/{key}": value for key, value in meta.items()}
    result: dict[str, Any] = client.request("tools/call", params)["result"]
    return result


@pytest.mark.requirement("result:typed:compact")
def test_with_the_setting_a_result_is_only_compact_text(
    compact_client: StdioClient,
) -> None:
    result = layout(compact_client)
    assert result["content"] == [{"type": "text", "text": COMPACT}]
    assert "structuredContent" not in result


def test_with_the_setting_no_structured_content_is_announced(compact_client: StdioClient) -> None:
    tools = compact_client.request("tools/list")["result"]["tools"]
    assert tools
    assert not any("outputSchema" in tool for tool in tools)


def test_a_failure_is_the_same_as_without_the_setting(compact_client: StdioClient) -> None:
    assert error_of(compact_client.result("refuse"))["code"] == "rate_limited"


def test_a_call_can_ask_for_json(compact_client: StdioClient) -> None:
    result = layout(compact_client, text="json")
    assert result["content"][0]["text"].startswith('{ "works"')


@pytest.mark.requirement("result:typed:compact")
def test_a_call_can_ask_for_compact_text_beside_structured_content(era_client: StdioClient) -> None:
    result = layout(era_client, text="compact")
    assert result["content"] == [{"type": "text", "text": COMPACT}]
    assert result["structuredContent"]["works"][1] == {"id": "b2", "n": 1}


@pytest.mark.parametrize("text", ["[" * 190 + "]" * 190, '{"a":' * 190 + "1" + "}" * 190])
def test_a_deeply_nested_result_is_answered(compact_client: StdioClient, text: str) -> None:
    result = compact_client.result("layout", text=f'{{"deep": {text}}}')
    assert not result.get("isError")
    assert "deep" in result["content"][0]["text"]


def test_the_text_of_a_large_result_is_json(compact_client: StdioClient) -> None:
    result = compact_client.result("large", bytes=2_000_000)
    assert result["content"][0]["text"].startswith('{"filler"')
    assert "structuredContent" not in result


@pytest.mark.parametrize("wanted", ["prose", 1, None])
def test_an_unknown_form_of_text_is_ignored(era_client: StdioClient, wanted: object) -> None:
    assert layout(era_client, text=wanted)["content"][0]["text"].startswith('{ "works"')
