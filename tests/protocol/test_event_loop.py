"""Tests that the event loop is not blocked while plugins are compiled and their lists read."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mcp_schema import assert_frames_valid
from support.modules import answering_module, text_at
from support.stdio_client import MODERN, StdioClient

pytestmark = [pytest.mark.alone, pytest.mark.long("load")]

SERVER = Path(__file__).parents[1] / "support" / "gated_server.py"
#: Seconds that one callback may take: much more than any should, much less than compiling takes.
LONGEST = 0.75

MODULE = {
    "list_tools": {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]},
    "list_resources": {"resources": [{"uri": "slow:about", "name": "about"}]},
    "read_resource": {"contents": [{"uri": "slow:about", "text": "about"}]},
    "list_resource_templates": {"resourceTemplates": [{"uriTemplate": "slow:{x}", "name": "x"}]},
    "list_prompts": {"prompts": [{"name": "p"}]},
    "get_prompt": {"messages": []},
    "complete": {"completion": {"values": ["v"]}},
}


#: Its tool also reports that its prompts have changed.
ANSWER = json.dumps({"content": [{"type": "text", "text": "asked"}]})
NOTIFY_PROMPTS = f"""
(call $notify_prompt_list_changed)
(call $say (call $put (i32.const 0) (i32.const {len(ANSWER)})))
"""


class Gated:
    """A server with an empty cache and one module, which is not compiled before `open_gate`."""

    def __init__(self, folder: Path) -> None:
        self._gate = folder / "gate"
        module = folder / "slow.wasm"
        guest = answering_module(
            MODULE, NOTIFY_PROMPTS, export="call_tool", data=text_at(0, ANSWER)
        )
        module.write_bytes(guest.wasm)
        settings = folder / "carrel.json"
        folders = {"cache_dir": str(folder / "cache"), "data_dir": str(folder)}
        plugins = {"slow": {"url": module.as_uri()}}
        settings.write_text(json.dumps({**folders, "plugins": plugins}), "utf-8")
        options = ["serve", "--config", str(settings)]
        self.client = StdioClient([sys.executable, str(SERVER), str(self._gate), *options])

    def open_gate(self) -> None:
        self._gate.touch()

    def names(self, what: str = "tools", key: str = "name") -> list[str]:
        answer = self.client.request(f"{what}/list")["result"]
        return [one[key] for one in answer[what.rpartition("/")[2]]]

    def longest(self) -> float:
        """Returns the seconds of the longest callback on the event loop, from asyncio's debug
        log.
        """
        found = re.findall(rb"took ([\d.]+) seconds", self.client.stderr)
        return max(map(float, found), default=0.0)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gated]:
    monkeypatch.setenv("PYTHONASYNCIODEBUG", "1")
    gated = Gated(tmp_path)
    with gated.client:
        yield gated


@pytest.mark.requirement("serve:alive:cold-cache")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", MODERN])
def test_lists_are_complete_once_a_module_is_compiled_and_the_loop_is_never_blocked(
    server: Gated, revision: str
) -> None:
    client = server.client
    capabilities = client.open(revision)["capabilities"]
    assert "prompts" in capabilities
    assert ("completions" in capabilities) == (revision != "2024-11-05")
    if revision == MODERN:
        kinds = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")
        client.start("subscriptions/listen", {"notifications": dict.fromkeys(kinds, True)})
    assert "slow_ask" not in server.names()
    assert server.names("prompts") == []
    assert "slow:about" not in server.names("resources", "uri")
    server.open_gate()
    for kind in ("tools", "prompts", "resources"):
        client.notification(f"notifications/{kind}/list_changed")
    assert "slow_ask" in server.names()
    assert server.names("prompts") == ["slow_p"]
    assert "slow:about" in server.names("resources", "uri")
    assert client.result("slow_ask")["content"][0]["text"] == "asked"
    client.request("prompts/get", {"name": "slow_p"})
    if revision != "2024-11-05":
        reference = {"type": "ref/prompt", "name": "slow_p"}
        asked = {"ref": reference, "argument": {"name": "a", "value": ""}}
        values = client.request("completion/complete", asked)["result"]["completion"]["values"]
        assert values == ["v"]
    assert client.finish() == 0
    assert server.longest() < LONGEST, client.stderr.decode()
    assert_frames_valid(revision, client.pairs)


@pytest.mark.requirement("serve:alive:cold-cache-requests")
def test_other_requests_are_answered_while_lists_wait_for_a_module(server: Gated) -> None:
    client = server.client
    client.open()
    lists = [client.start(f"{kind}/list") for kind in ("tools", "resources", "resources/templates")]
    lists.append(client.start("prompts/list"))
    started = time.monotonic()
    client.request("ping")
    assert time.monotonic() - started < LONGEST
    server.open_gate()
    for id_ in lists:
        assert "result" in client.answer(id_)
    assert "slow_ask" in server.names()
    assert client.finish() == 0
    assert server.longest() < LONGEST, client.stderr.decode()


@pytest.mark.requirement("serve:alive:cold-cache-news")
def test_notifications_of_a_module_after_a_reload_reach_the_client(server: Gated) -> None:
    client = server.client
    client.open()
    server.names()
    server.open_gate()
    for kind in ("tools", "prompts", "resources"):
        client.notification(f"notifications/{kind}/list_changed")
    client.result("slow_ask")
    client.notification("notifications/prompts/list_changed")
    assert client.finish() == 0
