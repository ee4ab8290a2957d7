"""Carrel: scholarly sources behind sandboxed parsers, as MCP tools and from Python.

Names are imported when they are first used, so that `import carrel` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import AsyncCarrel, Carrel
    from .config import Config, load_config
    from .errors import CarrelError
    from .tools import Result, Tool

__version__ = "0.1.0"

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


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
