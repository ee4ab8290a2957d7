"""Describes the tools that the host implements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from carrel.plugins.manifests.tool_spec import ToolSpec

Schema = dict[str, Any]


def host_spec(
    name: str,
    title: str,
    description: str,
    input_schema: Schema,
    output_schema: Schema,
    *,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = True,
    network: bool = True,
) -> ToolSpec:
    """Returns the description of a host tool, which by default reads and uses the network.

    Args:
        name: of the tool, without a prefix.
        title: for people.
        description: for models, in six sections.
        input_schema: of the arguments, see `object_schema`.
        output_schema: of the result.
        writes: whether it changes something.
        destructive: whether it removes something.
        idempotent: whether a repeated call changes nothing more.
        network: whether its result has text from outside.
    """
    return ToolSpec(
        name=name,
        title=title,
        description=description,
        input_schema=input_schema,
        output_schema=output_schema,
        read_only=not writes,
        destructive=destructive,
        idempotent=idempotent,
        open_world=network,
    )


def object_schema(
    properties: Schema, required: Sequence[str] = (), *, additional: bool = False
) -> Schema:
    """Returns the schema of an object with these properties.

    Args:
        properties: name → schema.
        required: names that must be there.
        additional: whether other properties are valid.
    """
    return {
        "type": "object",
        "properties": properties,
        **({"required": list(required)} if required else {}),
        "additionalProperties": additional,
    }
