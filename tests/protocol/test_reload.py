"""Tests reloads: a changed configuration is applied while serving, an invalid one is not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import DEFAULT_PLUGINS, ServerConfig
from carrel.server.app import App
from carrel.server.toolbox_loader import ToolboxLoader
from support.guests import guest
from support.manifests import manifest_text
from support.mcp_schema import assert_frames_valid
from support.modules import answering_module
from support.scripted_toolbox import ScriptedToolbox, as_toolbox
from support.stdio_client import MODERN, StdioClient
from support.tiny_registry import tiny_registry

BUILTIN = {name: {"enabled": False} for name in DEFAULT_PLUGINS}


class Served:
    """A server with a configuration file that the test writes."""

    def __init__(self, folder: Path, cache: Path, *, file: Path | None = None) -> None:
        self.folder = folder
        self.cache = cache
        self.file = file or folder / "carrel.json"

    def plugin(self, name: str = "sample", number: int = 1, **changes: Any) -> str:
        """Writes a plugin whose only tool returns `number`; returns its URL."""
        path = self.folder / f"{name}.wasm"
        text = manifest_text(name=name, **changes)
        path.write_bytes(guest(result=json.dumps({"n": number}), manifest=text).wasm)
        return path.as_uri()

    def configure(self, replace: bool = True, **plugins: Any) -> None:
        document = {
            "cache_dir": str(self.cache),
            "data_dir": str(self.folder / "data"),
            "plugins": {**BUILTIN, **plugins},
        }
        self.write(json.dumps(document), replace=replace)

    def write(self, text: str, *, replace: bool = True) -> None:
        """Writes the file by renaming a new one over it, as editors do, or in place."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        target = self.file.with_suffix(".new") if replace else self.file
        target.write_text(text, "utf-8")
        if replace:
            target.replace(self.file)

    def client(self, *options: str) -> StdioClient:
        options = options or ("--config", str(self.file))
        return StdioClient([sys.executable, "-m", "carrel", "serve", *options])


@pytest.fixture
def served(tmp_path: Path, code_folder: Path) -> Served:
    return Served(tmp_path, code_folder)


def names(client: StdioClient) -> list[str]:
    return [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]


def changed(client: StdioClient, what: str = "tools") -> None:
    client.notification(f"notifications/{what}/list_changed")


def health(client: StdioClient) -> dict[str, Any]:
    answer = client.request("resources/read", {"uri": "carrel://health"})
    found: dict[str, Any] = json.loads(answer["result"]["contents"][0]["text"])
    return found


def until(wanted: Callable[[], bool]) -> None:
    end = threading.Event()
    for _ in range(400):
        if wanted():
            return
        end.wait(0.05)
    raise AssertionError("it did not happen")


@pytest.mark.requirement("serve:alive:reload-takes-over")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_a_changed_file_is_reloaded_and_clients_are_notified(served: Served, revision: str) -> None:
    one = {"url": served.plugin("one")}
    two = {"url": served.plugin("two", 2)}
    served.configure(one=one)
    with served.client() as client:
        client.open(revision)
        if revision == MODERN:
            client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        assert names(client) == ["one_echo"]
        served.configure(one=one, two=two)
        changed(client)
        assert names(client) == ["one_echo", "two_echo"]
        assert client.result("two_echo")["structuredContent"] == {"n": 2}
        served.configure(replace=False, two=two)
        changed(client)
        assert names(client) == ["two_echo"]
        assert health(client)["reload"]["ok"] is True
        assert client.finish() == 0
        assert_frames_valid(revision, client.pairs)


@pytest.mark.requirement("serve:alive:reload-modules")
def test_a_module_can_be_added_changed_and_removed(served: Served) -> None:
    def module(name: str) -> dict[str, str]:
        path = served.folder / "asker.wasm"
        tool = {"name": name, "inputSchema": {"type": "object"}}
        answer = {"content": [{"type": "text", "text": name}]}
        answers = {"list_tools": {"tools": [tool]}, "call_tool": answer}
        path.write_bytes(answering_module(answers).wasm)
        return {"url": path.as_uri()}

    one = {"url": served.plugin("one")}
    served.configure(one=one)
    with served.client() as client:
        client.open()
        assert names(client) == ["one_echo"]
        served.configure(one=one, asker=module("ask"))
        changed(client)
        assert names(client) == ["one_echo", "asker_ask"]
        assert client.result("asker_ask")["content"][0]["text"] == "ask"
        served.configure(asker={**module("tell"), "description": "another"})
        changed(client)
        assert names(client) == ["asker_tell"]
        assert client.result("asker_tell")["content"][0]["text"] == "tell"
        served.configure(one=one)
        changed(client)
        assert names(client) == ["one_echo"]
        assert client.finish() == 0
        assert_frames_valid("2025-11-25", client.pairs)


