"""A component in a file, as the only plugin of a configuration."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import ArgumentError

if TYPE_CHECKING:
    from carrel.config import Config


def with_component(config: Config, path: Path) -> Config:
    """The configuration with the component at `path` as its only plugin, granted nothing.

    The lock is left out of account: an entry there of the same name approves a configured plugin.

    Raises:
        ArgumentError: there is no such file.
    """
    from carrel.config import PluginConfig

    if not path.exists():
        raise ArgumentError([f"{path}: there is no such file"])
    name = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_") or "component"
    entry = PluginConfig(name=name, url=path.absolute().as_uri(), allowed_hosts=())
    return replace(config, plugins=(entry,), with_lock=False)
