"""Says what each source was asked about a reference and what it answered, in closed words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.envelope import ATTEMPT_OUTCOMES
from carrel.papers.errors import PaperCode, PaperError

if TYPE_CHECKING:
    from carrel.lookup.result import LookupItem, Step

#: Why a source was not asked by a lookup → the outcome.
_REASONS: Final[Mapping[str, str]] = {
    "switched_off": "not_consulted_disabled",
    "not_chosen": "not_consulted_disabled",
    "not_configured": "not_consulted_disabled",
    "no_matching_identifier": "not_consulted_not_applicable",
    "learnt_too_late": "not_consulted_not_needed",
    "deadline": "consulted_failed",
}
_ANSWERS: Final[Mapping[str, str]] = {
    "found": "consulted_resolved",
    "not_found": "consulted_no_record",
    "failed": "consulted_failed",
}


def attempts_of(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Returns the attempts of a lookup's steps, as JSON."""
    attempts = []
    for step in steps:
        if step.outcome == "not_asked":
            outcome = _REASONS[step.reason or "no_matching_identifier"]
            detail = "out of time" if step.reason == "deadline" else step.remedy
        else:
            outcome = _ANSWERS[step.outcome]
            detail = step.problem.message if step.problem is not None else None
        attempts.append(attempt(step.source, outcome, detail))
    return attempts


def attempt(source: str, outcome: str, detail: str | None = None) -> dict[str, Any]:
    """Returns one attempt as JSON."""
    assert outcome in ATTEMPT_OUTCOMES, outcome
    members: dict[str, Any] = {
        "source": source,
        "outcome": outcome,
        "consulted": outcome.startswith("consulted"),
    }
    if detail is not None:
        members["detail"] = detail
    return members


def unresolved(reference: str, item: LookupItem) -> PaperError:
    """Returns why a reference has no work.

    NOT_FOUND only when the lookup says so: a source that failed may have it, see
    `carrel.lookup.absence`.
    """
    steps = item.steps
    attempts = attempts_of(steps)

    def error(code: PaperCode, message: str) -> PaperError:
        return PaperError(code, message, attempts=attempts)

    problems = [(step.source, step.problem) for step in steps if step.problem is not None]
    failures = "; ".join(f"{source}: {problem.message}" for source, problem in problems)
    if problems and item.outcome != "not_found":
        return error(
            _code({problem.code for _, problem in problems}),
            f"{reference} was not found, and not every source answered: {failures}",
        )
    if any(step.reason == "deadline" for step in steps):
        return error("FETCH_TIMEOUT", f"{reference}: the time was up before every source answered")
    sources = [step.source for step in steps if step.outcome == "not_found"]
    if not sources:
        remedies = [f"{step.source}: {step.remedy}" for step in steps if step.remedy is not None]
        hint = f": {'; '.join(remedies)}" if remedies else ""
        return error("CAPABILITY_DENIED", f"no plugin that is on resolves {reference}{hint}")
    unknown = f"{reference} is unknown to {', '.join(dict.fromkeys(sources))}"
    return error("NOT_FOUND", f"{unknown}; {failures}" if failures else unknown)


def _code(codes: set[str]) -> PaperCode:
    """Returns the closed code of failures with these codes of the contract."""
    if codes == {"rate_limited"}:
        return "RATE_LIMITED"
    if codes == {"timeout"}:
        return "FETCH_TIMEOUT"
    if codes == {"denied"}:
        return "CAPABILITY_DENIED"
    return "NETWORK_ERROR"
