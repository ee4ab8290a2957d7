"""Defines a lookup's result: works, and for every identifier the outcome at each source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from carrel.errors import CarrelError
from carrel.records import Id, MergedWork
from carrel.text.printable import printable

Outcome = Literal["found", "not_found", "failed", "not_asked"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("found", "not_found", "failed", "not_asked")

#: Why a source was not asked: nothing it resolves is known of the work; it was not among the
#: `sources` of the call; the operator has switched its lookup off; a secret that it requires is not
#: set; its identifier was learnt in the last round; the time was up.
Reason = Literal[
    "no_matching_identifier",
    "not_chosen",
    "switched_off",
    "not_configured",
    "learnt_too_late",
    "deadline",
]
REASONS: Final[tuple[Reason, ...]] = (
    "no_matching_identifier",
    "not_chosen",
    "switched_off",
    "not_configured",
    "learnt_too_late",
    "deadline",
)

#: Parts of a record that a caller can leave out: the abstract, and the affiliations of people.
PARTS: Final = ("abstracts", "affiliations")
_PEOPLE: Final = ("authors", "editors")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a question has no answer.

    Attributes:
        code: one of `contract/v1/errors.json`.
        message: one line for a person.
        retry_after_seconds: the wait that would help, when it is known.
    """

    code: str
    message: str
    retry_after_seconds: float | None = None

    @classmethod
    def of(cls, error: CarrelError) -> Problem:
        """Returns the problem that an error is."""
        seconds = error.details().get("retry_after_seconds")
        return cls(
            error.error_code,
            printable(error.message, 500),
            float(seconds) if isinstance(seconds, (int, float)) else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Code, message and, when known, the wait."""
        problem: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.retry_after_seconds is not None:
            problem["retry_after_seconds"] = self.retry_after_seconds
        return problem


@dataclass(frozen=True, slots=True)
class Step:
    """One source and its outcome, queried or not.

    Attributes:
        source: the plugin, as the configuration calls it.
        asked: the identifier it was asked for; None when it was not asked.
        problem: when it failed.
        reason: when it was not asked.
        remedy: what to set, when it was not asked because that is not set.
    """

    source: str
    outcome: Outcome
    asked: Id | None = None
    problem: Problem | None = None
    reason: Reason | None = None
    remedy: str | None = None

    def to_json(self, *, remedy: bool = True) -> dict[str, Any]:
        """Returns the step as one JSON object, with or without what to set."""
        step: dict[str, Any] = {"source": self.source, "outcome": self.outcome}
        if self.asked is not None:
            step["asked"] = self.asked.to_json()
        if self.problem is not None:
            step.update(self.problem.to_json())
        if self.reason is not None:
            step["reason"] = self.reason
        if remedy and self.remedy is not None:
            step["message"] = self.remedy
        return step


@dataclass(frozen=True, slots=True)
class LookupItem:
    """One identifier that was asked for.

    Attributes:
        given: as the caller wrote it.
        id: what it was read as; None when it is no identifier.
        outcome: found by some source; not found: see `absence`; failed: not found, and a source
            that may have it failed, or it is no identifier; not asked: no source resolves its kind.
        work: its place among the works, when found.
        problem: when it failed: the first failure.
        steps: what was asked of whom.
    """

    given: str
    outcome: Outcome
    id: Id | None = None
    work: int | None = None
    problem: Problem | None = None
    steps: tuple[Step, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the item as one JSON object.

        What to set so that a further source can be asked is stated for works that were not found: a
        result of a hundred works would repeat it a hundred times.
        """
        item: dict[str, Any] = {"given": self.given, "outcome": self.outcome}
        if self.id is not None:
            item["id"] = self.id.to_json()
        if self.work is not None:
            item["work"] = self.work
        if self.problem is not None:
            item["error"] = self.problem.to_json()
        lost = self.outcome != "found"
        item["trace"] = [step.to_json(remedy=lost) for step in self.steps]
        return item


@dataclass(frozen=True, slots=True)
class LookupResult:
    """Works and how they were found.

    Attributes:
        items: one for each identifier, in the order of asking.
        works: each once, in the order in which they were first asked for.
        notices: what concerns no single identifier: plugins that cannot be loaded.
    """

    items: tuple[LookupItem, ...]
    works: tuple[MergedWork, ...]
    notices: tuple[str, ...] = ()

    def to_json(self, *, references: bool = True, omit: Collection[str] = ()) -> dict[str, Any]:
        """Returns the result as one JSON object.

        Args:
            references: keep the lists of cited works, which are most of a record's bulk.
            omit: of `PARTS`, what to leave out.
        """
        left_out = [] if references else ["references"]
        if "abstracts" in omit:
            left_out.append("abstract")
        result: dict[str, Any] = {
            "items": [item.to_json() for item in self.items],
            "works": [
                _work(work, left_out, affiliations="affiliations" not in omit)
                for work in self.works
            ],
        }
        if self.notices:
            result["notices"] = list(self.notices)
        return result


def outcome_of(steps: Collection[Step], is_absent: Callable[[Collection[Step]], bool]) -> Outcome:
    """Returns how an item ended, by the outcomes of its steps.

    Args:
        steps: of the item.
        is_absent: whether steps without a work mean that there is none; see `absence`.
    """
    outcomes = {step.outcome for step in steps}
    if outcomes >= {"failed", "not_found"} and "found" not in outcomes:
        return "not_found" if is_absent(steps) else "failed"
    by_weight: tuple[Outcome, ...] = ("found", "failed", "not_found")
    return next((outcome for outcome in by_weight if outcome in outcomes), "not_asked")


def first_problem(steps: Sequence[Step]) -> Problem | None:
    """Returns the failure that an item which was not found is shown with."""
    return next((step.problem for step in steps if step.problem is not None), None)


def _work(work: MergedWork, left_out: Collection[str], *, affiliations: bool) -> dict[str, Any]:
    """Returns a work's JSON without some members, their provenance, and people's affiliations."""
    merged = work.to_json()
    for members in (merged["work"], merged["alternatives"], merged["provenance"]):
        for name in left_out:
            members.pop(name, None)
    if not affiliations:
        alternatives = (
            alternative["value"]
            for name in _PEOPLE
            for alternative in merged["alternatives"].get(name, ())
        )
        for people in (*(merged["work"].get(name, ()) for name in _PEOPLE), *alternatives):
            for person in people:
                person.pop("affiliations", None)
    return merged
