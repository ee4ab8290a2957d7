"""Asks one provider: makes the arguments of its tool, calls it, and says how that ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError, SourceError
from carrel.plugins.compiling.compile_news import COMPILING

from .lenses import Lens
from .providers import TOOL, Abilities, Provider
from .query import SearchQuery
from .schema import DEFAULT_SAFE

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

#: Seconds for one provider, so that there is time for the next.
PROVIDER_SECONDS: Final = 12.0
#: Results to ask for: duplicates and strange hosts are left out afterwards.
_WANTED: Final = 10
_DAYS: Final = {"day": 1, "week": 7, "month": 31, "year": 366}
#: Filters that are passed on as they are.
_PASSED: Final = ("time_range", "language", "country", "exact_terms", "exclude_terms")


@dataclass(frozen=True, slots=True)
class Order:
    """A request to a provider.

    Attributes:
        arguments: of its tool.
        unapplied: filters that it does not take.
        sites: hosts that the request names, of all that are wanted.
        engine: whether it is a search engine of its own for the lens, so that no host is named.
    """

    arguments: dict[str, Any]
    unapplied: tuple[str, ...]
    sites: int = 0
    engine: bool = False


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """A provider's answer.

    Attributes:
        results: as its plugin returned them.
        unapplied: filters that were not applied.
        order: what it was asked.
    """

    results: tuple[dict[str, Any], ...]
    unapplied: tuple[str, ...]
    order: Order


def make_order(query: SearchQuery, lens: Lens | None, abilities: Abilities) -> Order:
    """Returns what to ask a provider with these abilities."""
    count = min(max(query.count, _WANTED), abilities.count)
    arguments: dict[str, Any] = {"query": query.text, "count": count}
    unapplied = []
    for name in _PASSED:
        value = query.get(name)
        if value is None:
            continue
        if name in abilities.filters:
            arguments[name] = value
        elif name == "time_range" and "since" in abilities.filters:
            since = datetime.now(tz=UTC) - timedelta(days=_DAYS[value])
            arguments["since"] = since.date().isoformat()
        else:
            unapplied.append(name)
    safe = query.get("safe") or DEFAULT_SAFE
    if "safe" in abilities.filters:
        arguments["safe"] = safe
    elif safe != DEFAULT_SAFE:
        unapplied.append("safe")
    if lens is not None and lens.engine is not None and "engine" in abilities.filters:
        return Order({**arguments, "engine": lens.engine}, tuple(unapplied), engine=True)
    sites = _sites(query, lens)[: abilities.sites]
    if sites:
        arguments["sites"] = sites
    return Order(arguments, tuple(unapplied), len(sites))


def wanted_hosts(query: SearchQuery, lens: Lens | None) -> list[str]:
    """Returns the hosts that results must be of, with those below; empty if any may be."""
    return _sites(query, lens)


def _sites(query: SearchQuery, lens: Lens | None) -> list[str]:
    site = query.get("site")
    return [site] if site is not None else list(lens.hosts) if lens is not None else []


def ask(plugins: PluginSet, provider: Provider, order: Order, whole: Call) -> ProviderAnswer:
    """Calls a provider's tool.

    Args:
        plugins: of the configuration.
        provider: whom to ask.
        order: what.
        whole: the search: its deadline, its cancellation, its progress.

    Raises:
        CarrelError: the provider's error, or the plugin's.
    """

    def report_progress(words: str) -> None:
        whole.explain(f"{provider.name}: {words}")

    plugin = plugins.plugin(provider.name, on_compile=lambda: report_progress(COMPILING))
    call = plugin.new_call(TOOL, lambda _done, _total, words: report_progress(words))
    call.deadline = min(call.deadline, whole.deadline, _soon(whole))
    call.refresh = whole.refresh
    report_progress("searching")
    running = plugin.start_call(TOOL, order.arguments, call)
    forget = whole.on_cancel(call.cancel)
    try:
        data = running.result().data
    finally:
        forget()
    unapplied = dict.fromkeys((*order.unapplied, *data.get("unapplied", ())))
    return ProviderAnswer(tuple(data["results"]), tuple(unapplied), order)


def _soon(whole: Call) -> float:
    return whole.deadline - whole.remaining + min(PROVIDER_SECONDS, whole.remaining)


def kind_of(error: CarrelError) -> str:
    """Returns the kind of a provider's failure.

    One of `auth`, `payment`, `rate_limited`, `blocked`, `validation`, `config` (the operator's
    policy), `unavailable`.
    """
    code = error.error_code
    if code == "rate_limited":
        return "payment" if error.action == "ask_operator" else "rate_limited"
    if code == "upstream_error" and isinstance(error, SourceError):
        by_action = {"ask_operator": "auth", "retry_later": "blocked"}
        return by_action.get(error.action, "validation")
    if code in {"invalid_arguments", "not_found"}:
        return "validation"
    if code in {"denied", "config", "plugin_unavailable", "unknown_tool"}:
        return "config"
    return "unavailable"
