"""Searches papers: one provider if it is named, else all scholarly sources, else the web."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import ArgumentError, CarrelError, SourceError
from carrel.papers.errors import PaperError
from carrel.papers.resolve.open_copies import collect, find_open_copies
from carrel.papers.search import PaperSearch, SearchRequest, SearchResult
from carrel.papers.search.tool import no_answer
from carrel.plugins.roles import role_sources
from carrel.web.answers import TRUST
from carrel.web.research.hosts import ACADEMIC_SITES
from carrel.web.research.searching import FoundPages
from carrel.web.research.side_by_side import side_by_side
from carrel.web.search.hints import hints_of

from .doubtful import mark_doubtful
from .paper import found_page, paper_of, with_copies
from .providers import PLUGINS, WITHOUT_PLUGIN, is_of, plugins_of, site_of
from .request import MAX_PAPERS, AcademicRequest

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.reading import PaperReader
    from carrel.papers.search import FoundWork
    from carrel.plugins.plugin_set import PluginSet
    from carrel.web.research.searching import WebSearch

#: Seconds that a result is returned again, and results that are kept.
FRESH_SECONDS: Final = 3600.0
_KEPT: Final = 200
#: Works that are asked for where a filter of the host leaves some out.
_FILTERED: Final = 50
#: Copies that are looked for at the same time, texts likewise, and characters of one text.
_AT_ONCE: Final = 5
_TEXTS_AT_ONCE: Final = 3
_TEXT_LENGTH: Final = 50_000
#: The version of what is kept; a change of its shape changes it.
_VERSION: Final = 1


class AcademicSearch:
    """Searches papers. Thread-safe.

    Args:
        plugins: of the configuration.
        config: the operator's.
        web: searches the web where no scholarly source answers; None without providers.
        reader: reads the text of papers in PubMed Central; None without one.
        clock: returns seconds that only grow.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        web: WebSearch | None = None,
        reader: Callable[[], PaperReader] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plugins = plugins
        self._config = config
        self._web = web
        self._reader = reader
        self._clock = clock
        self._search = PaperSearch(plugins, config)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, AcademicRequest], tuple[float, dict[str, Any]]] = (
            OrderedDict()
        )

    def run(self, request: AcademicRequest, call: Call) -> tuple[dict[str, Any], float | None]:
        """Returns the papers as JSON, and the age in seconds of a cached result.

        Raises:
            ArgumentError: an unknown provider, or years in the wrong order.
            CarrelError: no source answered.
            Cancelled: the call was cancelled.
        """
        key = _VERSION, request
        with self._lock:
            cached = self._kept.get(key)
        if cached is not None and not call.refresh:
            age = self._clock() - cached[0]
            if age < FRESH_SECONDS:
                return cached[1], age
        payload, complete = self._answered(request, call)
        if complete:
            with self._lock:
                self._kept[key] = self._clock(), payload
                self._kept.move_to_end(key)
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        return payload, None

    def providers(self) -> list[str]:
        """Returns the names of the providers that are ready."""
        sources, _ = role_sources(self._plugins, self._config, "search")
        ready = {source.name for source in sources} | {source.namespace for source in sources}
        named = [name for name, plugin in PLUGINS.items() if plugin in ready]
        return [*named, *(self._web.providers() if self._web is not None else ())]

    def _answered(self, request: AcademicRequest, call: Call) -> tuple[dict[str, Any], bool]:
        """Returns the result, and whether every source that was asked has answered."""
        first, last = request.year_from, request.year_to
        if first is not None and last is not None and first > last:
            raise ArgumentError([f"year_from: {first} is after year_to, {last}"])
        if request.provider is not None:
            return self._by_provider(request, request.provider, call)
        try:
            return self._by_scholars(request, plugins_of(request.source), "router", call)
        except PaperError:
            if self._web is None:
                raise
            call.check()
        return self._by_web(request, None, call)

    def _by_provider(
        self, request: AcademicRequest, provider: str, call: Call
    ) -> tuple[dict[str, Any], bool]:
        """Asks the one provider and no other: its failure is the answer."""
        ready = self.providers()
        if provider in ready and provider in PLUGINS:
            return self._by_scholars(request, (PLUGINS[provider],), provider, call)
        if provider in ready:
            return self._by_web(request, provider, call)
        known = sorted({*PLUGINS, *WITHOUT_PLUGIN, *ready})
        extra = {"alternatives": ready, "kind": "config"}
        if provider not in known:
            raise SourceError(
                "invalid_arguments",
                f"provider: {provider!r} is unknown; known: {', '.join(known)}",
                plugin="",
                tool="academic_search",
                extra=extra,
            )
        raise SourceError(
            "denied",
            f"provider: {provider} is not configured; ready: {', '.join(ready) or 'none'}",
            plugin=provider,
            tool="academic_search",
            extra=extra,
        )

    def _by_scholars(
        self,
        request: AcademicRequest,
        plugins: tuple[str, ...] | None,
        source: str,
        call: Call,
    ) -> tuple[dict[str, Any], bool]:
        host_filters = plugins is None and request.source != "all"
        wide = host_filters or request.pdf_only or request.sort_by == "date"
        search_request = SearchRequest(
            query=request.query,
            limit=_FILTERED if wide else MAX_PAPERS,
            year_from=request.year_from,
            year_to=request.year_to,
            open_access=request.open_access,
            sources=plugins,
        )
        try:
            result = self._search.run(search_request, call)
        except ArgumentError:
            if plugins is None:
                raise
            names = ", ".join(plugins)
            raise PaperError("CAPABILITY_DENIED", f"{names}: no plugin that is on") from None
        if not result.has_answer:
            raise no_answer(result)
        works = [work for work in result.works if is_of(request.source, work.merged.work)]
        if request.sort_by == "date":
            works.sort(key=lambda work: work.merged.work.issued or "", reverse=True)
        papers = self._papers(request, works, call)
        complete = all(outcome.outcome in _SETTLED for outcome in result.sources)
        totals = [outcome.total for outcome in result.sources if outcome.total is not None]
        total = max([len(result.works), *totals])
        return self._to_json(request, papers, source, total, result), complete

    def _papers(
        self, request: AcademicRequest, works: Sequence[FoundWork], call: Call
    ) -> list[dict[str, Any]]:
        """Describes works, looks for open copies before it filters by them, and marks doubts."""
        if not request.pdf_only:
            works = works[: request.num_results]
        papers = [
            with_copies(paper_of(work), collect(work.merged.records).copies) for work in works
        ]
        missing = [
            index
            for index, paper in enumerate(papers)
            if "pdf_url" not in paper and works[index].merged.work.ids.doi is not None
        ][: MAX_PAPERS * 2]
        found = side_by_side(
            missing,
            lambda index, part: find_open_copies(
                self._plugins, self._config, works[index].merged, part
            ),
            call,
            most=_AT_ONCE,
            seconds=15.0,
        )
        for index, copies in zip(missing, found, strict=True):
            if not isinstance(copies, CarrelError):  # a search never fails for want of a copy
                papers[index] = with_copies(papers[index], copies.copies)
        selected = [
            (paper, work)
            for paper, work in zip(papers, works, strict=True)
            if not request.pdf_only or "pdf_url" in paper
        ][: request.num_results]
        if request.full_text:
            self._add_texts(selected, call)
        results = [paper for paper, _ in selected]
        mark_doubtful(results)
        return results

    def _add_texts(self, papers: Sequence[tuple[dict[str, Any], FoundWork]], call: Call) -> None:
        """Adds the text of papers in PubMed Central; one that cannot be read has none."""
        if self._reader is None:
            return
        reader = self._reader()
        targets = [
            (paper, pmcid) for paper, work in papers if (pmcid := work.merged.work.ids.pmcid)
        ]
        texts = side_by_side(
            targets,
            lambda target, part: reader.read(target[1], part, form="jats").text,
            call,
            most=_TEXTS_AT_ONCE,
            seconds=30.0,
        )
        for (paper, _), text in zip(targets, texts, strict=True):
            if isinstance(text, str):
                paper["full_text"] = text[:_TEXT_LENGTH]

    def _by_web(
        self, request: AcademicRequest, provider: str | None, call: Call
    ) -> tuple[dict[str, Any], bool]:
        assert self._web is not None, "the caller has checked"
        site = site_of(request.source)
        sites = (site,) if site is not None else ACADEMIC_SITES
        found = self._web.search(
            request.query, call, limit=request.num_results, provider=provider, sites=sites
        )
        papers = [found_page(page) for page in found.pages[: request.num_results]]
        for paper in papers:
            if paper["url"].lower().partition("?")[0].endswith(".pdf"):
                paper["pdf_url"] = paper["url"]
        if request.pdf_only:
            papers = [paper for paper in papers if "pdf_url" in paper]
        mark_doubtful(papers)
        return self._to_json(request, papers, "web_search", len(found.pages), found), True

    def _to_json(
        self,
        request: AcademicRequest,
        papers: list[dict[str, Any]],
        source: str,
        total: int,
        result: SearchResult | FoundPages,
    ) -> dict[str, Any]:
        payload: dict[str, Any] = {
            "query": request.query,
            "total_results": total,
            "result_count": len(papers),
            "source": source,
            "papers": papers,
            "trust": TRUST,
        }
        if not papers:
            payload["hints"] = self._hints(request, result)
        return payload

    def _hints(self, request: AcademicRequest, result: SearchResult | FoundPages) -> dict[str, Any]:
        """Returns why nothing was found, and what may help."""
        filters = {name: value for name, value in request.filters().items() if name != "provider"}
        alternatives = []
        if request.provider is not None:
            alternatives = [name for name in self.providers() if name != request.provider]
        silent = [
            f"{outcome.source} ({outcome.outcome})"
            for outcome in (result.sources if isinstance(result, SearchResult) else ())
            if outcome.outcome not in _SETTLED
        ]
        warning = (
            f"nothing found does not mean that there is nothing: no answer from {', '.join(silent)}"
            if silent
            else "nothing found in these sources; that does not prove that there is nothing"
        )
        return hints_of(filters, alternatives, warning).to_json()


#: Outcomes of a source after which the same search would return the same.
_SETTLED: Final = frozenset({"found", "empty", "not_configured", "not_chosen"})
