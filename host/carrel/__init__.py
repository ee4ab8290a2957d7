"""Carrel: an MCP server and a library for scholarly sources with sandboxed parsers.

`Carrel` and `AsyncCarrel` call tools and parse documents in-process; see `carrel.api`. Names are
imported on first use, so that `import carrel` is cheap.
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
