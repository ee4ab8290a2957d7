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
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """Returns a name in snake_case."""
    return _CAPITAL.sub(lambda found: f"_{found[0].lower()}", name)


def camel_deep(value: Any) -> Any:
    """Returns a JSON value whose members are in camelCase, but for names that are data."""
    if isinstance(value, Mapping):
        return {
            camel(name): member if name in _OWN_NAMES else camel_deep(member)
            for name, member in value.items()
        }
    return [camel_deep(item) for item in value] if isinstance(value, list) else value


def snake_arguments(arguments: Mapping[str, Any]) -> Json:
    """Returns the arguments of Carrel's tool: the same values under names in snake_case."""
    return {snake(name): value for name, value in arguments.items()}


def renamed(value: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    """Returns the members that are there, under other names."""
    return {new: value[old] for old, new in names.items() if value.get(old) is not None}


def without(value: Mapping[str, Any], names: Iterable[str]) -> Json:
    """Returns an object without these members."""
    left_out = set(names)
    return {name: member for name, member in value.items() if name not in left_out}


def clamped(arguments: Mapping[str, Any], name: str, least: int, most: int) -> Json:
    """Returns arguments with a number clamped to its range; an absent number stays absent."""
    result = dict(arguments)
    if name in result:
        result[name] = min(max(int(result[name]), least), most)
    return result


def requested(arguments: Mapping[str, Any], most: int, name: str = "num_results") -> Json:
    """Returns the requested number of results if a different number was used."""
    number = arguments.get(name)
    return {} if number is None or 1 <= number <= most else {"requestedNumResults": number}
