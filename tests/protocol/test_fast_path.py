"""Tests the fast path: its conditions, and that it behaves like the SDK's path."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from mcp_types import JSONRPCRequest

from carrel.config import ServerConfig
from carrel.server.calls import ToolCalls
from carrel.server.fast_path import FastPath
from carrel.server.frames import RawJson
from carrel.server.toolbox_loader import ToolboxLoader
from support.scripted_toolbox import ScriptedToolbox, as_toolbox
from support.stdio_client import StdioClient

REVISION = "2025-11-25"


def request(params: dict[str, Any] | None, method: str = "tools/call") -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)


def on_the_fast_path(use: Callable[[FastPath], object], **settings: Any) -> list[bytes | None]:
    """Returns the fast path's responses until it is idle."""

    async def run() -> list[bytes | None]:
        from mcp_types import Implementation

        loader = ToolboxLoader(lambda: as_toolbox(ScriptedToolbox()))
        await loader.get()
        calls = ToolCalls(
            loader, ServerConfig(**settings), Implementation(name="t", version="1"), raw=True
        )
        answers: list[bytes | None] = []
        fast_path = FastPath(calls, lambda _id, line: answers.append(line))
        use(fast_path)
        for _ in range(500):
            if not calls.running:
                break
            await asyncio.sleep(0.01)
        return answers

    return asyncio.run(run())


def test_a_plain_call_is_answered() -> None:
    def use(fast_path: FastPath) -> None:
        assert fast_path.take(request({"name": "echo", "arguments": {"value": 1}}), REVISION)

    (line,) = on_the_fast_path(use)
    assert line is not None
    assert json.loads(line)["result"]["structuredContent"] == {"value": 1}


@pytest.mark.parametrize("arguments", [{}, {"arguments": {}}, {"arguments": None}])
def test_absent_arguments_differ_from_an_empty_object(
    arguments: dict[str, Any],
) -> None:
    def use(fast_path: FastPath) -> None:
        assert fast_path.take(request({"name": "echo", **arguments}), REVISION)

    (line,) = on_the_fast_path(use)
    assert line is not None
    sent = arguments.get("arguments") is not None
    expected = {} if sent else {"absent": True}
    assert json.loads(line)["result"]["structuredContent"] == expected


@pytest.mark.parametrize(
    ("params", "method"),
    [
        (None, "tools/call"),
        ({"name": "echo", "_meta": {"progressToken": 1}}, "tools/call"),
        ({"name": "echo", "_meta": {"carrel/refresh": True}}, "tools/call"),
        ({"name": 7}, "tools/call"),
        ({"name": "unheard"}, "tools/call"),
        ({"name": "hang"}, "tools/call"),
        ({"name": "echo"}, "tools/list"),
    ],
)
def test_any_other_request_is_left_to_the_sdk(params: dict[str, Any] | None, method: str) -> None:
    def use(fast_path: FastPath) -> None:
        assert not fast_path.take(request(params, method), REVISION)

    assert on_the_fast_path(use) == []


def test_a_list_that_was_made_before_is_written_as_it_is() -> None:
    async def run() -> list[bytes | None]:
        answers: list[bytes | None] = []
        known = {"tools": RawJson(b'[{"name":"x"}]'), "ttlMs": 0}
        fast_path = FastPath(
            cast("ToolCalls", None),
            lambda _id, line: answers.append(line),
            find_list=lambda revision: known if revision == REVISION else None,
        )
        assert fast_path.take(request(None, "tools/list"), REVISION)
        assert fast_path.take(request({}, "tools/list"), REVISION)
        assert not fast_path.take(request(None, "tools/list"), "2025-06-18")
        assert not fast_path.take(request({"cursor": "2"}, "tools/list"), REVISION)
        return answers

    line = b'{"jsonrpc":"2.0","id":1,"result":{"ttlMs":0,"tools":[{"name":"x"}]}}'
    assert asyncio.run(run()) == [line, line]


def test_a_rate_limited_call_is_handled_by_the_sdk() -> None:
    def use(fast_path: FastPath) -> None:
        assert fast_path.take(request({"name": "echo"}), REVISION)
        assert not fast_path.take(request({"name": "echo"}), REVISION)

    assert len(on_the_fast_path(use, calls_per_second=0.01, burst=1)) == 1


def test_calls_that_run_when_the_connection_ends_get_no_answer() -> None:
    def use(fast_path: FastPath) -> None:
        assert fast_path.take(request({"name": "wait", "arguments": {"key": "end"}}), REVISION)
        fast_path.close()

    assert on_the_fast_path(use) == [None]


@pytest.mark.requirement("serve:alive:cancelled")
def test_an_uninterruptible_cancelled_call_does_not_count_as_in_flight() -> None:
    with StdioClient(max_in_flight=2) as client:
        client.open()
        client.result("echo", value=0)  # the tools are loaded now
        for _ in range(5):
            stuck = client.start_call("ignore")
            client.notify("notifications/cancelled", {"requestId": str(stuck)})
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}


def test_calls_of_a_batch_are_answered_together() -> None:
    with StdioClient() as client:
        client.open("2025-03-26")
        frames = []
        for value in (1, 2, 3):
            frame = client.request_frame(
                "tools/call", {"name": "echo", "arguments": {"value": value}}
            )
            frames.append(frame)
        client.send(frames)
        answers = client.next_frame()
        assert [one["id"] for one in frames] == sorted(one["id"] for one in answers)


def test_a_call_that_the_fast_path_does_not_support_takes_no_token() -> None:
    def use(fast_path: FastPath) -> None:
        for name in ("hang", "ecko"):
            assert not fast_path.take(request({"name": name}), REVISION)
        assert fast_path.take(request({"name": "echo"}), REVISION)

    assert len(on_the_fast_path(use, calls_per_second=0.001, burst=1)) == 1
