"""Opens the toolbox of a configuration, with the surface that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from carrel.tools import Toolbox

from .surface import find_surface

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.tools.feature import Feature


def open_toolbox(
    config: Config,
    *,
    features: Sequence[Feature],
    on_pulled: Callable[[], None] | None = None,
) -> Toolbox:
    """Returns the toolbox; of Carrel's own tools when `server.surface` is not set.

    Args:
        config: as for `Toolbox`.
        features: likewise.
        on_pulled: likewise.

    Raises:
        ConfigError: no such surface.
    """
    if config.server.surface is None:
        return Toolbox(config, features=features, on_pulled=on_pulled)
    surface = find_surface(config.server.surface)
    if surface.plugin_names is not None:
        from .prefixed import PrefixedToolbox

        return PrefixedToolbox(surface.plugin_names, config, on_pulled=on_pulled)
    from .toolbox import SurfaceToolbox

    return SurfaceToolbox(surface, config, features=features, on_pulled=on_pulled)
