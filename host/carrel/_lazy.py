"""Names that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns a package's `__getattr__` (PEP 562).

    Args:
        package: its `__name__`.
        homes: maps each name to the module that defines it, relative to the package or absolute.
    """

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home if "." in home else f".{home}", package), name)

    return get


def import_name(reference: str) -> Any:
    """Imports what `MODULE:NAME` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
