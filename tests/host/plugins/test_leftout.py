"""Tests that a call of an unloaded plugin's tool fails with the plugin's name and the reason."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrel.config import Config, PluginConfig, builtin
from carrel.errors import CarrelError, HiddenToolError, LoadError, LockError, MissingPluginsError
from carrel.plugins.approval.lockfile import change_lock
from carrel.plugins.approval.pinning import entry_of
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.sources.source import read_source
from carrel.tools import Toolbox
from support.command_line import CommandLine
from support.guests import guest
from support.manifests import manifest_text
from support.stdio_client import MODERN, StdioClient

pytestmark = pytest.mark.long("matrix")


@pytest.fixture
def config(tmp_path: Path, code_folder: Path) -> Config:
    return Config(cache_dir=code_folder, data_dir=tmp_path / "data")


def plugin(tmp_path: Path, name: str, data: bytes | None) -> PluginConfig:
    """Returns a plugin whose file contains `data`, or does not exist if `data` is None."""
    path = tmp_path / f"{name}.wasm"
    if data is not None:
        path.write_bytes(data)
    return PluginConfig(name, path.as_uri())


def sample(name: str = "sample", **changes: object) -> bytes:
    return guest(result='{"n":1}', manifest=manifest_text(name=name, **changes)).wasm


def box_of(config: Config, *plugins: PluginConfig) -> Toolbox:
    return Toolbox(replace(config, plugins=plugins))


def approve(config: Config, entry: PluginConfig) -> None:
    """Writes the plugin's current digest to the lock."""
    changed = replace(config, plugins=(entry,))
    source = read_source(entry.name, entry.url)
    plugin_set = PluginSet(changed)
    found = entry_of(entry, source, plugin_set.read_manifest(entry, source))
    plugin_set.close()
    change_lock(changed.lock_path, {entry.name: found})


def both_ways(toolbox: Toolbox, tool: str) -> CarrelError:
    """Returns the error of a call, after checking that `call_sync` and `call` raise the same."""
    with pytest.raises(CarrelError) as waited:
        toolbox.call_sync(tool, {})
    with pytest.raises(CarrelError) as awaited:
        asyncio.run(toolbox.call(tool, {}))
    assert awaited.value.to_dict() == waited.value.to_dict()
    return waited.value


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "broken: cannot read .*broken.wasm: No such file or directory"),
        (b"nothing", "broken: .*not WebAssembly"),
        (b"", "broken: .*empty"),
    ],
)
def test_a_missing_tool_of_a_broken_plugin_is_reported_with_the_reason(
    config: Config, tmp_path: Path, data: bytes | None, says: str
) -> None:
    toolbox = box_of(config, builtin("arxiv"), plugin(tmp_path, "broken", data))
    error = both_ways(toolbox, "broken_search")
    assert isinstance(error, LoadError)
    assert error.error_code == "plugin_unavailable"
    assert re.search(says, error.message)
    toolbox.close()


def test_the_lock_names_the_tools_of_a_changed_plugin(config: Config, tmp_path: Path) -> None:
    entry = plugin(tmp_path, "mine", sample("lists", namespace="reading"))
    approve(config, entry)
    plugin(tmp_path, "mine", sample("lists", namespace="reading", version="0.2.0"))
    toolbox = box_of(config, entry)
    error = both_ways(toolbox, "reading_echo")
    assert isinstance(error, LockError)
    assert "not what was approved" in error.message
    assert error.message.endswith("carrel plugin lock mine")
    toolbox.close()


def test_any_other_unknown_tool_names_the_plugins_that_failed(
    config: Config, tmp_path: Path
) -> None:
    broken = [plugin(tmp_path, f"broken{number}", b"nothing") for number in range(7)]
    toolbox = box_of(config, builtin("arxiv"), *broken)
    error = both_ways(toolbox, "pubmed_fetch")
    assert isinstance(error, MissingPluginsError)
    assert error.message.startswith("unknown tool 'pubmed_fetch'")
    assert "plugins that could not be loaded: broken0: " in error.message
    assert error.message.endswith("; and 2 more")
    assert error.action == "ask_operator"
    assert error.to_dict()["failed_plugins"] == [f"broken{number}" for number in range(7)]
    mistyped = both_ways(toolbox, "arxiv_qery")
    assert "did you mean 'arxiv_query'?" in mistyped.message
    assert mistyped.action == "fix_arguments"
    toolbox.close()


def test_a_hidden_tool_is_still_reported_as_hidden(config: Config, tmp_path: Path) -> None:
    hidden = replace(plugin(tmp_path, "sample", sample()), skip_tools=("echo",))
    toolbox = box_of(config, hidden, plugin(tmp_path, "broken", None))
    assert isinstance(both_ways(toolbox, "sample_echo"), HiddenToolError)
    toolbox.close()


def test_a_plugin_that_loads_again_is_called(config: Config, tmp_path: Path) -> None:
    entry = plugin(tmp_path, "sample", None)
    toolbox = box_of(config, entry)
    assert [tool.name for tool in toolbox.tools()] == []
    plugin(tmp_path, "sample", sample())
    assert toolbox.call_sync("sample_echo", {}).data == {"n": 1}
    assert [tool.name for tool in toolbox.tools()] == ["sample_echo"]
    toolbox.close()


@pytest.mark.requirement("result:typed:missing-plugin")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_errors_for_a_client_have_no_local_paths(
    tmp_path: Path, code_folder: Path, revision: str
) -> None:
    settings = tmp_path / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(tmp_path)}
    plugins = {"missing": {"url": (tmp_path / "missing.wasm").as_uri()}}
    settings.write_text(json.dumps({**folders, "plugins": plugins}), "utf-8")
    command = [sys.executable, "-m", "carrel", "serve", "--config", str(settings)]
    with StdioClient(command) as client:
        client.open(revision)
        client.request("tools/list")
        result = client.result("missing_search", query="x")
        assert result["isError"] is True
        assert "missing: cannot read …/missing.wasm" in result["content"][0]["text"]
        error = json.loads(result["content"][1]["text"])["error"]
        assert (error["code"], error["action"]) == ("plugin_unavailable", "ask_operator")
        unknown = client.call("nobodys")["error"]
        assert unknown["code"] == -32602
        assert unknown["message"].startswith("unknown tool 'nobodys'")
        assert "could not be loaded: missing: cannot read …/missing.wasm" in unknown["message"]
        assert unknown["data"]["error"]["failed_plugins"] == ["missing"]
        assert client.finish() == 0
    assert str(tmp_path).encode() not in b"".join(client.lines)


def test_the_command_line_detects_binary_formats(tmp_path: Path) -> None:
    carrel = CommandLine(tmp_path, real=True)
    config = carrel.write("carrel.toml", '[plugins.missing]\nurl = "missing.wasm"\n')
    done = carrel("--config", config, "call", "missing_search", "query=x")
    assert (done.code, done.out) == (1, "")
    assert "missing: cannot read" in done.err
    assert "missing.wasm" in done.err
    done = carrel("--config", config, "call", "nobodys_search")
    assert "unknown tool 'nobodys_search'" in done.err
    assert "plugins that could not be loaded: missing: cannot read" in done.err
    doctor = carrel("--config", config, "doctor", "--json")
    assert doctor.code == 1
    problems = json.loads(doctor.out)["problems"]
    assert any("missing: cannot read" in one for one in problems)