@pytest.mark.requirement("serve:alive:reload-bad-file")
def test_an_invalid_file_keeps_the_old_configuration_and_logs_the_reason(served: Served) -> None:
    url = served.plugin()
    served.configure(sample={"url": url})
    with served.client() as client:
        client.open()
        assert names(client) == ["sample_echo"]
        served.configure(sample={"url": url, "skip": ["everything"], "limits": {}})
        until(lambda: b"plugins.sample.skip: unknown key" in client.stderr)
        assert names(client) == ["sample_echo"]
        assert client.result("sample_echo")["structuredContent"] == {"n": 1}
        outcome = health(client)["reload"]
        assert outcome["ok"] is False
        assert "plugins.sample.skip" in outcome["error"]["message"]
        served.write("{")
        until(lambda: client.stderr.count(b"configuration not reloaded") == 2)
        served.configure(sample={"url": url, "runtime_config": {"tools": []}})
        changed(client)
        assert names(client) == []
        error = client.call("sample_echo")["error"]
        assert 'plugins.sample.runtime_config.tools += \\"echo\\"' in json.dumps(error)
        assert client.finish() == 0


@pytest.mark.requirement("serve:alive:reload-bad-file")
def test_an_empty_file_keeps_the_old_configuration(tmp_path: Path, code_folder: Path) -> None:
    """A full disk, or a write in place, leaves one. As TOML it would mean the defaults, which turn
    plugins on that the operator has turned off.
    """
    served = Served(tmp_path, code_folder, file=tmp_path / "carrel.toml")
    text = f'cache_dir = "{code_folder}"\ndata_dir = "{tmp_path / "data"}"\n'
    text += "".join(f"plugins.{name}.enabled = false\n" for name in DEFAULT_PLUGINS)
    served.write(text + f'plugins.sample.url = "{served.plugin()}"\n')
    with served.client() as client:
        client.open()
        assert names(client) == ["sample_echo"]
        served.write("", replace=False)
        until(lambda: b"the file is empty" in client.stderr)
        assert names(client) == ["sample_echo"]
        served.write(text, replace=False)
        changed(client)
        assert names(client) == []
        assert client.finish() == 0


@pytest.mark.requirement("serve:alive:reload-resources")
def test_a_change_of_resources_is_announced_as_resources(served: Served) -> None:
    stats = {
        "uri": "sample-data://stats", "name": "stats", "description": "How much there is.",
        "output_schema": {"type": "object"},
    }  # fmt: skip
    url = served.plugin(resources=[stats])
    served.configure(sample={"url": url})
    with served.client() as client:
        client.open()
        assert len(client.request("resources/list")["result"]["resources"]) == 2
        served.configure(sample={"url": url, "runtime_config": {"skip_resources": [".*stats"]}})
        changed(client, "resources")
        assert len(client.request("resources/list")["result"]["resources"]) == 1
        assert client.finish() == 0


@pytest.mark.requirement("serve:alive:reload-sighup")
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP")
@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_sighup_reads_plugins_anew_whose_files_changed(served: Served, relative: bool) -> None:
    url = served.plugin(number=1)
    served.configure(sample={"url": "file:sample.wasm" if relative else url})
    with served.client() as client:
        client.open()
        assert client.result("sample_echo")["structuredContent"] == {"n": 1}
        served.plugin(number=2)
        client.process.send_signal(signal.SIGHUP)
        until(lambda: client.stderr.count(b"configuration reloaded") == 1)
        assert client.result("sample_echo")["structuredContent"] == {"n": 2}
        assert client.finish() == 0


@pytest.mark.requirement("serve:alive:reload-missing-folder")
def test_a_configuration_file_that_is_created_later_is_loaded(
    served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "not" / "there"))
    monkeypatch.setenv("CARREL_CACHE_DIR", str(served.cache))
    monkeypatch.setenv("CARREL_DATA_DIR", str(tmp_path / "data"))
    served.file = home / "not" / "there" / "carrel" / "carrel.json"
    url = served.plugin()
    with served.client("--debug") as client:
        client.open()
        assert "arxiv_query" in names(client)
        served.configure(sample={"url": url})
        changed(client)
        assert names(client) == ["sample_echo"]
        assert client.finish() == 0


