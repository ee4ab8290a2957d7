"""Searches the web: checks the arguments, looks into the cache, asks the router."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from carrel.exchange import Call, Limits
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .ask import ProviderAnswer, wanted_hosts
from .cache import SearchCache
from .cleaning import clean_results
from .hints import explain_nothing
from .lenses import choose_lens, read_lenses
from .query import SearchQuery, read_query
from .results import Routing, Searcher, SearchResults
from .router import Router
from .schema import NAME

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

#: Seconds of a search, with the time for other providers if the first one fails.
WALL_SECONDS: Final = 40.0

_searchers: WeakKeyDictionary[PluginSet, WebSearcher] = WeakKeyDictionary()
_lock = threading.Lock()


def open_searcher(plugins: PluginSet, config: Config) -> Searcher | None:
    """Returns the searcher of a configuration; None if it names no provider (`web.search`).

    The tools of one plugin set share it, with its cache and its circuit breakers.

    Raises:
        ConfigError: a lens of the operator's cannot be read.
    """
    if not config.web.search:
        return None
    with _lock:
        found = _searchers.get(plugins)
        if found is None:
            found = _searchers[plugins] = WebSearcher(plugins, config)
        return found


class WebSearcher:
    """Searches with the providers of a configuration; see `Searcher`.

    Args:
        plugins: of the configuration.
        config: the operator's.
        clock: seconds, monotonic.
        jitter: random numbers from 0 to 1, for the circuit breakers.

    Attributes:
        limits: of a call.

    Raises:
        ConfigError: a lens of the operator's cannot be read.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._lenses = read_lenses(config.web.lens_folder)
        self._router = Router(plugins, config, clock=clock, jitter=jitter)
        self._cache: SearchCache[tuple[ProviderAnswer, Routing]] = SearchCache(clock)
        self.limits: Limits = host_limits(config, WALL_SECONDS)

    def providers(self) -> list[str]:
        """See `Searcher`."""
        return self._router.usable()

    def lenses(self) -> dict[str, str]:
        """Returns the lenses by name, with what they are for."""
        return {name: lens.about for name, lens in sorted(self._lenses.items())}

    def search(self, query: str, *, call: Call | None = None, **arguments: Any) -> SearchResults:
        """See `Searcher`."""
        started = self._clock()
        parsed = read_query({"query": query, **arguments})
        provider, lens_name = parsed.get("provider"), parsed.get("lens")
        if provider is not None:
            self._router.require_known(provider)
        lens = None if lens_name is None else choose_lens(self._lenses, lens_name)
        whole = call or Call(HOST, NAME, self.limits)
        (found, routing), age = self._cache.get_or_make(
            parsed.key, lambda: self._router.run(parsed, lens, whole), whole
        )
        routing = replace(routing, latency=self._clock() - started)
        hosts = [] if found.order.engine else wanted_hosts(parsed, lens)
        results = clean_results(
            found.results,
            count=parsed.count,
            hosts=hosts,
            excluded=parsed.get("exclude_terms"),
            claim=parsed.get("claim"),
        )
        hints = None
        if not results:
            hints = explain_nothing(parsed, routing.attempted, self._router.usable())
        return SearchResults(
            parsed.text,
            results,
            routing,
            hints,
            parsed.requested,
            cached=age is not None,
            age=age or 0.0,
        )


__all__ = ["SearchQuery", "WebSearcher", "open_searcher"]
