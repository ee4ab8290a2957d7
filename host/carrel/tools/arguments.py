"""Checks the arguments of a tool call: refuses unknown ones, drops blank optional ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from carrel.errors import ArgumentError

if TYPE_CHECKING:
    from carrel.plugins.plugin import Plugin

    from .tool import Tool


def accepted_arguments(
    plugin: Plugin, tool: Tool, arguments: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Returns the arguments to pass to a plugin: unchanged for a module, else see
    `check_arguments`.

    None only for a module whose client sent none.

    Raises:
        ArgumentError: an argument is unknown to a component's tool.
    """
    if plugin.takes_arguments_as_sent:
        return None if arguments is None else dict(arguments)
    return check_arguments(tool, arguments or {})


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments without blank optional ones.

    Clients fill in forms, so an optional argument that is null, empty or blank counts as absent.

    Raises:
        ArgumentError: names every unknown argument and the nearest known one.
    """
    import difflib

    schema = tool.input_schema
    takes_any = schema.get("additionalProperties", "properties" not in schema)
    known = list(schema.get("properties", {}))
    required = set(schema.get("required", ()))
    faults = []
    accepted: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in known and not (takes_any or "patternProperties" in schema):
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            faults.append(f"unknown argument {key[:100]!r}; {hint}")
        elif key in required or not (
            value is None or (isinstance(value, str) and not value.strip())
        ):
            accepted[key] = value
    if faults:
        raise ArgumentError(faults[:20], plugin=tool.plugin, tool=tool.name)
    return accepted
