"""Finds the plugin that reads an address from the site's own interface."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, Literal
from urllib.parse import unquote

#: Characters of the longest address that is looked at.
_LONGEST: Final = 2000


@dataclass(frozen=True, slots=True)
class Route:
    """The reader of an address.

    Attributes:
        name: of the site, such as `hackernews`.
        reader: what reads it, see `routes.toml`.
        plugin: its name in the configuration.
        tool: of the plugin, for the reader `plugin`.
        arguments: of the tool.
        reference: of the work, for the other readers.
    """

    name: str
    reader: Literal["plugin", "record", "paper"]
    plugin: str
    tool: str = ""
    arguments: tuple[tuple[str, str | int], ...] = ()
    reference: str = ""


@lru_cache(maxsize=1)
def _routes() -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    data = tomllib.loads(files(__package__).joinpath("routes.toml").read_text("utf-8"))
    return tuple((re.compile(rf"https://{entry['url']}"), entry) for entry in data["route"])


def find_route(url: str) -> Route | None:
    """Returns the reader of an address; None if the page itself is read.

    Args:
        url: https, without fragment.
    """
    if len(url) > _LONGEST:
        return None
    for pattern, entry in _routes():
        found = pattern.fullmatch(url)
        if found is not None:
            inner = found.groupdict().get("inner")
            return _route(entry, found["id"] + (f"/{inner}" if inner else ""))
    return None


def _route(entry: dict[str, Any], identifier: str) -> Route:
    if entry["reader"] == "plugin":
        value = int(identifier) if entry.get("number") else identifier
        return Route(
            entry["name"], "plugin", entry["plugin"], entry["tool"], ((entry["argument"], value),)
        )
    reference = entry.get("prefix", "") + unquote(identifier)
    return Route(entry["name"], entry["reader"], entry["plugin"], reference=reference)
