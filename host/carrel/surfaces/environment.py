"""Applies the environment variables of the original server, so that a client's entry keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config import Config
from carrel.config.rules import RULES
from carrel.errors import ConfigError

if TYPE_CHECKING:
    from .surface import Surface


def with_defaults(config: Config, surface: Surface) -> Config:
    """Returns the configuration with the paths that the surface needs, in the data folder, and with
    the features that it needs switched on.
    """
    for setting in surface.switches:
        section, _, key = setting.partition(".")
        concern: Any = getattr(config, section)
        config = replace(config, **{section: concern._replace(**{key: True})})
    for setting, name in surface.defaults.items():
        section, _, key = setting.partition(".")
        concern = getattr(config, section)
        if getattr(concern, key) is None:
            changed = concern._replace(**{key: config.data_dir / name})
            config = replace(config, **{section: changed})
    return config


def with_environment(config: Config, surface: Surface, env: Mapping[str, str]) -> Config:
    """Returns the configuration with the settings that the surface's variables set.

    A setting of Carrel's own file or environment wins. Blank variables count as unset.

    Args:
        config: as loaded.
        surface: names the variables.
        env: the environment.

    Raises:
        ConfigError: with every fault, each with its variable.
    """
    faults: list[str] = []
    for variable, setting in surface.environment.items():
        text = env.get(variable, "").strip()
        section, _, key = setting.partition(".")
        concern: Any = getattr(config, section)
        if not text or getattr(concern, key) != getattr(type(concern)(), key):
            continue
        raw: object = int(text) if text.isascii() and text.isdigit() else text
        try:
            value = RULES[section][key](raw, Path.cwd())
        except ValueError as error:
            faults.append(f"{variable} (environment): {error}")
            continue
        config = replace(config, **{section: concern._replace(**{key: value})})
    if faults:
        raise ConfigError(faults)
    return config
