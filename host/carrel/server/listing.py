"""Caches responses to `tools/list` and refuses cursors, because lists have one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

from .frames import raw_json

if TYPE_CHECKING:
    from carrel.tools import Toolbox


class ToolLists:
    """The cached responses to `tools/list` of the current toolbox, one for each revision.

    Args:
        raw: whether the transport can write JSON text unchanged.
    """

    def __init__(self, *, raw: bool = True) -> None:
        self._raw = raw
        self._toolbox: Toolbox | None = None
        self._answers: dict[str, dict[str, Any]] = {}

    def find(self, toolbox: Toolbox, revision: str) -> dict[str, Any] | None:
        """Returns the cached response of this toolbox for a revision, or None."""
        return self._answers.get(revision) if toolbox is self._toolbox else None

    def keep(self, toolbox: Toolbox, revision: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Caches a response, with its tools as JSON text if possible; returns that."""
        if toolbox is not self._toolbox:
            self._toolbox, self._answers = toolbox, {}
        kept = {**answer, "tools": raw_json(answer["tools"])} if self._raw else answer
        self._answers[revision] = kept
        return kept

    def forget(self) -> None:
        """Clears the cache, because the tools have changed."""
        self._toolbox, self._answers = None, {}


def only_page(params: PaginatedRequestParams | None) -> None:
    """Refuses a cursor.

    Raises:
        MCPError: there is one.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "unknown cursor; the list has one page")
