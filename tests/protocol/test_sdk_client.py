"""Tests both transports with the official Python client, in both of the client's modes."""

from __future__ import annotations

import json
from typing import Any, Literal

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from support.http_server import HttpServer
from support.stdio_client import server_command


@pytest.mark.requirement("serve:alive:official-client")
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(("mode", "revision"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_lists_calls_and_follows(
    mode: Literal["auto", "legacy"], revision: str, transport: str
) -> None:
    if transport == "http":
        with HttpServer() as server:
            talk(streamable_http_client(server.url), mode, revision)
        return
    command, *args = server_command()
    talk(stdio_client(StdioServerParameters(command=command, args=args)), mode, revision)


def talk(transport: Any, mode: Literal["auto", "legacy"], revision: str) -> None:
    """Runs one script, the same over every transport."""
    reports: list[float] = []

    async def on_progress(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        reports.append(progress)

    async def drive() -> None:
        async with Client(transport, mode=mode) as client:
            assert client.protocol_version == revision
            listed = await client.list_tools()
            assert listed.tools[0].name == "echo"
            result = await client.call_tool("echo", {"value": [1, {"a": "é"}]})
            assert result.structured_content == {"value": [1, {"a": "é"}]}
            await client.call_tool("work", {"steps": 3}, progress_callback=on_progress)
            assert reports, "the report of a call that ends at once is sent before the result"
            failed = await client.call_tool("refuse", {})
            assert failed.is_error
            with pytest.raises(MCPError, match="did you mean 'echo'"):
                await client.call_tool("ecko", {})
            health: Any = (await client.read_resource("carrel://health")).contents[0]
            assert json.loads(health.text)["ok"] is True
            values: dict[int, Any] = {}

            async def call(number: int) -> None:
                answer = await client.call_tool("echo", {"value": number})
                values[number] = answer.structured_content

            async with anyio.create_task_group() as group:
                for number in range(200):
                    group.start_soon(call, number)
            assert values == {number: {"value": number} for number in range(200)}

    anyio.run(drive)
