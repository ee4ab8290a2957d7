"""Defines a tool as clients see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import ToolSpec


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as clients see it.

    Attributes:
        name: `<namespace>_<tool>`.
        input_schema: JSON Schema of the arguments.
        output_schema: JSON Schema of the result; None for a tool of an Extism module without one.
        read_only: changes no state.
        destructive: may delete or overwrite.
        idempotent: a repeated call has no further effect.
        open_world: uses the network; its results contain external content.
        plugin: the plugin's name in the configuration; `carrel` for a host tool.
        hints: the annotations that an Extism module gave, by MCP's names; None for other tools,
            which have all of them.
    """

    name: str
    title: str | None
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    plugin: str
    hints: Mapping[str, bool | str] | None = None


def listed_tool(name: str, spec: ToolSpec, plugin: str) -> Tool:
    """Returns a plugin's or the host's tool under the name that clients call it by."""
    return Tool(
        name=name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        read_only=spec.read_only,
        destructive=spec.destructive,
        idempotent=spec.idempotent,
        open_world=spec.open_world,
        plugin=plugin,
        hints=spec.hints,
    )
