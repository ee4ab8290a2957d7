"""Tests subscriptions of revision 2026-07-28, and `ping` of earlier revisions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mcp_schema import assert_frames_valid
from support.modules import answering_module, text_at
from support.stdio_client import MODERN, StdioClient

pytestmark = pytest.mark.long("servers")

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
REPORTED = ("note:1", "note:2", "carrel://health", "no uri")


def with_module(folder: Path, code_folder: Path) -> list[str]:
    """Returns a server with a module whose tool reports that four resources changed."""
    texts = [json.dumps({"uri": uri}) for uri in REPORTED]
    body, data, at = "", text_at(0, '{"content":[]}'), 64
    for text in texts:
        handle = f"(call $put (i32.const {at}) (i32.const {len(text)}))"
        body += f"(call $notify_resource_updated {handle})"
        data += text_at(at, text)
        at += 64
    guest = answering_module(
        {"list_tools": {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}},
        f"{body} (call $say (call $put (i32.const 0) (i32.const 14)))",
        export="call_tool",
        data=data,
    )
    path = folder / "news.wasm"
    path.write_bytes(guest.wasm)
    settings = folder / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(folder)}
    plugins = {"news": {"url": path.as_uri()}}
    settings.write_text(json.dumps({**folders, "plugins": plugins}), "utf-8")
    return [sys.executable, "-m", "carrel", "serve", "--config", str(settings)]


def listen(client: StdioClient, **wanted: Any) -> dict[str, Any]:
    """Subscribes; returns the server's acknowledgement."""
    client.start("subscriptions/listen", {"notifications": wanted})
    acknowledged: dict[str, Any] = client.notification(ACKNOWLEDGED)["params"]["notifications"]
    return acknowledged


@pytest.mark.requirement("stdio:pure:resource-updated")
def test_subscribers_are_notified_of_a_changed_resource(tmp_path: Path, code_folder: Path) -> None:
    with StdioClient(with_module(tmp_path, code_folder)) as client:
        assert client.open(MODERN)["capabilities"]["resources"]["subscribe"] is True
        wanted = ["note:2", "carrel://health"]
        assert listen(client, resourceSubscriptions=wanted) == {"resourceSubscriptions": wanted}
        client.result("news_tell")
        updated = client.notification("notifications/resources/updated")
        assert updated["params"]["uri"] == "note:2"
        assert client.finish() == 0
        uris = [
            frame["params"]["uri"]
            for frame, _ in client.pairs
            if frame.get("method") == "notifications/resources/updated"
        ]
        assert uris == ["note:2"]
        assert_frames_valid(MODERN, client.pairs)


def test_what_a_client_may_subscribe_to_is_limited(tmp_path: Path, code_folder: Path) -> None:
    """The server remembers it: long or many URIs would fill its memory."""
    longest = f"note:{'x' * 4091}"
    with StdioClient(with_module(tmp_path, code_folder)) as client:
        client.open(MODERN)
        assert listen(client, resourceSubscriptions=[longest, f"{longest}x", "note:1"]) == {
            "resourceSubscriptions": [longest, "note:1"]
        }
        many = [f"note:{number}" for number in range(1001)]
        assert listen(client, resourceSubscriptions=many)["resourceSubscriptions"] == many[:1000]
    with StdioClient(with_module(tmp_path, code_folder)) as client:
        client.open("2025-11-25")
        assert client.request("resources/subscribe", {"uri": longest})["result"] == {}
        refused = client.request("resources/subscribe", {"uri": f"{longest}x"})
        assert refused["error"]["message"] == "no such resource"


def test_without_a_module_no_subscription_to_documents_is_announced_or_acknowledged() -> None:
    with StdioClient() as client:
        assert "subscribe" not in client.open(MODERN)["capabilities"]["resources"]
        kinds = {"toolsListChanged": True, "resourceSubscriptions": ["scripted://facts"]}
        assert listen(client, **kinds) == {"toolsListChanged": True}
        assert client.finish() == 0
        assert_frames_valid(MODERN, client.pairs)


@pytest.mark.parametrize(
    "frame",
    [
        {"method": "ping"},
        {"method": "ping", "params": {}},
        {"method": "logging/setLevel", "params": {"level": "info"}},
    ],
)
def test_a_keep_alive_without_meta_is_answered(frame: dict[str, Any]) -> None:
    with StdioClient() as client:
        client.open(MODERN)
        client.methods["alive"] = frame["method"]
        client.send({"jsonrpc": "2.0", "id": "alive", **frame})
        assert client.answer("alive")["result"] == {"resultType": "complete"}
        assert client.result("echo", value=1)["structuredContent"] == {"value": 1}
        assert client.finish() == 0


def test_a_method_that_the_revision_does_not_have_is_an_error_with_meta() -> None:
    with StdioClient() as client:
        client.open(MODERN)
        assert client.request("ping")["error"]["code"] == -32601
        assert client.finish() == 0
