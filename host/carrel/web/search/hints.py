"""Explains a search without results, and says what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .query import SearchQuery
from .results import Hints, Reason, SuggestedAction

#: The most filters that are suggested to remove, and providers to try.
_FILTERS, _PROVIDERS = 3, 5
_WARNING: Final = "that does not prove that there is nothing"


def explain_nothing(query: SearchQuery, asked: Sequence[str], usable: Sequence[str]) -> Hints:
    """Returns the hints of a search of the web without results.

    Args:
        query: with the filters.
        asked: providers that were asked.
        usable: providers that are configured and healthy.
    """
    others = [name for name in usable if name not in asked]
    place = f" by {asked[-1]}" if asked else ""
    return hints_of(query.filters, others, f"nothing was found{place}; {_WARNING}")


def hints_of(filters: Mapping[str, Any], others: Sequence[str], warning: str) -> Hints:
    """Returns the hints of any search without results.

    Args:
        filters: that may have left everything out, with their values.
        others: providers that are configured and healthy, and were not asked.
        warning: what the empty answer does not prove.
    """
    actions = [SuggestedAction("remove_filter", filter=name) for name in list(filters)[:_FILTERS]]
    if others:
        providers = tuple(others[:_PROVIDERS])
        actions.append(SuggestedAction("try_different_provider", providers=providers))
    if not actions:
        actions.append(SuggestedAction("broaden_query"))
    reason: Reason = "filters_too_restrictive" if filters else "no_match"
    return Hints(reason, dict(filters), tuple(actions), warning)
