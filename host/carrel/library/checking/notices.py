"""Turns what sources state about a work into findings: retractions, concerns, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.records.work import RETRACTIONS

from .findings import Finding, FindingType

if TYPE_CHECKING:
    from carrel.papers.retractions.result import Retractions, Statement

#: Kinds of notices → the type of finding, the gravest first. Other kinds are corrections.
_TYPES: Final[tuple[tuple[FindingType, frozenset[str]], ...]] = (
    ("retracted", RETRACTIONS | {"partial_retraction"}),
    ("concern", frozenset({"expression_of_concern"})),
    ("version_changed", frozenset({"new_version", "new_edition", "version"})),
)
_WORDS: Final = {
    "retracted": "retracted",
    "concern": "under an expression of concern",
    "version_changed": "replaced by a newer version",
    "corrected": "corrected",
}
#: type → the member of `details` with the notice's DOI.
_DOIS: Final = {
    "retracted": "retraction_doi",
    "concern": "concern_doi",
    "version_changed": "new_doi",
    "corrected": "correction_doi",
}


def notice_findings(retractions: Retractions) -> list[Finding]:
    """Returns a finding for each type of notice, with who states it."""
    by_type: dict[FindingType, list[Statement]] = {}
    for statement in retractions.statements:
        by_type.setdefault(_type_of(statement.kind), []).append(statement)
    return [_finding(kind, stated) for kind, stated in by_type.items()]


def _type_of(kind: str) -> FindingType:
    return next((found for found, kinds in _TYPES if kind in kinds), "corrected")


def _finding(kind: FindingType, stated: Sequence[Statement]) -> Finding:
    sources = tuple(dict.fromkeys(statement.source for statement in stated))
    date = min((statement.date for statement in stated if statement.date), default=None)
    doi = next((statement.doi for statement in stated if statement.doi), None)
    when = f" on {date}" if date else ""
    partly = all(statement.kind == "partial_retraction" for statement in stated)
    what = f"{'partly ' if partly else ''}{_WORDS[kind]}"
    details: dict[str, Any] = {"statements": [statement.to_json() for statement in stated[:20]]}
    if doi is not None:
        details[_DOIS[kind]] = doi
    if date is not None:
        details["date"] = date
    return Finding(kind, f"{what}{when}, according to {', '.join(sources)}", sources, details)
