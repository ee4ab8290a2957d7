"""Tests that a client gets log lines at the level that it asked for, by its era's method."""

from __future__ import annotations

import pytest

from support.mcp_schema import assert_frames_valid
from support.stdio_client import MODERN, StdioClient

LEVEL = "io.modelcontextprotocol/logLevel"


def messages(client: StdioClient) -> list[dict[str, object]]:
    return [
        frame["params"]
        for frame, _ in client.pairs
        if frame.get("method") == "notifications/message"
    ]


def log(client: StdioClient, level: str, text: str, asked: str | None = None) -> None:
    params = {"name": "log", "arguments": {"level": level, "text": text}}
    if asked is not None:
        params["_meta"] = {LEVEL: asked}
    assert "result" in client.request("tools/call", params)


def test_a_handshake_client_gets_lines_from_the_level_it_sets() -> None:
    with StdioClient() as client:
        client.open()
        log(client, "error", "before it asked")
        assert client.request("logging/setLevel", {"level": "warning"})["result"] == {}
        log(client, "info", "below the level")
        log(client, "error", "bad\n\x1b[31mnews")
        client.request("logging/setLevel", {"level": "debug"})
        log(client, "debug", "detail")
        assert client.finish() == 0
        plugin = "carrel.plugin.scripted"
        assert messages(client) == [
            {"level": "error", "logger": plugin, "data": "bad  [31mnews"},
            {"level": "debug", "logger": plugin, "data": "detail"},
        ]
        assert_frames_valid("2025-11-25", client.pairs)
        # A client's level does not change stderr.
        assert b"news" in client.stderr
        assert b"detail" not in client.stderr


def test_a_modern_client_gets_the_log_lines_of_its_request() -> None:
    with StdioClient() as client:
        client.open(MODERN)
        log(client, "error", "not asked")
        log(client, "info", "asked", asked="info")
        log(client, "debug", "below", asked="info")
        log(client, "error", "not asked either")
        assert client.finish() == 0
        assert [message["data"] for message in messages(client)] == ["asked"]
        assert_frames_valid(MODERN, client.pairs)


@pytest.mark.requirement("serve:alive:log-flood")
def test_a_flood_of_lines_is_cut() -> None:
    with StdioClient() as client:
        client.open()
        client.request("logging/setLevel", {"level": "info"})
        ids = [client.start_call("log", level="info", text=str(n)) for n in range(1000)]
        for id_ in ids:
            client.answer(id_)
        assert client.finish() == 0
        assert 50 <= len(messages(client)) <= 500


def test_a_level_that_does_not_exist_is_refused(client: StdioClient) -> None:
    answer = client.request("logging/setLevel", {"level": "loud"})
    assert answer["error"]["code"] == -32602
