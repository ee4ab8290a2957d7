"""Tests that list changes are announced in both eras, and that loading delays no response."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from carrel.config import ServerConfig
from carrel.server.app import App
from carrel.server.toolbox_loader import ToolboxLoader
from carrel.server.transport import Transport
from support.mcp_schema import assert_frames_valid
from support.scripted_toolbox import ScriptedTool, ScriptedToolbox, as_toolbox
from support.stdio_client import MODERN, envelope


class Output:
    """A sink that stores the frames."""

    def __init__(self) -> None:
        self.pending = 0
        self.frames: list[dict[str, Any]] = []
        self._arrived = asyncio.Event()

    def start(self, on_progress: Callable[[], None], on_broken: Callable[[], None]) -> None: ...

    def watch(self) -> None: ...
    def close(self) -> None: ...

    def write(self, data: bytes) -> None:
        self.frames.append(json.loads(data))
        self._arrived.set()

    async def frame(self, number: int) -> dict[str, Any]:
        """Returns the frame with that index, when it has arrived."""
        while len(self.frames) <= number:
            self._arrived.clear()
            await asyncio.wait_for(self._arrived.wait(), 20)
        return self.frames[number]


class Input:
    """A source whose data the test writes."""

    def start(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...

    def send(self, **frame: Any) -> None:
        self._on_data(json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n")


class Connection:
    """A server in this process, without pipes, and its client's input and output."""

    def __init__(self, make: Callable[[], ScriptedToolbox]) -> None:
        self.input, self.output = Input(), Output()
        loader = ToolboxLoader(lambda: as_toolbox(make()))
        self.app = App(loader, ServerConfig(), raw=True)
        self._transport = Transport(
            self.input, self.output, ServerConfig(), on_first_answer=loader.start
        )
        self._running = asyncio.ensure_future(
            self.app.sdk.run(
                self._transport.reading,
                self._transport.writing,
                self.app.initialization_options(),
            )
        )

    async def end(self) -> None:
        self._transport.finish()
        await self._running


@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
def test_a_changed_tool_list_is_announced_as_the_revision_requires(revision: str) -> None:
    async def run() -> list[dict[str, Any]]:
        connection = Connection(ScriptedToolbox)
        send, output = connection.input.send, connection.output
        if revision == MODERN:
            wanted = {"notifications": {"toolsListChanged": True}, "_meta": envelope()}
            send(id=1, method="subscriptions/listen", params=wanted)
            await output.frame(0)
        else:
            client = {"name": "test", "version": "1"}
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": client}
            send(id=1, method="initialize", params=params)
            await output.frame(0)
            send(method="notifications/initialized")
            send(id=2, method="ping")
            await output.frame(1)
        before = len(output.frames)
        await connection.app.notify_changed("tools")
        changed = await output.frame(before)
        assert changed["method"] == "notifications/tools/list_changed"
        await connection.end()
        return output.frames

    methods = {1: "subscriptions/listen" if revision == MODERN else "initialize", 2: "ping"}
    frames = asyncio.run(run())
    assert_frames_valid(revision, [(frame, methods.get(frame.get("id", 0))) for frame in frames])


def test_the_tool_list_is_cached_until_the_tools_change() -> None:
    looks: list[int] = []

    class Counting(ScriptedToolbox):
        def tools(self) -> Sequence[ScriptedTool]:
            looks.append(1)
            return super().tools()

    async def run() -> None:
        connection = Connection(Counting)
        number = 0

        async def listed() -> Any:
            nonlocal number
            number += 1
            connection.input.send(id=number, method="tools/list", params={"_meta": envelope()})
            return (await connection.output.frame(number - 1))["result"]

        first = await listed()
        before = len(looks)
        assert [await listed() for _ in range(3)] == [first] * 3
        assert len(looks) == before
        await connection.app.notify_changed("tools")
        assert await listed() == first
        assert len(looks) == before + 1
        await connection.end()

    asyncio.run(run())


def test_the_first_answer_does_not_wait_for_the_toolbox() -> None:
    made = threading.Event()

    def make() -> ScriptedToolbox:
        assert made.wait(20)
        return ScriptedToolbox()

    async def run() -> None:
        connection = Connection(make)
        send, output = connection.input.send, connection.output
        send(id=1, method="server/discover", params={"_meta": envelope()})
        assert "result" in await output.frame(0)
        send(id=2, method="tools/list", params={"_meta": envelope()})
        assert len(output.frames) == 1
        made.set()
        assert (await output.frame(1))["result"]["tools"]
        await connection.end()

    asyncio.run(run())


def test_a_toolbox_is_created_once_and_again_after_a_failure() -> None:
    attempts: list[int] = []

    def make() -> ScriptedToolbox:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError
        return ScriptedToolbox()

    async def run() -> None:
        loader = ToolboxLoader(lambda: as_toolbox(make()))
        failed = await asyncio.gather(*(loader.get() for _ in range(5)), return_exceptions=True)
        assert [type(error) for error in failed] == [OSError] * 5
        made = await asyncio.gather(*(loader.get() for _ in range(5)))
        assert len(set(map(id, made))) == 1
        assert loader.loaded is made[0]

    asyncio.run(run())
    assert len(attempts) == 2
