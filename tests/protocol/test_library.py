"""Tests the library's tools and resources in a session with a real server, in every era."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config.model import DEFAULT_PLUGINS
from support.fake_csl import CITATION, csl_plugin
from support.library_world import item, write_library
from support.mcp_schema import assert_frames_valid
from support.stdio_client import HANDSHAKE, MODERN, StdioClient

REFERENCES = "library://references"
OWN = "library://reference/marlow-2019"


@pytest.fixture
def settings(tmp_path: Path, code_folder: Path) -> Path:
    """A configuration with a library of one reference."""
    write_library(tmp_path / "library.json", item())
    (tmp_path / "paper.md").write_text("# A desk\n", "utf-8")
    path = tmp_path / "carrel.json"
    off = {
        name: {"url": f"builtin:{name}", "enabled": False}
        for name in DEFAULT_PLUGINS
        if name != "crossref"
    }
    known = {
        "cache_dir": str(code_folder),
        "data_dir": str(tmp_path / "data"),
        "replay_dir": str(tmp_path),
        "library": {"file": str(tmp_path / "library.json")},
        "documents": {"folders": [str(tmp_path)]},
        "plugins": {**off, "csl": csl_plugin(tmp_path)},
    }
    path.write_text(json.dumps(known), "utf-8")
    return path


@pytest.fixture(params=[*HANDSHAKE[1:], MODERN])
def client(request: pytest.FixtureRequest, settings: Path) -> Iterator[StdioClient]:
    """A client of each revision."""
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(settings)]
    with StdioClient(command) as opened:
        first = opened.open(request.param)
        assert first["capabilities"]["resources"]["subscribe"] is True
        yield opened
        assert opened.finish() == 0
        assert_frames_valid(request.param, opened.pairs)


def data(client: StdioClient, tool: str, **arguments: Any) -> dict[str, Any]:
    result = client.result(tool, **arguments)
    assert not result.get("isError"), result
    found: dict[str, Any] = json.loads(result["content"][0]["text"])
    return found


def read(client: StdioClient, uri: str) -> Any:
    [one] = client.request("resources/read", {"uri": uri})["result"]["contents"]
    assert (one["uri"], one["mimeType"]) == (uri, "application/json")
    return json.loads(one["text"])


def subscribe(client: StdioClient, *uris: str) -> None:
    """Subscribes as the client's revision does."""
    if client.revision == MODERN:
        wanted = {"resourceSubscriptions": list(uris), "resourcesListChanged": True}
        client.start("subscriptions/listen", {"notifications": wanted})
        client.notification("notifications/subscriptions/acknowledged")
        return
    for uri in uris:
        assert client.request("resources/subscribe", {"uri": uri})["result"] == {}


def carrel(settings: Path, *words: str) -> None:
    """Runs another process on the same library."""
    command = [sys.executable, "-m", "carrel", *words, "--config", str(settings)]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.requirement("library:session:tools-and-resources")
def test_a_session_uses_every_tool_and_resource(client: StdioClient, tmp_path: Path) -> None:
    assert data(client, "library_search", query="author:marlow")["total"] == 1
    assert data(client, "library_list")["items"][0]["id"] == "marlow-2019"
    added = data(client, "library_add", inputs=["@book{four, title={Four desks}}", "?"])
    assert added["summary"] == {"total": 2, "added": 1, "skipped": 0, "failed": 1}
    assert data(client, "library_show", id="four")["item"]["title"] == "Four desks"
    cited = data(client, "library_cite", ids=["marlow-2019", "nobody"])
    assert cited["citations"][0] == {"id": "marlow-2019", "text": CITATION}
    assert "error" in cited["citations"][1]
    in_text = data(client, "library_cite", ids=["marlow-2019"], in_text=True)
    assert in_text["citations"][0]["text"] == "(Marlow & Okafor, 2019)"
    [checked] = data(client, "library_check", ids=["marlow-2019"], save=False)["results"]
    assert checked["status"] == "unknown"  # nothing is recorded of any source
    path = str(tmp_path / "paper.md")
    data(client, "library_fulltext_attach", id="marlow-2019", path=path)
    assert data(client, "library_fulltext_get", id="marlow-2019")["text"] == "# A desk\n"
    assert data(client, "library_fulltext_detach", id="marlow-2019")["detached"]
    assert not data(client, "library_remove", id="four")["removed"]
    assert data(client, "library_remove", id="four", force=True)["removed"]
    listed = client.request("resources/list")["result"]["resources"]
    assert {REFERENCES, "library://styles", OWN} <= {one["uri"] for one in listed}
    [template] = client.request("resources/templates/list")["result"]["resourceTemplates"]
    assert template["uriTemplate"] == "library://reference/{id}"
    assert [one["id"] for one in read(client, REFERENCES)] == ["marlow-2019"]
    assert read(client, OWN)["volume"] == "12"
    assert "apa" in read(client, "library://styles")["builtin"]
    missing = client.request("resources/read", {"uri": "library://reference/nobody"})
    assert missing["error"]["code"] == (-32602 if client.revision == MODERN else -32002)


@pytest.mark.requirement("library:session:updates")
def test_a_change_by_another_process_is_reported_and_read(
    client: StdioClient, settings: Path
) -> None:
    subscribe(client, REFERENCES, OWN)
    read(client, REFERENCES)
    carrel(settings, "library", "add", "@book{later, title={Later desks}}")
    assert client.notification("notifications/resources/updated")["params"]["uri"] == REFERENCES
    client.notification("notifications/resources/list_changed")
    assert {one["id"] for one in read(client, REFERENCES)} == {"marlow-2019", "later"}
    path = settings.with_name("library.json")
    changed = json.loads(path.read_text("utf-8"))
    changed[0]["volume"] = "13"
    path.write_text(json.dumps(changed), "utf-8")
    frame = client.wait_for(_is_update_of(OWN))
    assert frame["params"]["uri"] == OWN
    assert read(client, OWN)["volume"] == "13"


def _is_update_of(uri: str) -> Callable[[Any], bool]:
    def wanted(frame: Any) -> bool:
        method = "notifications/resources/updated"
        return bool(frame.get("method") == method and frame["params"]["uri"] == uri)

    return wanted


@pytest.mark.requirement("library:session:none")
def test_without_a_library_nothing_of_it_is_offered(tmp_path: Path, code_folder: Path) -> None:
    path = tmp_path / "carrel.json"
    path.write_text(json.dumps({"cache_dir": str(code_folder), "data_dir": str(tmp_path)}))
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    with StdioClient(command) as client:
        assert "subscribe" not in client.open()["capabilities"]["resources"]
        names = [one["name"] for one in client.request("tools/list")["result"]["tools"]]
        assert not [name for name in names if name.startswith("library_")]
        listed = client.request("resources/list")["result"]["resources"]
        assert not [one["uri"] for one in listed if one["uri"].startswith("library:")]
        assert client.request("resources/read", {"uri": REFERENCES})["error"]["code"] == -32002
        assert client.finish() == 0
