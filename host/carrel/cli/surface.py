"""Applies a surface to the configuration."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.config import Config


def with_surface(config: Config, surface: str | None) -> Config:
    """Returns the configuration with a surface and what the surface's variables set; with None,
    without a surface.

    Raises:
        ConfigError: no such surface, or a variable cannot be used.
    """
    config = replace(config, server=config.server._replace(surface=surface))
    if surface is None:
        return config
    from carrel.surfaces import find_surface, with_defaults, with_environment

    found = find_surface(surface)
    return with_defaults(with_environment(config, found, os.environ), found)
