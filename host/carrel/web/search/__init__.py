"""Searches the web with one of several providers, each of which is a plugin.

In the order of a search: `arguments` checks and clamps what was asked, `cache` returns an earlier
answer, `router` chooses the provider (`providers` lists them, `circuit` leaves out failing ones,
`lenses` restricts the hosts), `ask` calls its plugin, `cleaning` makes results of what came,
`reputation` and `claim` add what is known about them, and `hints` explains an empty answer.
`results` defines the answer. `tool` implements the tool `web_search`, `command` the command
`carrel web search`.

How to use it: `docs/how-to/search-the-web.md`; why it is so: decision 0060.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .results import Hints, Reputation, Routing, Searcher, SearchResults, WebResult
    from .search import open_searcher

__all__ = [
    "Hints",
    "Reputation",
    "Routing",
    "SearchResults",
    "Searcher",
    "WebResult",
    "open_searcher",
]

__getattr__ = lazy_names(
    __name__,
    {
        "Hints": "results",
        "Reputation": "results",
        "Routing": "results",
        "WebResult": "results",
        "SearchResults": "results",
        "Searcher": "results",
        "open_searcher": "search",
    },
)
