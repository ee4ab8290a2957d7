"""Defines a host tool that answers by a function, and parts of the schemas of such tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.tools.host_spec import host_spec, object_schema
from carrel.tools.host_tool import HostAnswer, HostTool
from carrel.web.answers import TRUST

if TYPE_CHECKING:
    from carrel.exchange import Call, Limits
    from carrel.plugins.manifests.tool_spec import ToolSpec

Schema = dict[str, Any]
Answer = Callable[[Mapping[str, Any], "Call"], dict[str, Any] | HostAnswer]

TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}
OBJECT: Final[Schema] = {"type": "object"}
OBJECTS: Final[Schema] = {"type": "array", "items": OBJECT}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
FLAG: Final[Schema] = {"type": "boolean"}
LABEL: Final[Schema] = {"const": TRUST}
SESSION_ID: Final[Schema] = {
    "description": "Of research_step.",
    "type": "string",
    "minLength": 1,
    "maxLength": 100,
}
QUERY: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 500}
CLAIM: Final[Schema] = {
    "description": "Sentences about it are returned.",
    "type": "string",
    "minLength": 1,
    "maxLength": 2000,
}


class FunctionTool(HostTool):
    """A tool that answers by a function.

    Args:
        spec: its description.
        function: returns the result of a call.
        limits: of a call.
        on_close: closes what the tool opened; tools that share something name it once.
    """

    def __init__(
        self,
        spec: ToolSpec,
        function: Answer,
        limits: Limits,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(spec, limits)
        self._function = function
        self._on_close = on_close

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any] | HostAnswer:
        """Returns the function's result."""
        return self._function(arguments, call)

    def close(self) -> None:
        """Closes what the tool opened."""
        if self._on_close is not None:
            self._on_close()


def spec_of(
    name: str,
    title: str,
    description: str,
    inputs: Schema,
    output: Schema,
    *,
    required: Sequence[str],
    writes: bool = False,
    network: bool = True,
) -> ToolSpec:
    """Returns the description of a tool."""
    return host_spec(
        name,
        title,
        description,
        object_schema(inputs, required),
        output,
        writes=writes,
        idempotent=not writes,
        network=network,
    )


def output_schema(members: Schema, *required: str) -> Schema:
    """Returns the schema of a result with these members."""
    return object_schema(members, required)
