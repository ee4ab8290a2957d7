"""Tests `refresh` in a request's `_meta`, which bypasses the cache for any tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp_types import Implementation

from carrel.config import ServerConfig
from carrel.exchange import Call, ProgressHandler
from carrel.server.calls import Context, ToolCalls
from carrel.server.toolbox_loader import ToolboxLoader
from support.scripted_toolbox import ScriptedResult, ScriptedToolbox, as_toolbox


class Noting(ScriptedToolbox):
    """Records whether calls bypass the cache."""

    def __init__(self) -> None:
        super().__init__()
        self.refreshed: list[bool] = []

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        *,
        on_progress: ProgressHandler | None = None,
        call_started: Callable[[Call], None] | None = None,
    ) -> ScriptedResult:
        def started(call: Call) -> None:
            assert call_started is not None
            call_started(call)
            self.refreshed.append(call.refresh)

        return await super().call(name, arguments, on_progress=on_progress, call_started=started)


@pytest.mark.requirement("result:typed:refresh")
@pytest.mark.parametrize(
    ("meta", "refreshed"),
    [
        (None, False),
        ({}, False),
        ({"carrel/refresh": True}, True),
        ({"carrel/refresh": False}, False),
        ({"carrel/refresh": "yes"}, False),
    ],
)
def test_a_calls_meta_can_bypass_the_cache(meta: dict[str, Any] | None, refreshed: bool) -> None:
    toolbox = Noting()

    async def run() -> dict[str, Any]:
        loader = ToolboxLoader(lambda: as_toolbox(toolbox))
        await loader.get()
        calls = ToolCalls(loader, ServerConfig(), Implementation(name="t", version="1"), raw=False)
        params = {"name": "echo", **({} if meta is None else {"_meta": meta})}
        context = SimpleNamespace(params=params, protocol_version="2025-11-25", session=None)
        return await calls.answer(cast("Context", context), "echo", {"value": 1}, raw=False)

    assert asyncio.run(run())["structuredContent"] == {"value": 1}
    assert toolbox.refreshed == [refreshed]
