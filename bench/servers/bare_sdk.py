"""The counterpart: the MCP SDK's low-level server and stdio transport, with two tools.

`noop` does nothing; `echo` returns its arguments. Neither validates anything.
"""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

_TOOLS = [
    Tool(name=name, description=f"The tool {name}.", input_schema={"type": "object"})
    for name in ("noop", "echo")
]


async def list_tools(_ctx: Any, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=_TOOLS)


async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    if params.name == "noop":
        return CallToolResult(content=[TextContent(text="ok")])
    return CallToolResult(content=[TextContent(text=json.dumps(params.arguments))])


async def _main() -> None:
    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(_main)
