"""Defines what a search found: results, hints, the route of the request, and its age."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from carrel.web.answers import TRUST

if TYPE_CHECKING:
    from carrel.exchange import Call

#: Seconds for which an answer is cached.
FRESH_SECONDS: Final = 1800

Tier = Literal["high", "mixed", "low"]
Action = Literal["remove_filter", "try_different_provider", "broaden_query"]
Reason = Literal["no_match", "filters_too_restrictive"]


@dataclass(frozen=True, slots=True)
class Reputation:
    """The reputation of a host.

    Attributes:
        tier: how reliable its texts are, by the source of the statement.
        basis: why, in a sentence.
        source: URL of the statement that the basis summarises.
    """

    tier: Tier
    basis: str
    source: str

    def to_json(self) -> dict[str, str]:
        """Returns the member `source_reputation`."""
        return {"tier": self.tier, "basis": self.basis, "source": self.source}


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page that a provider found.

    Attributes:
        title: cleaned text; the host if the provider gave none.
        url: http or https, in one spelling, without tracking parameters.
        snippet: cleaned text; may be empty.
        display_link: the host for a person to judge; in punycode if its scripts are mixed.
        published: date or time, as ISO 8601; None if the provider gave none.
        source: name of the site or engine, by the provider.
        reputation: None for a host that the data set does not list.
        claim_signal: sentence of the snippet that is closest to the claim; empty if none is; None
            without a claim.
    """

    title: str
    url: str
    snippet: str
    display_link: str
    published: str | None = None
    source: str | None = None
    reputation: Reputation | None = None
    claim_signal: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the result as the tool's output schema describes it."""
        members: dict[str, Any] = {
            "title": self.title,
            "url": self.url,
            "snippet": self.snippet,
            "display_link": self.display_link,
        }
        if self.published is not None:
            members["published"] = self.published
        if self.source is not None:
            members["source"] = self.source
        if self.reputation is not None:
            members["source_reputation"] = self.reputation.to_json()
        if self.claim_signal is not None:
            members["claim_signal"] = self.claim_signal
        return members


@dataclass(frozen=True, slots=True)
class SuggestedAction:
    """A change that may help a search without results.

    Attributes:
        action: `broaden_query` where neither of the others can help.
        filter: the filter to leave out.
        providers: providers that are configured and healthy, and were not asked.
    """

    action: Action
    filter: str | None = None
    providers: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns an item of `suggested_actions`."""
        members: dict[str, Any] = {"action": self.action}
        if self.filter is not None:
            members["filter"] = self.filter
        if self.providers:
            members["providers"] = list(self.providers)
        return members


@dataclass(frozen=True, slots=True)
class Hints:
    """Why a search found nothing, and what to change.

    Attributes:
        reason: whether filters may have left everything out.
        filters: the filters that were applied, with their values.
        actions: what to change, the first one first.
        warning: what the empty answer does not prove.
    """

    reason: Reason
    filters: Mapping[str, Any]
    actions: tuple[SuggestedAction, ...]
    warning: str

    def to_json(self) -> dict[str, Any]:
        """Returns the member `hints`."""
        return {
            "reason": self.reason,
            "filters_applied": dict(self.filters),
            "suggested_actions": [action.to_json() for action in self.actions],
            "epistemic_warning": self.warning,
        }


@dataclass(frozen=True, slots=True)
class Routing:
    """Which provider answered.

    Attributes:
        provider: that answered.
        attempted: all providers that were asked, in order, this one included.
        fallback_reason: why it was not the first one: `circuit_open` or `primary_unavailable`;
            None if it was.
        latency: seconds from the call to the answer.
        unapplied: filters that the provider could not apply.
        lens_hosts: hosts of the lens that the request named; None without a lens.
    """

    provider: str
    attempted: tuple[str, ...]
    fallback_reason: str | None = None
    latency: float = 0.0
    unapplied: tuple[str, ...] = ()
    lens_hosts: int | None = None


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The results of a search.

    Attributes:
        query: as it was given, cleaned.
        results: without duplicates, the most relevant first.
        routing: which provider answered.
        hints: only if nothing was found.
        requested: the `num_results` that was given, if it was outside 1 to 10.
        cached: whether an earlier search was answered so.
        age: seconds since the provider answered.
    """

    query: str
    results: tuple[WebResult, ...]
    routing: Routing
    hints: Hints | None = None
    requested: int | None = None
    cached: bool = False
    age: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Returns the result of the tool `web_search`."""
        payload: dict[str, Any] = {
            "urls": [result.url for result in self.results],
            "query": self.query,
            "result_count": len(self.results),
            "results": [result.to_json() for result in self.results],
            "trust": TRUST,
        }
        if self.requested is not None:
            payload["requested_num_results"] = self.requested
        if self.hints is not None:
            payload["hints"] = self.hints.to_json()
        return payload

    def meta(self) -> dict[str, Any]:
        """Returns the members of `_meta`: routing and freshness."""
        routing = self.routing
        meta: dict[str, Any] = {
            "provider_used": routing.provider,
            "providers_attempted": list(routing.attempted),
            "fallback": routing.fallback_reason is not None,
            "cache_hit": self.cached,
            "latency_ms": round(routing.latency * 1000),
            "cached": self.cached,
            "age_seconds": int(self.age),
            "max_age_seconds": FRESH_SECONDS,
            "freshness": "cached" if self.cached else "fresh",
        }
        if routing.fallback_reason is not None:
            meta["fallback_reason"] = routing.fallback_reason
        if routing.unapplied:
            meta["filters_not_applied"] = list(routing.unapplied)
        if routing.lens_hosts is not None:
            meta["lens_hosts"] = routing.lens_hosts
        return meta


class Searcher(Protocol):
    """Searches the web; `open_searcher` returns one. Thread-safe."""

    def search(self, query: str, *, call: Call | None = None, **arguments: Any) -> SearchResults:
        """Searches, or returns the cached answer to the same search.

        Args:
            query: 1 to 500 characters.
            call: its deadline, its cancellation, its progress; a new one if None.
            arguments: the other arguments of the tool `web_search`, by name.

        Raises:
            ArgumentError: an argument is not what the tool's input schema describes, contradicts
                another, or names an unknown provider or lens.
            SourceError: no provider answered. Its member `attempts` has the reason of each.
            CarrelError: the call was cancelled, or its deadline passed.
        """
        ...

    def providers(self) -> list[str]:
        """Returns the names of the providers that can be asked now, the preferred one first."""
        ...
