"""Fixtures: a toolbox of modules, and modules with given lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from carrel.tools import Toolbox
from support.guests import Guest
from support.modules import answering_module

Open = Callable[..., Toolbox]

TOOL: dict[str, Any] = {"name": "ask", "inputSchema": {"type": "object"}}


@pytest.fixture
def open_toolbox(tmp_path: Path, code_folder: Path) -> Open:
    """Returns a toolbox of modules and components, by name."""

    def make(entry: dict[str, Any] | None = None, /, **guests: Guest) -> Toolbox:
        plugins = []
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), **(entry or {})))
        return Toolbox(Config(cache_dir=code_folder, data_dir=tmp_path, plugins=tuple(plugins)))

    return make


def listing(*tools: dict[str, Any], answer: Any = None, **more: Any) -> Guest:
    """Returns a module that lists tools; every call returns `answer`."""
    answers = {"list_tools": {"tools": list(tools)}, "call_tool": answer or {"content": []}}
    return answering_module({**answers, **more})


def refusal(toolbox: Toolbox) -> str:
    """Returns why the only plugin of a toolbox could not be loaded."""
    [state] = toolbox.plugins()
    assert state.error is not None
    return state.error.message
