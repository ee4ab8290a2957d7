"""Lists the failures that a session has met again and again, with what may help."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .session import Failed, ResearchSession

#: Failures of a kind below which none is shown, and addresses that are named.
FEWEST: Final = 3
_ADDRESSES: Final = 10
_SUGGESTIONS: Final[Mapping[str, str]] = {
    "auth_required": "search with open_access, or read preprints (arXiv, bioRxiv, medRxiv)",
    "blocked": "read other sites on the subject, or the same work from a repository",
    "rate_limited": "wait a minute, ask for fewer results, or use another provider",
    "network": "try again later; several sites did not answer in time",
    "not_found": "search for the titles again; the addresses may have moved",
    "content_empty": "read PDFs or repository copies; these pages have no text for programs",
    "browser_unavailable": "read other pages; these need a browser",
    "upstream_unavailable": "use another provider, or try again later",
    "validation": "check the addresses and arguments before the next call",
    "config": "name a provider that is configured",
}


def repeated_failures(session: ResearchSession) -> list[dict[str, Any]]:
    """Returns the kinds of failures that happened three times or more, the most frequent first."""
    by_kind: dict[str, list[Failed]] = defaultdict(list)
    for failure in session.failures:
        by_kind[failure.kind].append(failure)
    often = [(kind, found) for kind, found in by_kind.items() if len(found) >= FEWEST]
    often.sort(key=lambda group: (-len(group[1]), group[0]))
    return [_pattern(kind, found) for kind, found in often]


def _pattern(kind: str, found: Sequence[Failed]) -> dict[str, Any]:
    addresses = dict.fromkeys(failure.url for failure in found if failure.url)
    return {
        "kind": kind,
        "count": len(found),
        "affected_urls": list(addresses)[:_ADDRESSES],
        "suggestion": _SUGGESTIONS.get(kind, "change the approach: this fails again and again"),
        "last_seen": found[-1].at,
    }
