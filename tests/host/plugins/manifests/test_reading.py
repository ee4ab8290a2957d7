"""Tests that a list does not wait for a plugin that is slow to compile, and shows it later."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from carrel.errors import LoadError
from carrel.plugins.manifests import reading
from carrel.plugins.plugin_set import PluginSet
from carrel.runtime.component import SandboxedComponent
from carrel.runtime.loader import Runtime
from support.guests import guest
from support.manifests import manifest_text


@pytest.fixture
def config(tmp_path: Path) -> Config:
    path = tmp_path / "sample.wasm"
    path.write_bytes(guest(manifest=manifest_text()).wasm)
    entry = PluginConfig("sample", path.as_uri())
    return Config(cache_dir=tmp_path / "cache", data_dir=tmp_path / "data", plugins=(entry,))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.0)


@pytest.mark.requirement("serve:alive:listing")
@pytest.mark.usefixtures("impatient")
def test_a_list_omits_a_compiling_plugin_and_is_announced_later(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []
    load = Runtime.load

    def counted(
        runtime: Runtime, name: str, wasm: bytes, digest: str, **options: Any
    ) -> SandboxedComponent:
        loads.append(name)
        return load(runtime, name, wasm, digest, **options)

    monkeypatch.setattr(Runtime, "load", counted)
    ready = threading.Event()
    old = PluginSet(config, on_pulled=ready.set)
    for ask in (old.manifest, old.plugin):
        with pytest.raises(LoadError, match="sample: is still being compiled"):
            ask("sample")
    assert ready.wait(60)
    new = old.successor(config)
    assert new.manifest("sample").name == "sample"
    assert loads == ["sample"]  # a second list does not compile it again
    assert bytes(new.plugin("sample").parse("note", "x")) == b"{}"
    old.close()
    new.close()


@pytest.mark.usefixtures("impatient")
def test_an_unreadable_plugin_is_retried_after_a_reload(config: Config, tmp_path: Path) -> None:
    (tmp_path / "sample.wasm").write_bytes(guest(manifest="not JSON").wasm)
    ready = threading.Event()
    old = PluginSet(config, on_pulled=ready.set)
    with pytest.raises(LoadError):
        old.manifest("sample")
    old._readings["sample"][2]._done.wait(60)
    assert old._readings["sample"][2].failed
    assert not ready.is_set()
    new = old.successor(config)
    assert new._readings == {}
    old.close()
    new.close()


def test_a_changed_entry_is_loaded_again(config: Config) -> None:
    old = PluginSet(config, on_pulled=lambda: None)
    assert old.manifest("sample").name == "sample"
    entry = replace(config.plugins[0], allowed_hosts=("api.example.org",))
    new = old.successor(replace(config, plugins=(entry,)))
    known = old._readings["sample"]
    assert new.manifest("sample").name == "sample"
    assert new._readings["sample"] is not known
    old.close()
    new.close()


def test_without_a_server_the_caller_waits_for_the_pull(config: Config) -> None:
    plugin_set = PluginSet(config)
    assert plugin_set.manifest("sample").name == "sample"
    assert plugin_set._readings == {}
    plugin_set.close()
