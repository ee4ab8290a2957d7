"""Translates CSL's item types to those of each format and back, by the table in `types.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from .item import Item


def csl_type(format_name: str, name: str) -> str | None:
    """Returns CSL's type of a format's name for it; None for an unknown one.

    Args:
        format_name: `bibtex` (also for BibLaTeX), `ris`, `endnote` or `names`.
        name: as it is written, in the format's case.
    """
    found: str | None = _table()["read"][format_name].get(name)
    return found


def format_type(format_name: str, item: Item) -> Any:
    """Returns a format's type of an item; that of a document if CSL has no such type."""
    types = _table()["write"]
    names = types.get(item.get("type")) if isinstance(item.get("type"), str) else None
    return (names or types["document"])[format_name]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "types.toml").read_text("utf-8"))
