"""Explains a search without results, and says what to change."""

from __future__ import annotations

from collections.abc import Sequence

from .query import SearchQuery
from .results import Hints, Reason, SuggestedAction

#: The most filters that are suggested to remove.
_MOST = 3


def explain_nothing(query: SearchQuery, asked: Sequence[str], usable: Sequence[str]) -> Hints:
    """Returns the hints of a search without results.

    Args:
        query: with the filters.
        asked: providers that were asked.
        usable: providers that are configured and healthy.
    """
    filters = query.filters
    actions = [SuggestedAction("remove_filter", filter=name) for name in list(filters)[:_MOST]]
    others = tuple(name for name in usable if name not in asked)
    if others:
        actions.append(SuggestedAction("try_different_provider", providers=others))
    reason: Reason = "filters_too_restrictive" if filters else "no_match"
    return Hints(reason, filters, tuple(actions))
