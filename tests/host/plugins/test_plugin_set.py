"""Tests `PluginSet.manifests`: it skips an unreadable plugin and reports its error."""

from __future__ import annotations

from pathlib import Path

from carrel.config import Config, PluginConfig
from carrel.errors import CarrelError
from carrel.plugins.plugin_set import PluginSet
from support.guests import guest
from support.manifests import manifest_text


def test_manifests_continue_after_an_unreadable_plugin(tmp_path: Path) -> None:
    entries = []
    for name in ("first", "lost", "off", "last"):
        path = tmp_path / f"{name}.wasm"
        if name != "lost":
            path.write_bytes(guest(manifest=manifest_text(name=name)).wasm)
        entries.append(PluginConfig(name, path.as_uri(), enabled=name != "off"))
    plugin_set = PluginSet(Config(tmp_path / "cache", tmp_path / "data", tuple(entries)))
    left_out: list[tuple[str, CarrelError]] = []
    found = list(plugin_set.manifests(lambda name, error: left_out.append((name, error))))
    assert [(name, manifest.name) for name, manifest in found] == [
        ("first", "first"),
        ("last", "last"),
    ]
    [(name, error)] = left_out
    assert name == "lost"
    assert "lost.wasm" in error.message
    assert [name for name, _ in plugin_set.manifests()] == ["first", "last"]
    plugin_set.close()
