"""Caches responses to `tools/list` and refuses cursors, because lists have one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams

from .frames import raw_json

if TYPE_CHECKING:
    from carrel.tools import Toolbox


#: Toolboxes whose lists are cached: there is one for each principal.
_MAX_TOOLBOXES: Final = 32


class ToolLists:
    """The cached responses to `tools/list` of the toolboxes in use, one for each revision.

    Args:
        raw: whether the transport can write JSON text unchanged.
    """

    def __init__(self, *, raw: bool = True) -> None:
        self._raw = raw
        #: By identity; the toolbox is kept, so that no other has its identity meanwhile.
        self._answers: dict[int, tuple[Toolbox, dict[str, dict[str, Any]]]] = {}

    def find(self, toolbox: Toolbox, revision: str) -> dict[str, Any] | None:
        """Returns the cached response of this toolbox for a revision, or None."""
        cached = self._answers.get(id(toolbox))
        return None if cached is None else cached[1].get(revision)

    def keep(self, toolbox: Toolbox, revision: str, answer: dict[str, Any]) -> dict[str, Any]:
        """Caches a response, with its tools as JSON text if possible; returns that."""
        if id(toolbox) not in self._answers and len(self._answers) >= _MAX_TOOLBOXES:
            self._answers.clear()
        cached = {**answer, "tools": raw_json(answer["tools"])} if self._raw else answer
        self._answers.setdefault(id(toolbox), (toolbox, {}))[1][revision] = cached
        return cached

    def forget(self) -> None:
        """Clears the cache, because the tools have changed."""
        self._answers.clear()


def only_page(params: PaginatedRequestParams | None) -> None:
    """Refuses a cursor.

    Raises:
        MCPError: there is one.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "unknown cursor; the list has one page")