@pytest.mark.requirement("plugin:pinned:lock-reload")
def test_an_approval_is_taken_over_and_the_plugin_fetched_beside_the_serving(
    served: Served, tmp_path: Path
) -> None:
    with tiny_registry() as registry:
        reference = f"{registry.host}/plugins/sample:1"
        served.plugin()
        run = [sys.executable, "-m", "carrel", "plugin"]
        file = str(served.folder / "sample.wasm")
        subprocess.run([*run, "push", "--plain-http", file, reference], check=True)
        document = {
            "cache_dir": str(served.cache),
            "data_dir": str(tmp_path / "data"),
            "registries": {registry.host: {"plain_http": True}},
            "plugins": {**BUILTIN, "sample": {"url": f"oci://{reference}"}},
        }
        served.write(json.dumps(document))
        with served.client() as client:
            client.open()
            assert names(client) == []
            until(lambda: b"carrel plugin lock sample" in client.stderr)
            options = ["lock", "--yes", "--config", str(served.file)]
            subprocess.run([*run, *options], check=True, capture_output=True)
            changed(client)
            assert client.result("sample_echo")["structuredContent"] == {"n": 1}
            assert client.finish() == 0


class Slow(ScriptedToolbox):
    """A toolbox that records whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


@pytest.mark.requirement("serve:alive:reload-running-calls")
def test_running_calls_finish_on_the_old_toolbox_which_is_closed_after_the_last() -> None:
    async def run() -> None:
        old, new = Slow(), Slow()
        loader = ToolboxLoader(lambda: as_toolbox(old))
        app = App(loader, ServerConfig(), raw=True)
        await loader.get()
        running = asyncio.ensure_future(
            app.calls._run(_Context(), "wait", {"key": "k"})  # type: ignore[arg-type]
        )
        while not app.calls.running:  # noqa: ASYNC110 -- there is no event for it
            await asyncio.sleep(0)
        loader.replace(as_toolbox(new))
        assert loader.loaded is as_toolbox(new)
        assert not old.closed.is_set()
        await old.call("release", {"key": "k"})
        assert (await running).data == {"released": "k"}
        await asyncio.to_thread(old.closed.wait, 20)
        assert old.closed.is_set()
        assert not new.closed.is_set()
        assert loader.retired() == []

    asyncio.run(run())


class _Context:
    """The part of a request that a call reads; without `_meta`."""

    params: dict[str, Any] | None = None


@pytest.mark.requirement("stdio:pure:reload-costs-no-start")
def test_the_file_watcher_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, carrel.server.stdio, carrel.server.reload, carrel.server.watch\n"
        "print('watchfiles' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


#: Every request that a client can make. None may change a grant; add new ones here.
METHODS = {
    "completion/complete", "initialize", "logging/setLevel", "ping", "prompts/get",
    "prompts/list", "resources/list", "resources/read", "resources/templates/list",
    "server/discover", "subscriptions/listen", "tools/call", "tools/list",
}  # fmt: skip


@pytest.fixture
def open_server(served: Served) -> Iterator[tuple[Served, StdioClient]]:
    served.configure(
        arxiv={"enabled": True}, crossref={"enabled": True}, eutils={"enabled": True},
        sample={"url": served.plugin(), "runtime_config": {"skip_tools": ["never"]}},
    )  # fmt: skip
    recordings = served.folder / "recordings"
    recordings.mkdir()
    options = ["--config", str(served.file), "--replay", str(recordings)]
    with served.client(*options) as client:
        client.open()
        yield served, client
        assert client.finish() == 0


@pytest.mark.requirement("sandbox:hosts:grant-out-of-reach")
def test_nothing_that_a_model_can_call_changes_a_grant(
    open_server: tuple[Served, StdioClient],
) -> None:
    served, client = open_server
    handled = App(
        ToolboxLoader(lambda: as_toolbox(ScriptedToolbox())), ServerConfig(), raw=True
    ).sdk
    assert set(handled._request_handlers) <= METHODS
    tools = client.request("tools/list")["result"]["tools"]
    # The host's own tools access papers at most, and no setting; all others run in the sandbox.
    assert [tool["name"] for tool in tools if tool["_meta"]["carrel/plugin"] == "carrel"] == [
        "work_lookup",
        "paper_search",
        "paper_resolve",
        "paper_metadata",
        "paper_fetch",
        "paper_batch_fetch",
        "paper_capabilities",
        "paper_health",
        "paper_citation_graph",
        "paper_info",
        "paper_search_local",
        "paper_list_recent",
        "paper_pdf_path",
        "paper_export",
        "paper_read",
        "paper_retractions",
    ]
    # They write to the paper store, and to nothing that a grant is in.
    writing = [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]]
    assert writing == ["paper_metadata", "paper_fetch", "paper_batch_fetch"]
    before = files(served)
    for tool in tools:
        client.call(tool["name"])
    for method in METHODS - {"initialize", "subscriptions/listen", "tools/call"}:
        client.request(method, {"uri": "carrel://health", "level": "error"})
    assert files(served) == before
    assert "reload" not in health(client)


def files(served: Served) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in served.folder.rglob("*")
        if path.is_file() and os.path.commonpath([path, served.cache]) != str(served.cache)
    }
