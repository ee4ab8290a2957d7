"""The counterpart over HTTP: the MCP SDK's session manager on uvicorn, as the SDK runs them.

The tools are those of `bare_sdk`. Events are not kept, so streams cannot be resumed. The first line
on stderr has the port.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.servers.bare_sdk import call_tool, list_tools


async def _main() -> None:
    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    manager = StreamableHTTPSessionManager(server)
    # With the protocol, as when uvicorn opens it: asyncio then sends small messages at once.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    config = uvicorn.Config(
        manager.handle_request,
        interface="asgi3",
        http="h11",  # what the SDK installs; uvicorn takes httptools where it is installed
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=75,  # as in Carrel
    )
    sys.stderr.write(f"serving http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    async with manager.run():
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(_main())
