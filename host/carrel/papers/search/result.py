"""Defines what a search returns: ranked works, and the outcome at every source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from .rank import score

if TYPE_CHECKING:
    from carrel.records import MergedWork

Outcome = Literal[
    "found", "empty", "rate_limited", "timeout", "failed", "not_configured", "not_chosen"
]
OUTCOMES: Final[tuple[Outcome, ...]] = (
    "found", "empty", "rate_limited", "timeout", "failed", "not_configured", "not_chosen",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """One source's answer to a search.

    Attributes:
        source: the plugin, as the configuration calls it.
        outcome: found: works; empty: it has none; rate_limited and timeout: it may have some and
            did not answer in time; failed: it may have some and the answer was an error;
            not_configured: a secret that it requires is not set, so it was not asked.
        count: works that it gave and the filters accept.
        total: works that there are in all, by the source.
        left_out: works that it gave and the host's filters refuse.
        code: of `contract/v1/errors.json`, of a failure.
        message: of a failure, or what to set; one line for a person.
        retry_after_seconds: the wait that would help, when it is known.
        notice: what is wrong with an answer that could be used: records that the contract refuses.
    """

    source: str
    outcome: Outcome
    count: int = 0
    total: int | None = None
    left_out: int = 0
    code: str | None = None
    message: str | None = None
    retry_after_seconds: float | None = None
    notice: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the outcome as one JSON object."""
        members: dict[str, Any] = {"source": self.source, "outcome": self.outcome}
        if self.outcome in ("found", "empty"):
            members["count"] = self.count
        if self.left_out:
            members["left_out"] = self.left_out
        for name in ("total", "code", "message", "retry_after_seconds", "notice"):
            value = getattr(self, name)
            if value is not None:
                members[name] = value
        return members


@dataclass(frozen=True, slots=True)
class FoundWork:
    """A work that was found.

    Attributes:
        merged: the records of its sources.
        ranks: source → its place in that source's answer, from 1.
    """

    merged: MergedWork
    ranks: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Returns the work with its sources, their ranks and the score."""
        return {
            "work": self.merged.work.to_json(),
            "sources": list(self.merged.sources),
            "ranks": dict(self.ranks),
            "score": round(score(self.ranks), 6),
        }


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Works and how they were found.

    Attributes:
        works: the best first.
        sources: every plugin with the role, in the configuration's order.
        hints: what may help when nothing was found.
        notices: plugins that cannot be loaded.
    """

    works: tuple[FoundWork, ...]
    sources: tuple[SourceOutcome, ...]
    hints: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def has_answer(self) -> bool:
        """Whether a source answered; if not, nothing found means nothing."""
        return any(outcome.outcome in ("found", "empty") for outcome in self.sources)

    def to_json(self) -> dict[str, Any]:
        """Returns the result as one JSON object."""
        payload: dict[str, Any] = {
            "works": [work.to_json() for work in self.works],
            "sources": [outcome.to_json() for outcome in self.sources],
        }
        if self.hints:
            payload["hints"] = list(self.hints)
        if self.notices:
            payload["notices"] = list(self.notices)
        return payload
