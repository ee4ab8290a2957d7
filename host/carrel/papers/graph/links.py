"""Asks plugins what papers cite and what cites them, and reads their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.papers.resolve.attempts import attempt
from carrel.plugins.concurrent_calls import Answer, Question
from carrel.plugins.roles import LinkedWork, LinksAnswer, RoleSource, read_links
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.records import Id

    from .request import LinkRole

#: Calls reserved tools of plugins; `carrel.plugins.concurrent_calls.ask_all` with its plugins.
Ask = Callable[[Sequence[Question], "Call"], list[Answer]]

#: Links that a source is asked for: more than are taken, so that sources agree on some, the most
#: cited ones can be taken, and links between papers of the graph are found.
ASKED: Final = 50
#: Answers of one source about one paper, where it gives few links at a time.
_MOST_PAGES: Final = 3


@dataclass(slots=True)
class SourceTally:
    """The requests to one source in one role, and its answers.

    Attributes:
        asked: requests.
        answered: requests with a usable answer, also an empty one.
        links: links in the answers.
        refused: records that the contract refuses.
        inapplicable: papers of which no identifier is known that it takes.
        problem: the last failure; None without one.
        set_aside: whether it is asked no more, because it answered nothing in a whole round.
    """

    source: RoleSource
    role: LinkRole
    asked: int = 0
    answered: int = 0
    links: int = 0
    refused: int = 0
    inapplicable: int = 0
    problem: CarrelError | None = None
    set_aside: bool = False

    @property
    def failed(self) -> int:
        """Requests without a usable answer."""
        return self.asked - self.answered


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one paper in one direction, by one source.

    Attributes:
        links: at most `ASKED`.
        has_more: whether the source has further ones.
    """

    source: str
    role: LinkRole
    links: tuple[LinkedWork, ...]
    has_more: bool


@dataclass(slots=True)
class _Open:
    """One paper's links at one source, while pages are read."""

    tally: SourceTally
    paper: int
    id: Id
    per_paper: int
    cursor: str | None = None
    found: list[LinkedWork] = field(default_factory=list)
    total: int | None = None
    answered: bool = False

    def question(self) -> Question:
        """Returns the next question."""
        spec = self.tally.source.spec
        most = ASKED if spec.most is None else min(ASKED, spec.most)
        arguments: dict[str, Any] = {"id": self.id.to_json(), "limit": most}
        if self.cursor is not None:
            arguments["cursor"] = self.cursor
        return Question(self.tally.source.name, spec.tool, arguments)

    def take(self, answer: LinksAnswer) -> None:
        """Takes a page."""
        self.answered = True
        self.tally.answered += 1
        self.tally.links += len(answer.links[:ASKED])
        self.tally.refused += len(answer.refused)
        self.found += answer.links
        self.cursor = answer.next_cursor
        self.total = answer.total if answer.total is not None else self.total

    def result(self) -> Links:
        """Returns the links."""
        links = tuple(self.found[:ASKED])
        has_more = (
            self.cursor is not None
            or len(self.found) > len(links)
            or (self.total or 0) > len(links)
        )
        return Links(self.tally.source.name, self.tally.role, links, has_more)


class LinkSources:
    """The plugins that list links.

    Args:
        sources: role → plugins that take it, in the configuration's order.
        ask: calls plugins.
    """

    def __init__(self, sources: Mapping[LinkRole, Sequence[RoleSource]], ask: Ask) -> None:
        self.tallies = [
            SourceTally(source, role) for role, taking in sources.items() for source in taking
        ]
        self._ask = ask

    @property
    def has_answer(self) -> bool:
        """Whether a source answered."""
        return any(tally.answered for tally in self.tallies)

    @property
    def has_failure(self) -> bool:
        """Whether a source did not answer a question."""
        return any(tally.failed or tally.set_aside for tally in self.tallies)

    def ask(self, papers: Sequence[Sequence[Id]], per_paper: int, call: Call) -> list[list[Links]]:
        """Returns each paper's links, source by source in a fixed order.

        A source whose questions of a round all failed is asked no more.

        Args:
            papers: the identifiers of each.
            per_paper: a source that gives fewer links at a time is asked for further pages.
            call: its deadline is that of the round.

        Raises:
            Cancelled: the call was cancelled.
        """
        everything = [
            listing
            for number, ids in enumerate(papers)
            for tally in self.tallies
            if (listing := _opened(tally, number, ids, per_paper)) is not None
        ]
        pages = 0
        left = everything
        while left and pages < _MOST_PAGES:
            answers = self._ask([listing.question() for listing in left], call)
            for listing, answer in zip(left, answers, strict=True):
                _take(listing, answer)
            left = [
                listing
                for listing in left
                if listing.cursor is not None and len(listing.found) < listing.per_paper
            ]
            pages += 1
        for tally in self.tallies:
            rounds = [listing for listing in everything if listing.tally is tally]
            if rounds and not any(listing.answered for listing in rounds):
                tally.set_aside = True
        by_paper: list[list[Links]] = [[] for _ in papers]
        for listing in everything:
            if listing.found:
                by_paper[listing.paper].append(listing.result())
        return by_paper

    def attempts(self) -> list[dict[str, Any]]:
        """Returns what each source was asked and answered, as JSON."""
        by_source: dict[str, list[SourceTally]] = {}
        for tally in self.tallies:
            by_source.setdefault(tally.source.name, []).append(tally)
        return [_attempt(name, tallies) for name, tallies in by_source.items()]


def _opened(tally: SourceTally, paper: int, ids: Iterable[Id], per_paper: int) -> _Open | None:
    """Returns the question about one paper; None if it cannot be asked of this source."""
    if tally.set_aside:
        return None
    identifier = tally.source.identifier_among(ids)
    if identifier is None:
        tally.inapplicable += 1
        return None
    return _Open(tally, paper, identifier, per_paper)


def _take(listing: _Open, answer: Answer) -> None:
    tally = listing.tally
    tally.asked += 1
    before, listing.cursor = listing.cursor, None
    try:
        if isinstance(answer, CarrelError):
            raise answer
        # One more than was asked for shows that there are more.
        listing.take(read_links(answer, tally.source.name, tally.role, ASKED + 1))
    except CarrelError as error:
        if error.error_code == "not_found":
            listing.answered = True
            tally.answered += 1
        else:
            tally.problem = error
    if listing.cursor == before:  # a cursor that leads to itself
        listing.cursor = None


def _attempt(name: str, tallies: Sequence[SourceTally]) -> dict[str, Any]:
    """Returns one source's attempts in all its roles as one."""
    consulted = [tally for tally in tallies if tally.asked]
    if not consulted:
        return attempt(name, "not_consulted_not_applicable")
    if any(tally.links for tally in consulted):
        outcome = "consulted_resolved"
    elif any(tally.failed for tally in consulted):
        outcome = "consulted_failed"
    else:
        outcome = "consulted_no_record"
    return attempt(name, outcome, "; ".join(_described(tally) for tally in consulted))


def _described(tally: SourceTally) -> str:
    text = f"{tally.role}: {tally.links} links"
    if tally.refused:
        text += f", {tally.refused} records refused"
    if tally.problem is not None:
        text += f", {tally.failed} of {tally.asked} requests failed"
        text += f" ({printable(tally.problem.message, 200)})"
    if tally.set_aside:
        text += ", asked no more"
    return text
