"""Runs a search: asks every source concurrently under one deadline, filters, merges and ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from carrel.errors import ArgumentError, CarrelError
from carrel.exchange import Call
from carrel.plugins.concurrent_calls import Answer, Question, ask_all, require_patience
from carrel.plugins.roles import RoleSource, all_role_sources, choose, read_search
from carrel.records import Work, group
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .rank import rank_key
from .request import MAX_LIMIT, SearchRequest, is_open
from .result import FoundWork, Outcome, SearchResult, SourceOutcome

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import MergedWork

#: The tool's name; the name of a search's call in errors.
NAME: Final = "paper_search"
ROLE: Final = "search"
#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise. A source that
#: has not answered by then is named, and the others' works are returned.
WALL_SECONDS: Final = 30.0
#: A query of more words than this finds little in sources that require all of them.
_LONG_QUERY: Final = 8


class PaperSearch:
    """Searches works in every plugin with the role `search`. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a new call; its deadline starts now."""
        return Call(HOST, NAME, host_limits(self._config, WALL_SECONDS), on_progress)

    def run(self, request: SearchRequest, call: Call) -> SearchResult:
        """Searches, and waits for the answers.

        Raises:
            ArgumentError: an empty query, a limit out of range, years in the wrong order, or a
                source that searches nothing.
            Cancelled: the call was cancelled.
        """
        _require_sound(request)
        sources, notices = all_role_sources(self._plugins, self._config, ROLE)
        chosen = sources if request.sources is None else _chosen(sources, request.sources)
        ready = [source for source in chosen if source.remedy is None]
        questions = [
            Question(source.name, source.spec.tool, request.arguments(source.spec))
            for source in ready
        ]
        answers = ask_all(self._plugins, questions, call)
        require_patience(call)
        works: dict[str, tuple[Work, ...]] = {}
        outcomes: dict[str, SourceOutcome] = {}
        for source, answer in zip(ready, answers, strict=True):
            outcomes[source.name], works[source.name] = _read(source, answer, request)
        outcomes |= {
            source.name: SourceOutcome(source.name, "not_configured", message=source.remedy)
            for source in chosen
            if source.remedy is not None
        }
        found = _ranked(works, request)
        all_outcomes = tuple(
            outcomes.get(source.name, SourceOutcome(source.name, "not_chosen"))
            for source in sources
        )
        return SearchResult(
            tuple(found), all_outcomes, _hints(found, all_outcomes, request), tuple(notices)
        )


def _require_sound(request: SearchRequest) -> None:
    faults = []
    if not request.query.strip():
        faults.append("query: expected words but found none")
    if not 1 <= request.limit <= MAX_LIMIT:
        faults.append(f"limit: expected 1 to {MAX_LIMIT} but found {request.limit}")
    first, last = request.year_from, request.year_to
    if first is not None and last is not None and first > last:
        faults.append(f"year_from: {first} is after year_to, {last}")
    if faults:
        raise ArgumentError(faults, tool=NAME)


def _chosen(sources: Sequence[RoleSource], names: Sequence[str]) -> list[RoleSource]:
    known = {source.name for source in sources} | {source.namespace for source in sources}
    faults = [
        f"sources: {printable(name, 60)!r} searches nothing; known: {', '.join(sorted(known))}"
        for name in names
        if name not in known
    ]
    if faults:
        raise ArgumentError(faults, tool=NAME)
    return choose(sources, names)


def _read(
    source: RoleSource, answer: Answer, request: SearchRequest
) -> tuple[SourceOutcome, tuple[Work, ...]]:
    """Returns a source's outcome and the works that the filters accept."""
    try:
        if isinstance(answer, CarrelError):
            raise answer
        limit = request.arguments(source.spec)["limit"]
        found = read_search(answer, source.name, limit)
    except CarrelError as error:
        return _failure(source.name, error), ()
    accepted = [work for work in found.works if request.accepts_year(work)]
    notices = []
    if found.refused:
        notices.append(f"{len(found.refused)} records left out: {found.refused[0]}")
    if found.surplus:
        notices.append(f"{found.surplus} works left out: more than the {limit} asked for")
    notice = printable("; ".join(notices), 300) if notices else None
    outcome = SourceOutcome(
        source.name,
        "found" if accepted else "empty",
        count=len(accepted),
        total=found.total,
        left_out=len(found.works) - len(accepted),
        notice=notice,
    )
    return outcome, tuple(accepted)


def _failure(source: str, error: CarrelError) -> SourceOutcome:
    outcomes: Mapping[str, Outcome] = {"rate_limited": "rate_limited", "timeout": "timeout"}
    seconds = error.details().get("retry_after_seconds")
    return SourceOutcome(
        source,
        outcomes.get(error.error_code, "failed"),
        code=error.error_code,
        message=printable(error.message, 300),
        retry_after_seconds=float(seconds) if isinstance(seconds, (int, float)) else None,
    )


def _ranked(works: Mapping[str, tuple[Work, ...]], request: SearchRequest) -> list[FoundWork]:
    """Merges the records of one work, and returns the best works."""
    ranks: dict[Work, int] = {}
    for found in works.values():
        for rank, work in enumerate(found, 1):
            ranks.setdefault(work, rank)
    merged = group([work for found in works.values() for work in found])
    ranked = [FoundWork(work, _ranks_of(work, ranks)) for work in merged]
    if request.open_access:
        # After merging: one source may know of a copy that is free to read, and another not.
        ranked = [hit for hit in ranked if any(is_open(record) for record in hit.merged.records)]
    ranked.sort(key=lambda hit: rank_key(hit.merged, hit.ranks))
    return ranked[: request.limit]


def _ranks_of(merged: MergedWork, ranks: Mapping[Work, int]) -> dict[str, int]:
    """Returns each source's best rank of a work."""
    best: dict[str, int] = {}
    for record in merged.records:
        rank = ranks[record]
        best[record.source] = min(rank, best.get(record.source, rank))
    return best


def _hints(
    found: Sequence[FoundWork], sources: Iterable[SourceOutcome], request: SearchRequest
) -> tuple[str, ...]:
    """Returns what may help a search that found nothing."""
    if found:
        return ()
    hints = []
    if any(outcome.outcome in ("rate_limited", "timeout", "failed") for outcome in sources):
        hints.append("not every source answered: nothing found does not mean that there is nothing")
    if request.year_from is not None or request.year_to is not None or request.open_access:
        hints.append("search without filters")
    words = len(request.query.split())
    if words > _LONG_QUERY:
        hints.append(f"search for fewer words: {words} are often too many")
    return tuple(hints)
