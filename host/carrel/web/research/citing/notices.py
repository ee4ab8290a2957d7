"""Says what became of a work after its publication, in the members of the surface's document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from carrel.records.work import RETRACTIONS

if TYPE_CHECKING:
    from carrel.papers.retractions.result import Retractions, Statement
    from carrel.records import Work

#: Kind in the result → the kinds of sources' notices that give it, the gravest first.
_KINDS: Final = (
    ("retraction", RETRACTIONS | {"partial_retraction"}),
    ("expression_of_concern", frozenset({"expression_of_concern"})),
    ("correction", frozenset({"correction", "erratum", "corrigendum", "republication"})),
)


def status_of(found: Retractions) -> dict[str, Any] | None:
    """Returns the gravest notice about a work; None if no source states one."""
    for kind, meant in _KINDS:
        stated = [statement for statement in found.statements if statement.kind in meant]
        if stated:
            return _to_json(kind, _fullest(stated))
    return None


def status_in_record(work: Work) -> dict[str, Any] | None:
    """Returns the gravest notice that a record itself has; None if it has none."""
    for kind, meant in _KINDS:
        stated = [update for update in work.updated_by if _plain(update.type) in meant]
        if stated:
            first = max(
                stated, key=lambda update: (update.date is not None, update.doi is not None)
            )
            return _members(kind, first.date, first.doi, first.source or work.source)
    return None


def _plain(kind: str) -> str:
    return kind.lower().replace("-", "_").replace(" ", "_")


def _fullest(stated: list[Statement]) -> Statement:
    return max(
        stated, key=lambda statement: (statement.date is not None, statement.doi is not None)
    )


def _to_json(kind: str, statement: Statement) -> dict[str, Any]:
    return _members(kind, statement.date, statement.doi, statement.stated_by or statement.source)


def _members(kind: str, day: str | None, doi: str | None, source: str) -> dict[str, Any]:
    members = {
        "retracted": kind == "retraction",
        "kind": kind,
        "date": day,
        "notice_doi": doi,
        "source": source,
    }
    return {name: value for name, value in members.items() if value is not None}
