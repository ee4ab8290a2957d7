"""Renames members between Carrel's tools and the surface, and clamps numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from carrel.surfaces.shape import Json

_CAPITAL: Final = re.compile(r"[A-Z]")
#: Members whose value has names of its own, such as those of providers.
_OWN_NAMES: Final = frozenset({
    "filters_applied", "provider_stats", "source_types", "structured_data",
})  # fmt: skip


def camel(name: str) -> str:
    """Returns a name in camelCase."""
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def snake(name: str) -> str:
    """Returns a name in snake_case."""
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def camel_deep(value: Any) -> Any:
    """Returns a JSON value whose members are in camelCase, but for names that are data."""
    if isinstance(value, Mapping):
        return {
            camel(name): one if name in _OWN_NAMES else camel_deep(one)
            for name, one in value.items()
        }
    return [camel_deep(one) for one in value] if isinstance(value, list) else value


def snake_arguments(given: Mapping[str, Any]) -> Json:
    """Returns the arguments of Carrel's tool: the same values under names in snake_case."""
    return {snake(name): value for name, value in given.items()}


def renamed(value: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    """Returns the members that are there, under other names."""
    return {new: value[old] for old, new in names.items() if value.get(old) is not None}


def without(value: Mapping[str, Any], names: Iterable[str]) -> Json:
    """Returns an object without these members."""
    left_out = set(names)
    return {name: one for name, one in value.items() if name not in left_out}


def clamped(given: Mapping[str, Any], name: str, least: int, most: int) -> Json:
    """Returns arguments with a number in its range; it is not there if it was not given."""
    arguments = dict(given)
    if name in arguments:
        arguments[name] = min(max(int(arguments[name]), least), most)
    return arguments


def requested(given: Mapping[str, Any], most: int, name: str = "num_results") -> Json:
    """Returns the number of results that was asked for, if another one was used."""
    number = given.get(name)
    return {} if number is None or 1 <= number <= most else {"requestedNumResults": number}
