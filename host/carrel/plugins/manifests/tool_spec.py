"""Defines a tool as a manifest describes it.

Apart from the manifest, whose reading needs the schemas and the policy: every command that lists or
calls tools, and `carrel parse`, imports this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the plugin describes it; clients see it under `<namespace>_<name>`.

    Attributes:
        input_schema: JSON Schema of the arguments.
        output_schema: JSON Schema of the result; None only for a tool of an Extism module, which
            need not have one.
        read_only: changes no state.
        destructive: may delete or overwrite.
        idempotent: a repeated call has no further effect.
        open_world: uses the network; its results contain external content.
        hints: the annotations that an Extism module gave, by MCP's names; None for a component,
            whose manifest has all of them.
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
    hints: Mapping[str, bool | str] | None = None
