"""Defines a tool as clients see it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from carrel.plugins.manifests.tool_spec import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(ToolSpec):
    """A tool as clients see it.

    Attributes:
        name: `<namespace>_<tool>`.
        plugin: the plugin's name in the configuration; `carrel` for a host tool.
    """

    plugin: str


def listed_tool(name: str, spec: ToolSpec, plugin: str) -> Tool:
    """Returns a plugin's or the host's tool under the name that clients call it by."""
    values = {field.name: getattr(spec, field.name) for field in fields(spec)}
    return Tool(**{**values, "name": name, "plugin": plugin})
