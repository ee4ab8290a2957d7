"""Carrel: scholarly sources behind sandboxed parsers, as MCP tools and from Python.

Names are imported when they are first used, so that `import carrel` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import lazy_names
from .version import __version__

if TYPE_CHECKING:
    from .api import AsyncCarrel, Carrel
    from .config import Config, load_config
    from .errors import CarrelError
    from .tools import Result, Tool

__all__ = [
    "AsyncCarrel",
    "Carrel",
    "CarrelError",
    "Config",
    "Result",
    "Tool",
    "__version__",
    "load_config",
]

_HOMES = {
    "AsyncCarrel": "api",
    "Carrel": "api",
    "CarrelError": "errors",
    "Config": "config",
    "Result": "tools",
    "Tool": "tools",
    "load_config": "config",
}


__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
