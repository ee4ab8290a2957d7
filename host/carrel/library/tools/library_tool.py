"""The base of the library's tools: a description and a function of arguments and call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.tools.host_spec import host_spec, object_schema
from carrel.tools.host_tool import HostTool

if TYPE_CHECKING:
    from carrel.exchange import Call, Limits
    from carrel.library.shared import SharedLibrary
    from carrel.plugins.manifests.tool_spec import ToolSpec

Schema = dict[str, Any]
Answer = Callable[[Mapping[str, Any], "Call"], dict[str, Any]]

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "integer"}
#: The argument `id` of a tool for one reference.
ID: Final[Schema] = {
    "description": "Key or uuid.",
    "type": "string",
    "minLength": 1,
    "maxLength": 500,
}
#: What a list shows of a reference.
SHORT: Final[Schema] = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        **dict.fromkeys(
            ("id", "type", "title", "container-title", "DOI", "PMID", "PMCID", "ISBN"), TEXT
        ),
        "authors": {"type": "array", "items": TEXT},
        "year": NUMBER,
        "arxiv": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "superseded": {"type": "boolean"},
        "check": TEXT,
    },
}
#: A part of a list.
PAGE: Final[Schema] = {
    "type": "object",
    "required": ["total", "limit", "offset", "next_offset", "items"],
    "additionalProperties": False,
    "properties": {
        "total": NUMBER,
        "limit": NUMBER,
        "offset": NUMBER,
        "next_offset": {"type": ["integer", "null"]},
        "items": {"type": "array", "items": {"type": "object", "required": ["id"]}},
    },
}


class LibraryTool(HostTool):
    """A tool of the library.

    Args:
        spec: describes it.
        answer: returns its result.
        shared: closed when the toolbox is.
        limits: of a call.
    """

    def __init__(
        self, spec: ToolSpec, answer: Answer, shared: SharedLibrary, limits: Limits | None = None
    ) -> None:
        super().__init__(spec, limits)
        self._answer = answer
        self._shared = shared

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Returns the result; a failure of the library is raised as it is."""
        return self._answer(arguments, call)

    def close(self) -> None:
        """Closes the library, which its other tools and resources share."""
        self._shared.close()


def library_spec(
    name: str,
    title: str,
    description: str,
    properties: Schema,
    output: Schema,
    *,
    required: Sequence[str] = (),
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = True,
    network: bool = False,
) -> ToolSpec:
    """Returns the description of a tool.

    Args:
        name: of the tool.
        title: for people.
        description: for models, in six sections.
        properties: of its arguments.
        output: schema of its result.
        required: arguments that must be given.
        writes: whether it changes the library.
        destructive: whether it removes something.
        idempotent: whether a repeated call changes nothing more.
        network: whether its result has text from outside.
    """
    return host_spec(
        name,
        title,
        description,
        object_schema(properties, required),
        output,
        writes=writes,
        destructive=destructive,
        idempotent=idempotent,
        network=network,
    )
