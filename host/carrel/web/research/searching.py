"""Searches the web for the tools of research: the seam to `carrel.web.search`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.web.search import Searcher

#: The longest query, see the input schema of `web_search`.
_QUERY: Final = 500


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page that a search found.

    Attributes:
        published: a date that the provider states; None if it states none.
    """

    url: str
    title: str
    snippet: str = ""
    published: str | None = None


@dataclass(frozen=True, slots=True)
class FoundPages:
    """The pages that a search found.

    Attributes:
        pages: each address once, the best first.
        provider: that answered.
        hints: what may help when nothing was found.
        meta: how the search was routed.
    """

    pages: Sequence[FoundPage]
    provider: str = ""
    hints: Mapping[str, Any] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class WebSearch(Protocol):
    """Searches the web with the configured providers."""

    def providers(self) -> Sequence[str]:
        """Returns the names of the providers that are ready."""
        ...

    def search(
        self,
        query: str,
        call: Call,
        *,
        limit: int,
        provider: str | None = None,
        sites: Sequence[str] = (),
    ) -> FoundPages:
        """Searches, and waits for the answer.

        Args:
            query: words.
            call: its deadline and its cancellation.
            limit: of the pages.
            provider: the only one to ask; None for the configured order.
            sites: the only sites; none for the whole web.

        Raises:
            CarrelError: no provider answered.
        """
        ...


class ProviderSearch:
    """Searches as `web_search` does, with the same providers, cache and circuit breakers."""

    def __init__(self, searcher: Searcher) -> None:
        self._searcher = searcher

    def providers(self) -> Sequence[str]:
        """See `WebSearch.providers`."""
        return self._searcher.providers()

    def search(
        self,
        query: str,
        call: Call,
        *,
        limit: int,
        provider: str | None = None,
        sites: Sequence[str] = (),
    ) -> FoundPages:
        """See `WebSearch.search`."""
        arguments: dict[str, Any] = {"num_results": limit}
        if provider is not None:
            arguments["provider"] = provider
        if len(sites) == 1:
            arguments["site"] = sites[0]
        elif sites:
            query = _on_sites(query, sites)
        found = self._searcher.search(query[:_QUERY], call=call, **arguments)
        pages = [
            FoundPage(result.url, printable(result.title, 300), result.snippet, result.published)
            for result in found.results
        ]
        hints = found.hints.to_json() if found.hints is not None else None
        return FoundPages(pages, found.routing.provider, hints, found.meta())


def _on_sites(query: str, sites: Sequence[str]) -> str:
    """Returns a query for pages of these sites; as many of them as the query has room for."""
    chosen = f"site:{sites[0]}"
    for site in sites[1:]:
        if len(query) + len(chosen) + len(site) + 12 > _QUERY:
            break
        chosen += f" OR site:{site}"
    return f"{query} ({chosen})"
