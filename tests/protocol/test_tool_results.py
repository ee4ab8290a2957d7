"""Tests results of calls: the component's own text, or an error with an action."""

from __future__ import annotations

import json

import pytest

from support.scripted_toolbox import SECRET
from support.stdio_client import MODERN, StdioClient, error_of


@pytest.mark.requirement("result:typed:passed-through")
def test_the_components_text_is_passed_through_unchanged(era_client: StdioClient) -> None:
    text = '{ "b" : 1.50,\t"a":[1e2,"\\u00e9\\ud83d\\ude00"] }'
    result = era_client.result("layout", text=text)
    assert result["content"] == [{"type": "text", "text": text}]
    assert result["structuredContent"] == {"b": 1.5, "a": [100.0, "é😀"]}
    # The text is not decoded and encoded again, which would write 1.5 and 100.0.
    assert text.encode() in era_client.lines[-1]


@pytest.mark.requirement("stdio:pure:line-breaks")
def test_line_breaks_in_a_components_json_do_not_break_the_frame(era_client: StdioClient) -> None:
    result = era_client.result("layout", text='{\r\n  "a": "x\\ny"\n}\n')
    assert result["structuredContent"] == {"a": "x\ny"}
    assert era_client.lines[-1].count(b"\n") == 1
    assert b"\r" not in era_client.lines[-1]


@pytest.mark.requirement("result:typed:call-with-more")
def test_a_call_with_members_of_other_extensions_is_served_too(era_client: StdioClient) -> None:
    params = {"name": "echo", "arguments": {"value": 3}, "task": {"ttl": 1000}}
    answer = era_client.request("tools/call", params)
    assert answer["result"]["structuredContent"] == {"value": 3}


def test_a_large_result_arrives_whole(client: StdioClient) -> None:
    result = client.result("large", bytes=9_000_000)
    assert result["structuredContent"] == {"filler": "x" * 9_000_000}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.requirement("result:typed:untrusted-label")
def test_content_from_outside_is_labelled_and_ours_is_not(era_client: StdioClient) -> None:
    label = {"carrel/content": "untrusted-external-content"}
    assert label.items() <= era_client.result("fetch")["_meta"].items()
    assert "carrel/content" not in era_client.result("echo").get("_meta", {})


@pytest.mark.requirement("result:typed:failure-shape")
def test_a_failure_says_what_happened_and_what_to_do(era_client: StdioClient) -> None:
    result = era_client.result("refuse")
    assert "structuredContent" not in result
    line = result["content"][0]["text"]
    assert line == "the source asks for a pause  [31mred (try the same call again in 12 s)"
    assert error_of(result) == {
        "code": "rate_limited",
        "message": "the source asks for a pause\n\x1b[31mred\u202e",
        "retryable": True,
        "action": "retry_after_delay",
        "source": "scripted",
        "retry_after_seconds": 12.0,
    }


@pytest.mark.requirement("result:typed:bad-arguments")
def test_bad_arguments_are_a_result_that_names_every_fault(era_client: StdioClient) -> None:
    result = era_client.result("refuse", code="invalid_arguments")
    assert error_of(result)["code"] == "invalid_arguments"
    assert result["content"][0]["text"] == (
        "value: 3 is not a string; x: unknown (change the arguments as the message says)"
    )


@pytest.mark.requirement("sandbox:secrets:exceptions")
def test_an_exceptions_text_stays_on_stderr(revision: str) -> None:
    with StdioClient() as client:
        client.open(revision)
        if revision != MODERN:
            client.request("logging/setLevel", {"level": "debug"})
        error = error_of(client.result("crash"))
        assert error["code"] == "internal"
        assert client.finish() == 0
        assert SECRET.encode() not in b"".join(client.lines)
        assert SECRET.encode() in client.stderr


@pytest.mark.requirement("result:typed:unknown-tool")
def test_an_unknown_tool_is_a_protocol_error_that_names_the_nearest(
    era_client: StdioClient,
) -> None:
    error = era_client.call("ecko")["error"]
    assert error["code"] == -32602
    assert error["message"] == "unknown tool 'ecko'; did you mean 'echo'?"
    assert error["data"]["error"]["code"] == "unknown_tool"


def test_a_name_too_long_to_be_one_is_not_repeated(era_client: StdioClient) -> None:
    answer = era_client.call("n" * 100_000)
    assert answer["error"] == {"code": -32602, "message": "unknown tool"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 3},
        {"name": "echo", "arguments": []},
        {"name": "echo", "arguments": "x"},
        {"name": None, "arguments": {}},
    ],
    ids=["nothing", "number", "array", "string", "null"],
)
def test_a_call_of_the_wrong_shape_is_a_protocol_error(
    era_client: StdioClient, params: dict[str, object]
) -> None:
    assert era_client.request("tools/call", params)["error"]["code"] == -32602


def test_a_call_before_the_handshake_is_refused() -> None:
    with StdioClient() as client:
        assert client.call("echo")["error"]["code"] == -32602
        client.open()
        assert client.result("echo")["structuredContent"] == {}


def test_annotations_describe_a_tool(era_client: StdioClient) -> None:
    listed = era_client.request("tools/list")["result"]["tools"]
    tools = {tool["name"]: tool for tool in listed}
    hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    assert tools["fetch"]["annotations"] == {**hints, "openWorldHint": True}
    assert tools["echo"]["annotations"] == {**hints, "openWorldHint": False, "title": "Echo"}
    assert tools["refuse"]["annotations"]["destructiveHint"] is True


def test_an_unknown_cursor_is_refused(era_client: StdioClient) -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list"):
        assert era_client.request(method, {"cursor": "x"})["error"]["code"] == -32602


def test_an_unknown_resource_is_refused_with_the_revisions_error(era_client: StdioClient) -> None:
    error = era_client.request("resources/read", {"uri": "carrel://wealth"})["error"]
    assert error["code"] == (-32602 if era_client.revision == MODERN else -32002)
    assert "carrel://health" in error["message"]


def test_health_reports_the_plugins_and_the_server(era_client: StdioClient) -> None:
    era_client.result("echo")
    answer = era_client.request("resources/read", {"uri": "carrel://health"})
    health = json.loads(answer["result"]["contents"][0]["text"])
    assert health["ok"] is True
    assert health["plugins"] == [{"name": "scripted", "status": "loaded"}]
    assert health["server"]["name"] == "carrel"
    assert health["server"]["calls_answered"] > 0


@pytest.mark.requirement("serve:alive:unusable-configuration")
def test_a_toolbox_that_cannot_be_made_fails_requests_and_not_the_server() -> None:
    with StdioClient(unusable=True) as client:
        client.open()
        error = client.request("tools/list")["error"]
        assert error["message"] == "carrel.toml: pluginz: unknown key; did you mean 'plugins'?"
        assert error["data"]["error"]["code"] == "config"
        assert error_of(client.result("echo"))["code"] == "config"
        health = client.request("resources/read", {"uri": "carrel://health"})["result"]
        assert json.loads(health["contents"][0]["text"])["ok"] is False
        assert client.finish() == 0
