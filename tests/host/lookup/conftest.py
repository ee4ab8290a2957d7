"""Fixtures: several plugins, each with results that the test defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.api import Carrel
from carrel.config import Config, PluginConfig
from support.guests import Guest
from support.lookups import Raw

Open = Callable[..., Carrel]


@pytest.fixture
def open_api(tmp_path: Path, code_folder: Path) -> Iterator[Open]:
    """Returns a Carrel with plugins of these names, in this order."""
    opened: list[Carrel] = []

    def make(*, limits: Raw | None = None, entry: Raw | None = None, **guests: Guest) -> Carrel:
        plugins = []
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), **(entry or {}).get(name, {})))
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=tuple(plugins),
            limits=limits or {},
        )
        opened.append(Carrel(config))
        return opened[-1]

    yield make
    for api in opened:
        api.close()
