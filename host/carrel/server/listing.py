"""What listings have in common: one page, and answers that are made once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

from .frames import raw_json

if TYPE_CHECKING:
    from carrel.tools import Toolbox


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
