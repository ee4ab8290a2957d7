"""The tools that read the library: library_search, library_list and library_show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.library.pages import (
    LIMIT,
    ORDERS,
    SEARCH_SORTS,
    SORTS,
    list_library,
    search_library,
)

from .library_tool import ID, PAGE, LibraryTool, Schema, library_spec

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.library.shared import SharedLibrary

#: Characters of the longest query.
_QUERY: Final = 2000

_SEARCH: Final = """\
WHEN TO USE: Find references in the user's own library.
INPUTS: query: words, all of which must match; "phrases"; author: title: year: doi: pmid: isbn: \
keyword: tag: type: id: in front of a word. sort, order, limit (0: all), offset.
OUTPUTS: total, items, next_offset.
COSTS: No request.
SIDE EFFECTS: None.
LIMITS: Items are short unless full."""
_LIST: Final = """\
WHEN TO USE: List the user's own library.
INPUTS: sort, order, limit (0: all), offset; superseded: also what was replaced.
OUTPUTS: total, items, next_offset.
COSTS: No request.
SIDE EFFECTS: None.
LIMITS: Items are short unless full."""
_SHOW: Final = """\
WHEN TO USE: Get everything the library has about a reference.
INPUTS: id.
OUTPUTS: item: CSL-JSON; custom: tags, attachments, last check.
COSTS: No request.
SIDE EFFECTS: None.
LIMITS: One reference."""


def make_reading_tools(shared: SharedLibrary) -> list[LibraryTool]:
    """Returns the tools."""

    def search(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return search_library(shared(), arguments)

    def listed(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return list_library(shared(), arguments)

    def show(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return {"item": shared().get(arguments["id"])}

    item: Schema = {
        "type": "object",
        "required": ["item"],
        "additionalProperties": False,
        "properties": {"item": {"type": "object"}},
    }
    paging = _paging(SORTS, "updated")
    query: Schema = {"query": {"type": "string", "minLength": 1, "maxLength": _QUERY}}
    return [
        LibraryTool(
            library_spec(
                "library_search",
                "Search the library",
                _SEARCH,
                {**query, **_paging(SEARCH_SORTS, "relevance")},
                PAGE,
                required=["query"],
            ),
            search,
            shared,
        ),
        LibraryTool(
            library_spec(
                "library_list",
                "List the library",
                _LIST,
                {**paging, "superseded": {"type": "boolean", "default": False}},
                PAGE,
            ),
            listed,
            shared,
        ),
        LibraryTool(
            library_spec(
                "library_show", "Show a reference", _SHOW, {"id": ID}, item, required=["id"]
            ),
            show,
            shared,
        ),
    ]


def _paging(sorts: tuple[str, ...], default: str) -> Schema:
    return {
        "sort": {"enum": list(sorts), "default": default},
        "order": {"enum": list(ORDERS), "default": "desc"},
        "limit": {"type": "integer", "minimum": 0, "default": LIMIT},
        "offset": {"type": "integer", "minimum": 0, "default": 0},
        "full": {"description": "CSL-JSON items.", "type": "boolean", "default": False},
    }
