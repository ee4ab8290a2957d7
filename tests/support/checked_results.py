"""Calls tools, and checks their results against their output schemas."""

from __future__ import annotations

from typing import Any

from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.tools import Toolbox


def checked_result(toolbox: Toolbox, name: str, /, **arguments: Any) -> dict[str, Any]:
    """Returns the result of a call, after checking that it satisfies the tool's output schema."""
    result: dict[str, Any] = toolbox.call_sync(name, arguments).data
    schema = toolbox.tool(name).output_schema
    assert schema is not None
    assert validation_faults(compile_schema(schema), result) == []
    return result
