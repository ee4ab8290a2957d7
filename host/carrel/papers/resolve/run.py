"""Resolves references: every form of identifier, and citations as people paste them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from carrel.exchange import Call, Limits
from carrel.lookup import Lookup
from carrel.lookup.run import MAX_IDS
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.search import PaperSearch, SearchRequest, SearchResult
from carrel.papers.search.tool import no_answer
from carrel.records import Id, IdFault, MergedWork, parse_isbn
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .attempts import attempt, attempts_of, unresolved
from .citation import match_citation

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.plugins.plugin_set import PluginSet

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 60.0
#: Label of an ISBN, which `parse_reference` does not read: ten digits may be a PMID.
_ISBN: Final = "isbn:"
#: Words of the shortest text that is taken for a citation.
_CITATION_WORDS: Final = 4
#: Works that a citation is compared with, and those that the error of an ambiguous one lists.
_COMPARED: Final = 20
_CANDIDATES: Final = 3


@dataclass(frozen=True, slots=True)
class Resolution:
    """A work and how it was found.

    Attributes:
        reference: as it was given.
        id: the identifier that it was found by; None for a citation whose work has none.
        merged: the records of the sources that have it.
        attempts: what each source was asked and answered, as JSON.
    """

    reference: str
    id: Id | None
    merged: MergedWork
    attempts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The source whose word counts first."""
        return self.merged.sources[0]


class PaperResolver:
    """Resolves references over all plugins that look up or search works. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._lookup = Lookup(plugins, config)
        self._search = PaperSearch(plugins, config)
        self._config = config

    def new_call(self, name: str, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a call that starts its clocks now."""
        return Call(HOST, name, self.limits, on_progress)

    @property
    def limits(self) -> Limits:
        """The limits of one resolution."""
        return host_limits(self._config, WALL_SECONDS)

    def resolve(self, reference: str, call: Call, *, by_title: bool = False) -> Resolution:
        """Resolves one reference, and waits for the answers.

        Args:
            reference: an identifier in any form, or a citation.
            call: its deadline and its cancellation.
            by_title: whether a title alone is enough: of several works that have it, that which
                the sources rank first is taken.

        Raises:
            PaperError: `INVALID_REF`; it is neither an identifier nor a citation. `NOT_FOUND` only
                after every source that was asked said so; `AMBIGUOUS` for a citation that several
                works match; `NETWORK_ERROR`, `RATE_LIMITED`, `FETCH_TIMEOUT` when a source that may
                have it did not answer.
            Cancelled: the call was cancelled.
        """
        try:
            identifier = parse_reference(reference)
        except PaperError:
            if len(reference.split()) < _CITATION_WORDS:
                raise
            return self._by_citation(reference, call, by_title=by_title)
        return self._by_identifier(reference, identifier, call)

    def resolve_known(
        self, references: Sequence[str], call: Call
    ) -> dict[str, Resolution | PaperError]:
        """Resolves the identifiers among references, each source being asked for many at once.

        Returns:
            Reference → its work, or why there is none. Citations are left out: `resolve` takes one.
            An ISBN has the label `isbn:`.

        Raises:
            Cancelled: the call was cancelled.
        """
        identifiers: dict[str, Id] = {}
        for reference in references:
            named = _named(reference)
            if named is not None:
                identifiers[reference] = named
        found: dict[str, Resolution | PaperError] = {}
        pairs = list(identifiers.items())
        for start in range(0, len(pairs), MAX_IDS):
            some = pairs[start : start + MAX_IDS]
            result = self._lookup.run([identifier.id for _, identifier in some], call)
            for (reference, identifier), item in zip(some, result.items, strict=True):
                if item.work is None:
                    found[reference] = unresolved(f"{identifier.type} {identifier.id}", item)
                    continue
                work, attempts = result.works[item.work], attempts_of(item.steps)
                found[reference] = Resolution(reference, identifier, work, attempts)
        return found

    def _by_identifier(self, reference: str, identifier: Id, call: Call) -> Resolution:
        result = self._lookup.run([identifier.id], call)
        [item] = result.items
        if item.work is None:
            raise unresolved(f"{identifier.type} {identifier.id}", item)
        return Resolution(reference, identifier, result.works[item.work], attempts_of(item.steps))

    def _by_citation(self, citation: str, call: Call, *, by_title: bool) -> Resolution:
        query = " ".join(citation.split())[:400]
        found = self._search.run(SearchRequest(query=query, limit=_COMPARED), call)
        attempts = _attempts(found)
        works = [hit.merged.work for hit in found.works]
        matches = match_citation(citation, works)
        sure = [match for match in matches if match.sure]
        if by_title and not sure:
            titled = (match for match in matches if match.is_title)
            sure = sorted(titled, key=lambda match: match.place)[:1]
        if len(sure) == 1:
            merged = found.works[sure[0].place].merged
            return Resolution(citation, next(merged.work.ids.known(), None), merged, attempts)
        if not found.has_answer:
            raise no_answer(found)
        if matches:
            candidates = "; ".join(
                _shown(found.works[match.place].merged) for match in matches[:_CANDIDATES]
            )
            raise PaperError(
                "AMBIGUOUS",
                f"the citation may mean: {candidates}; give an identifier",
                attempts=attempts,
            )
        shown = printable(citation, 80)
        raise PaperError("NOT_FOUND", f"no work was found that {shown!r} cites", attempts=attempts)


def _named(reference: str) -> Id | None:
    """Returns the identifier that a text is, of a paper or with a label of a book."""
    try:
        if reference.startswith(_ISBN):
            return parse_isbn(reference)
        return parse_reference(reference)
    except (PaperError, IdFault):
        return None


def stored_under(found: Resolution) -> Id:
    """Returns the identifier that the store files a work under.

    A reference to one version of an e-print is filed under it, apart from the published article.

    Raises:
        PaperError: `NOT_FOUND`; no record of it has one.
    """
    if found.id is not None and found.id.is_version:
        return found.id
    by_kind = {identifier.type: identifier for identifier in found.merged.work.ids.known()}
    for kind in ("doi", "arxiv", "pmid", "pmcid"):
        if kind in by_kind:
            return by_kind[kind]
    if found.id is not None:
        return found.id
    raise PaperError("NOT_FOUND", "the work has no identifier that it could be stored under")


def _attempts(found: SearchResult) -> list[dict[str, Any]]:
    outcomes = {
        "found": "consulted_resolved",
        "empty": "consulted_no_record",
        "not_configured": "not_consulted_disabled",
    }
    return [
        attempt(outcome.source, outcomes.get(outcome.outcome, "consulted_failed"), outcome.message)
        for outcome in found.sources
        if outcome.outcome != "not_chosen"
    ]


def _shown(merged: MergedWork) -> str:
    work = merged.work
    identifier = next(work.ids.known(), None)
    year = f" ({work.issued[:4]})" if work.issued else ""
    return printable(f"{work.title or 'untitled'}{year} {identifier or ''}".strip(), 160)
