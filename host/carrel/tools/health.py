"""Reports the state of a host as JSON, for `carrel://health` and `carrel doctor`. No secrets."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.version import __version__

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet


def health(config: Config, plugin_set: PluginSet) -> dict[str, Any]:
    """Returns versions, plugins and folders; `ok` is false if something configured does not
    work.
    """
    plugins = [_plugin(state) for state in plugin_set.states()]
    folders = {"cache": _folder(config.cache_dir), "data": _folder(config.data_dir)}
    return {
        "ok": all(plugin["state"] != "failed" for plugin in plugins)
        and all(folder["writable"] for folder in folders.values()),
        "versions": {"carrel": __version__, "python": platform.python_version(), **_libraries()},
        "platform": f"{sys.platform} {platform.machine()}",
        "configuration": str(config.source_path) if config.source_path else None,
        "contact_set": config.fetch.contact is not None,
        "warnings": list(config.warnings),
        "mode": "replay" if config.replay_dir else "record" if config.record_dir else "live",
        "plugins": plugins,
        "folders": folders,
    }


def _plugin(state: Any) -> dict[str, Any]:
    summary: dict[str, Any] = {"name": state.name, "url": state.url}
    if state.digest:
        summary["digest"] = f"sha256:{state.digest}"
    if state.manifest:
        summary["version"] = state.manifest.version
        summary["hosts_granted"] = list(state.granted)
        summary["tools"] = len(state.manifest.tools)
    if state.notes:
        summary["notes"] = list(state.notes)
    if state.locked is not None:
        summary["locked"] = state.locked
    if not state.enabled:
        summary["state"] = "off"
    elif state.error is not None:
        summary["state"] = "failed"
        summary["error"] = state.error.to_dict()
    else:
        summary["state"] = "ready"
    return summary


def _folder(path: Path) -> dict[str, Any]:
    """Returns whether the folder is writable or can be created; does not create it."""
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    return {
        "path": str(path),
        "exists": path.exists(),
        "writable": existing.is_dir() and os.access(existing, os.W_OK | os.X_OK),
    }


def _libraries() -> dict[str, str]:
    from importlib import metadata

    names = ("wasmtime", "mcp", "httpcore2", "jsonschema-rs")
    return {name: metadata.version(name) for name in names}
