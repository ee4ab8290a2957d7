"""Explains a search without results, and says what to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .query import SearchQuery
from .results import Hints, Reason, SuggestedAction

#: The most filters that are suggested to remove, and providers to try.
_FILTERS, _PROVIDERS = 3, 5
_WARNING: Final = "that does not prove that there is nothing"


def explain_nothing(query: SearchQuery, attempted: Sequence[str], usable: Sequence[str]) -> Hints:
    """Returns the hints of a search of the web without results.

    Args:
        query: with the filters.
        attempted: providers that were asked.
        usable: providers that are configured and healthy.
    """
    alternatives = [name for name in usable if name not in attempted]
    suffix = f" by {attempted[-1]}" if attempted else ""
    return hints_of(query.filters, alternatives, f"nothing was found{suffix}; {_WARNING}")


def hints_of(filters: Mapping[str, Any], alternatives: Sequence[str], warning: str) -> Hints:
    """Returns the hints of any search without results.

    Args:
        filters: that may have left everything out, with their values.
        alternatives: providers that are configured and healthy, and were not asked.
        warning: what the empty answer does not prove.
    """
    actions = [SuggestedAction("remove_filter", filter=name) for name in list(filters)[:_FILTERS]]
    if alternatives:
        providers = tuple(alternatives[:_PROVIDERS])
        actions.append(SuggestedAction("try_different_provider", providers=providers))
    if not actions:
        actions.append(SuggestedAction("broaden_query"))
    reason: Reason = "filters_too_restrictive" if filters else "no_match"
    return Hints(reason, dict(filters), tuple(actions), warning)
