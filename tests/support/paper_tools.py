"""Fixtures that call tools for papers over scripted plugins and recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PapersConfig, PluginConfig
from carrel.features import FEATURES
from carrel.tools import Toolbox
from support.checked_results import checked_result
from support.guests import Guest
from support.paper_copies import HOST, RecordedCopies

Raw = dict[str, Any]
Call = Callable[..., Raw]
Make = Callable[..., Call]


@pytest.fixture
def copies(tmp_path: Path) -> RecordedCopies:
    """Returns the recorded answers; what is not recorded is not there."""
    return RecordedCopies(tmp_path / "exchanges")


@pytest.fixture
def configure(tmp_path: Path, code_folder: Path, copies: RecordedCopies) -> Callable[..., Config]:
    """Makes the configuration of plugins that may ask for the recorded answers."""

    def one(*builtin: str, limits: Raw | None = None, **guests: Guest) -> Config:
        plugins = [PluginConfig(name, f"builtin:{name}", allowed_hosts=None) for name in builtin]
        for name, made in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(made.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), allowed_hosts=(HOST,)))
        return Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=tuple(plugins),
            papers=PapersConfig(folder=tmp_path / "store"),
            replay_dir=copies.folder,
            limits=limits or {},
        )

    return one


@pytest.fixture
def make(configure: Callable[..., Config]) -> Iterator[Make]:
    """Makes what calls a tool and returns its result, which its schema accepts."""
    opened: list[Toolbox] = []

    def one(*builtin: str, **guests: Any) -> Call:
        toolbox = Toolbox(
            configure(*builtin, **guests),
            features=[feature for feature in FEATURES if feature.name == "papers"],
        )
        opened.append(toolbox)

        def call(name: str, **arguments: Any) -> Raw:
            return checked_result(toolbox, name, **arguments)

        return call

    yield one
    for toolbox in opened:
        toolbox.close()
