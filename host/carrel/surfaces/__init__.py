"""Offers the tools under the names and in the shapes of another server, for its clients.

A surface is a folder of this package. `surface.json` describes it; `tools.json` lists its tools,
each with the tool of Carrel that it calls; `shapes.py` has the pure functions that translate
arguments and results where they differ. A new folder is a new surface: nothing else names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .environment import with_defaults, with_environment
    from .opening import open_toolbox
    from .surface import Surface, find_surface, surface_names

__all__ = [
    "Surface",
    "find_surface",
    "open_toolbox",
    "surface_names",
    "with_defaults",
    "with_environment",
]

_HOMES = {
    "Surface": "carrel.surfaces.surface",
    "find_surface": "carrel.surfaces.surface",
    "open_toolbox": "carrel.surfaces.opening",
    "surface_names": "carrel.surfaces.surface",
    "with_defaults": "carrel.surfaces.environment",
    "with_environment": "carrel.surfaces.environment",
}


__getattr__ = lazy_names(__name__, _HOMES)
