"""Defines the result of a check: who says what of a paper, and what that amounts to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.records.work import RETRACTIONS

if TYPE_CHECKING:
    from carrel.records import Work

Status = Literal[
    "retracted", "partially_retracted", "of_concern", "corrected", "updated", "nothing_stated",
    "unknown",
]  # fmt: skip
#: Kinds of notices → the status of a paper that has one, the gravest first.
_STATUSES: Final[tuple[tuple[Status, frozenset[str]], ...]] = (
    ("retracted", RETRACTIONS),
    ("partially_retracted", frozenset({"partial_retraction"})),
    ("of_concern", frozenset({"expression_of_concern"})),
    ("corrected", frozenset({"correction", "erratum", "corrigendum", "republication"})),
)
STATUSES: Final[tuple[Status, ...]] = (
    *(status for status, _ in _STATUSES), "updated", "nothing_stated", "unknown",
)  # fmt: skip
#: What a source answered: notices, a record without any, no record, nothing; or was not asked,
#: because it knows none of the paper's identifiers.
OUTCOMES: Final = ("states", "silent", "no_record", "failed", "not_asked")
#: Words for the kinds of identifiers by which two records are of one publication.
REGISTERED: Final = ("doi", "pmid", "pmcid")


@dataclass(frozen=True, slots=True)
class Statement:
    """One source's notice about a paper.

    Attributes:
        source: the plugin.
        kind: such as retraction, in lower case with underscores.
        doi: of the notice, or of the work that the paper is a notice of.
        pmid: the same.
        date: of the notice.
        stated_by: whom the source names, such as publisher or retraction-watch.
    """

    source: str
    kind: str
    doi: str | None = None
    pmid: str | None = None
    date: str | None = None
    stated_by: str | None = None

    def to_json(self) -> dict[str, str]:
        """Returns the members that are known."""
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in members.items() if value is not None}


@dataclass(slots=True)
class SourceAnswer:
    """One source's answer.

    Attributes:
        outcome: one of `OUTCOMES`.
        kinds: of the notices that it states.
        detail: why it failed, or was not asked.
        notes: what its answer leaves open.
        registered: identifiers of the record that it has.
    """

    source: str
    outcome: str
    kinds: list[str] = field(default_factory=list)
    detail: str | None = None
    notes: list[str] = field(default_factory=list)
    registered: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """Returns the answer as JSON."""
        members: dict[str, Any] = {"source": self.source, "outcome": self.outcome}
        if self.kinds:
            members["kinds"] = self.kinds
        if self.detail is not None:
            members["detail"] = self.detail
        if self.notes:
            members["notes"] = self.notes
        return members


@dataclass(frozen=True, slots=True)
class Retractions:
    """All sources' notices about one paper.

    Attributes:
        work: the merged record.
        statements: notices about the paper, source by source.
        notice_of: works that the paper itself is a notice of.
        sources: what each source answered.
    """

    work: Work
    statements: tuple[Statement, ...]
    notice_of: tuple[Statement, ...]
    sources: tuple[SourceAnswer, ...]

    @property
    def complete(self) -> bool:
        """Whether every source that was asked has answered."""
        return all(answer.outcome != "failed" for answer in self.sources)

    @property
    def status(self) -> Status:
        """The gravest that a source states; `unknown` if none does and one did not answer."""
        kinds = {statement.kind for statement in self.statements}
        for status, meant in _STATUSES:
            if kinds & meant:
                return status
        if kinds:
            return "updated"
        answered = any(answer.outcome in {"silent", "states"} for answer in self.sources)
        return "nothing_stated" if answered and self.complete else "unknown"

    @property
    def disagreements(self) -> list[str]:
        """Sentences about sources with a record of the same publication that say different things.

        Only of retractions and concerns; sources differ in which corrections they list. A source
        that states something graver does not deny what is less.
        """
        sentences = []
        graver: frozenset[str] = frozenset()
        for status, meant in _STATUSES[:3]:
            stating_sources = [
                answer
                for answer in self.sources
                if meant & set(answer.kinds) and not graver & set(answer.kinds)
            ]
            graver |= meant
            about = frozenset[str]().union(*(answer.registered for answer in stating_sources))
            silent_sources = [
                answer
                for answer in self.sources
                if answer.outcome in {"silent", "states"}
                and not graver & set(answer.kinds)
                and (answer.registered & about)
            ]
            if stating_sources and silent_sources:
                stating, silent = _names(stating_sources), _names(silent_sources)
                sentences.append(f"{status} according to {stating}; {silent}: no such notice")
        return sentences

    @property
    def summary(self) -> str:
        """One sentence for a person."""
        failed = [answer for answer in self.sources if answer.outcome == "failed"]
        rest = f"; no whole answer from {_names(failed)}" if failed else ""
        stating = [answer for answer in self.sources if answer.kinds]
        if stating:
            return f"{self.status.replace('_', ' ')} according to {_names(stating)}{rest}"
        silent = [answer for answer in self.sources if answer.outcome == "silent"]
        if not silent:
            return f"no source has answered{rest}"
        return f"no source that answered says so: {_names(silent)}{rest}"


def _names(sources: Sequence[SourceAnswer]) -> str:
    return ", ".join(answer.source for answer in sources)
