"""Fixtures: a Carrel with a test's own plugins and the built-in document plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, DocumentsConfig, PluginConfig
from support.guests import Guest

Open = Callable[..., Carrel]


@pytest.fixture
def open_api(tmp_path: Path, code_folder: Path) -> Iterator[Open]:
    """Returns a Carrel with plugins of these names; `folders` are granted to the tool."""
    opened: list[Carrel] = []

    def make(
        *folders: Path, entries: tuple[PluginConfig, ...] = (), **guests: Guest | Any
    ) -> Carrel:
        plugins = list(entries)
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri()))
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path / "data",
            plugins=tuple(plugins),
            documents=DocumentsConfig(folders=folders),
        )
        opened.append(Carrel(config))
        return opened[-1]

    yield make
    for api in opened:
        api.close()


@pytest.fixture
def api(open_api: Open) -> Carrel:
    """Returns a Carrel with an empty `plugins` table, which still has the built-in plugins."""
    return open_api()
