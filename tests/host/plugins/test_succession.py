"""Tests that a plugin set takes over unchanged plugins from its predecessor."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from carrel.plugins.plugin_set import PluginSet
from support.guests import guest
from support.manifests import manifest_text

Make = Callable[..., PluginConfig]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a plugin and returns its entry."""

    def make(name: str, number: int = 1, **given: Any) -> PluginConfig:
        path = tmp_path / f"{name}.wasm"
        one = guest(result=json.dumps({"n": number}), manifest=manifest_text(name=name))
        path.write_bytes(one.wasm)
        return PluginConfig(name, path.as_uri(), **given)

    return make


@pytest.fixture
def config(tmp_path: Path, code_folder: Path) -> Config:
    return Config(cache_dir=code_folder, data_dir=tmp_path)


@pytest.mark.requirement("serve:alive:reload-keeps-unchanged")
def test_an_unchanged_plugin_stays_loaded_and_a_changed_one_is_reloaded(
    config: Config, make: Make
) -> None:
    same, other = make("same"), make("other")
    old = PluginSet(replace(config, plugins=(same, other)))
    kept, gone = old.plugin("same"), old.plugin("other")
    narrower = replace(other, allowed_hosts=("api.example.org",))
    new = old.successor(replace(config, plugins=(same, narrower)))
    assert new.plugin("same") is kept
    assert new.plugin("other") is not gone
    old.close()
    assert bytes(new.plugin("same").parse("note", "x")) == b'{"n": 1}'
    assert bytes(new.plugin("other").parse("note", "x")) == b'{"n": 1}'
    new.close()


def test_a_plugin_whose_file_changed_is_loaded_anew(config: Config, make: Make) -> None:
    old = PluginSet(replace(config, plugins=(make("sample", 1),)))
    assert bytes(old.plugin("sample").parse("note", "x")) == b'{"n": 1}'
    new = old.successor(replace(config, plugins=(make("sample", 2),)))
    assert bytes(new.plugin("sample").parse("note", "x")) == b'{"n": 2}'
    assert bytes(old.plugin("sample").parse("note", "x")) == b'{"n": 1}'
    old.close()
    new.close()


def test_a_change_of_shared_settings_recreates_shared_resources(config: Config, make: Make) -> None:
    entry = make("sample")
    old = PluginSet(replace(config, plugins=(entry,)))
    before = old.plugin("sample")
    new = old.successor(replace(config, plugins=(entry,), limits={"cpu_seconds": 3.0}))
    assert new.plugin("sample") is not before
    assert new.plugin("sample").limits.cpu_seconds == 3.0
    old.close()
    assert bytes(new.plugin("sample").parse("note", "x")) == b'{"n": 1}'
    new.close()


def test_either_may_be_closed_first(config: Config, make: Make) -> None:
    entry = make("sample")
    old = PluginSet(replace(config, plugins=(entry,)))
    old.plugin("sample")
    new = old.successor(replace(config, plugins=(entry,)))
    new.close()
    assert bytes(old.plugin("sample").parse("note", "x")) == b'{"n": 1}'
    old.close()
    old.close()
