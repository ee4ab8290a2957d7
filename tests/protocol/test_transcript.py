"""Runs a session in every revision of the protocol; validates frames by the official schemas."""

from __future__ import annotations

import json

import pytest

from support.mcp_schema import assert_frames_valid
from support.scripted_toolbox import SECRET, TOOLS
from support.stdio_client import MODERN, StdioClient, error_of


@pytest.mark.requirement("stdio:pure:transcript")
def test_a_session_in_every_revision_is_valid_to_the_last_byte(revision: str) -> None:
    with StdioClient() as client:
        opening = client.open(revision)
        if revision == MODERN:
            assert MODERN in opening["supportedVersions"]
        else:
            assert opening["protocolVersion"] == revision
            assert opening["serverInfo"]["name"] == "carrel"
            assert opening["capabilities"]["tools"] == {"listChanged": True}
        assert opening["instructions"]

        listed = client.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
        assert listed[0]["inputSchema"]["$defs"] == {"anything": {}}

        echoed = client.result("echo", value={"deep": [1, 2.5, None, "é\u2028"]})
        expected = {"value": {"deep": [1, 2.5, None, "é\u2028"]}}
        assert json.loads(echoed["content"][0]["text"]) == expected
        # Older revisions do not have this member; in the others it has the same data.
        assert echoed.get("structuredContent") == (expected if revision > "2025-06" else None)

        id_ = client.start_call("work", token="t", steps=3)
        assert client.notification("notifications/progress")["params"]["progressToken"] == "t"
        assert json.loads(client.answer(id_)["result"]["content"][0]["text"]) == {"steps": 3}

        waiting = client.start_call("wait", token="w", key="mine")
        client.notification("notifications/progress")
        client.notify("notifications/cancelled", {"requestId": waiting, "reason": "enough"})
        assert _interrupted(client) == ["mine"]

        assert error_of(client.result("refuse"))["code"] == "rate_limited"
        assert error_of(client.result("crash"))["code"] == "internal"
        assert client.call("ecko")["error"]["code"] == -32602
        client.result("noisy")

        resources = client.request("resources/list")["result"]["resources"]
        assert [resource["uri"] for resource in resources][:2] == [
            "carrel://health",
            "scripted://facts",
        ]
        assert client.request("resources/templates/list")["result"]["resourceTemplates"] == []
        read = client.request("resources/read", {"uri": "carrel://health"})["result"]
        assert json.loads(read["contents"][0]["text"])["ok"] is True
        if revision != MODERN:
            client.request("ping")
            client.request("logging/setLevel", {"level": "info"})
            client.result("log", level="info", text="a line")
            assert client.notification("notifications/message")["params"]["data"] == "a line"
        client.send_bytes(b"{broken\n")
        assert client.wait_for(lambda frame: "error" in frame)["error"]["code"] == -32700

        assert client.finish() == 0
        assert all(answered != waiting for answered in _answered_ids(client))
        assert_frames_valid(revision, client.pairs)
        assert all(line.endswith(b"\n") and line.startswith(b"{") for line in client.lines)
        assert SECRET.encode() not in b"".join(client.lines)


def _interrupted(client: StdioClient) -> list[str]:
    """Polls for interrupted calls, because an interrupt has no response; returns their keys."""
    answers = (client.result("cancelled")["content"][0]["text"] for _ in range(2000))
    return next(keys for answer in answers if (keys := json.loads(answer)["keys"]))


def _answered_ids(client: StdioClient) -> list[object]:
    return [frame.get("id") for frame, _ in client.pairs]


@pytest.mark.requirement("stdio:pure:unknown-revision")
def test_an_unknown_revision_is_answered_with_the_latest_of_the_handshake() -> None:
    with StdioClient() as client:
        assert client.open("1999-01-01")["protocolVersion"] == "2025-11-25"
        assert client.result("echo")["structuredContent"] == {}
        assert client.finish() == 0


@pytest.mark.requirement("stdio:pure:eras-not-mixed")
def test_a_connection_keeps_the_era_it_opened_in() -> None:
    with StdioClient() as client:
        client.open(MODERN)
        answer = client.request("initialize", {"protocolVersion": "2025-11-25"})
        assert answer["error"]["code"] == -32022
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}
        assert client.finish() == 0
