"""What listings have in common: one page, and of tools few tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

from .frames import raw_json
from .toolbox import Toolbox

#: Keywords that say something to a person and nothing to a validator.
_PROSE = frozenset({"$schema", "$comment", "title", "description", "examples"})
#: Keywords whose value maps names to schemas: a property may well be called title.
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def without_prose(schema: Any) -> Any:
    """The schema with the same meaning and no words.

    Of results a model sees the field names; what each means stands in the reference, and repeating
    it with every listing would cost a quarter of the tokens.
    """
    if isinstance(schema, Mapping):
        kept = {}
        for key, value in schema.items():
            if key in _NAMED and isinstance(value, Mapping):
                kept[key] = {name: without_prose(one) for name, one in value.items()}
            elif key in {"const", "enum", "default"}:
                kept[key] = value
            elif key not in _PROSE:
                kept[key] = without_prose(value)
        return kept
    if isinstance(schema, list):
        return [without_prose(one) for one in schema]
    return schema


class ToolLists:
    """Answers to `tools/list`, one for each revision, of the toolbox that is in use."""

    def __init__(self) -> None:
        self._toolbox: Toolbox | None = None
        self._answers: dict[str, dict[str, Any]] = {}

    def find(self, toolbox: Toolbox, revision: str) -> dict[str, Any] | None:
        """The answer of this toolbox for a revision, if it was made."""
        return self._answers.get(revision) if toolbox is self._toolbox else None

    def keep(self, toolbox: Toolbox, revision: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Keeps an answer, the tools in it as JSON text; returns it so."""
        if toolbox is not self._toolbox:
            self._toolbox, self._answers = toolbox, {}
        kept = {**answer, "tools": raw_json(answer["tools"])}
        self._answers[revision] = kept
        return kept

    def forget(self) -> None:
        """Forgets all answers; the tools have changed."""
        self._toolbox, self._answers = None, {}


def only_page(params: PaginatedRequestParams | None) -> None:
    """Refuses a cursor.

    Raises:
        MCPError: there is one.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "unknown cursor; the list has one page")
