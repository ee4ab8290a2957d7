"""Searches and lists a library as tools and commands show it: short references, in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .items import short

if TYPE_CHECKING:
    from .answers import Page
    from .library import Library

#: References of a part by default, and the orders.
LIMIT: Final = 20
SORTS: Final = ("created", "updated", "published", "author", "title")
SEARCH_SORTS: Final = ("relevance", *SORTS)
ORDERS: Final = ("asc", "desc")


def search_library(library: Library, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the references that match a query.

    Raises:
        LibraryError: the query cannot be read, or the library.
    """
    return page_json(
        library.search(
            arguments["query"],
            sort=arguments.get("sort", "relevance"),
            order=arguments.get("order", "desc"),
            limit=arguments.get("limit", LIMIT),
            offset=arguments.get("offset", 0),
        ),
        full=bool(arguments.get("full")),
    )


def list_library(library: Library, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the references of the library.

    Raises:
        LibraryError: the library cannot be read.
    """
    return page_json(
        library.list(
            sort=arguments.get("sort", "updated"),
            order=arguments.get("order", "desc"),
            limit=arguments.get("limit", LIMIT),
            offset=arguments.get("offset", 0),
            superseded=bool(arguments.get("superseded")),
        ),
        full=bool(arguments.get("full")),
    )


def page_json(page: Page, *, full: bool = False) -> dict[str, Any]:
    """Returns a page with what lists show of its references, or with all of them."""
    return {
        "total": page.total,
        "limit": page.limit,
        "offset": page.offset,
        "next_offset": page.next_offset,
        "items": list(page.items) if full else [short(item) for item in page.items],
    }
