"""Asks every source that can state notices about a paper, and keeps who said what.

A source that failed is never taken for one that says nothing, and one that says nothing never for
one that denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.exchange import Call, Limits
from carrel.files.local_paths import without_paths
from carrel.lookup import Lookup
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.resolve import PaperResolver
from carrel.papers.resolve.attempts import unresolved
from carrel.plugins.concurrent_calls import Answer, Question, ask_all
from carrel.text.json_text import decode_object
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits

from .result import REGISTERED, Retractions, SourceAnswer, Statement
from .sources import NOTICES, notice_sources

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.lookup.result import Step
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id, MergedWork, Work

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 90.0
#: Statements of one source that are kept.
_MOST: Final = 100


class RetractionCheck:
    """Asks sources for notices about papers. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config
        self._lookup = Lookup(plugins, config)
        self._resolver = PaperResolver(plugins, config)

    @property
    def limits(self) -> Limits:
        """The limits of one check."""
        return host_limits(self._config, WALL_SECONDS)

    def run(self, reference: str, call: Call) -> Retractions:
        """Checks one paper.

        Raises:
            PaperError: as `PaperResolver.resolve`; `CAPABILITY_DENIED` when no plugin that is on
                states notices.
            Cancelled: the call was cancelled.
        """
        identifier = self._identified(reference, call)
        records, tools = notice_sources(self._plugins, self._config)
        if not records:
            raise PaperError("CAPABILITY_DENIED", "no plugin that is on states notices of papers")
        result = self._lookup.run([identifier.id], call, sources=records)
        [item] = result.items
        if item.work is None:
            raise unresolved(f"{identifier.type} {identifier.id}", item)
        merged = result.works[item.work]
        steps = [step for step in item.steps if step.source in records]
        check = _Check(merged, steps)
        doi = merged.work.ids.doi
        if doi is not None and tools:
            questions = [Question(name, NOTICES, {"doi": doi}) for name in tools]
            answers = ask_all(self._plugins, questions, call)
            for name, answer in zip(tools, answers, strict=True):
                check.add_notices(name, doi, answer)
        return check.result()

    def _identified(self, reference: str, call: Call) -> Id:
        try:
            return parse_reference(reference)
        except PaperError:
            found = self._resolver.resolve(reference, call)
        if found.id is None:
            raise PaperError("NOT_FOUND", "the work that it cites has no identifier to ask for")
        return found.id


class _Check:
    """Collects what sources say of one paper."""

    def __init__(self, merged: MergedWork, steps: Sequence[Step]) -> None:
        self._work = merged.work
        self._statements: dict[str, list[Statement]] = {}
        self._notice_of: list[Statement] = []
        self._answers: dict[str, SourceAnswer] = {}
        for step in steps:
            self._add_step(step)
        for record in merged.records:
            self._add_record(record)

    def _add_step(self, step: Step) -> None:
        if step.outcome == "found":
            self._answers[step.source] = SourceAnswer(step.source, "silent")
        elif step.outcome == "not_found":
            self._answers[step.source] = SourceAnswer(step.source, "no_record")
        elif step.outcome == "failed":
            detail = step.problem.message if step.problem is not None else None
            self._answers[step.source] = SourceAnswer(step.source, "failed", detail=detail)
        elif step.reason in {"deadline", "learnt_too_late"}:
            # It has an identifier to be asked for and was not: it may state a notice.
            why = "the time was up" if step.reason == "deadline" else "its identifier came too late"
            self._answers[step.source] = SourceAnswer(step.source, "failed", detail=why)
        else:
            off = "switched off" if step.reason == "switched_off" else "knows no identifier of it"
            why = step.remedy or off
            self._answers[step.source] = SourceAnswer(step.source, "not_asked", detail=why)

    def _add_record(self, record: Work) -> None:
        name = record.source
        answer = self._answers.setdefault(name, SourceAnswer(name, "silent"))
        answer.registered |= {
            f"{identifier.type}:{identifier.folded}"
            for identifier in record.ids.known()
            if identifier.type in REGISTERED
        }
        for update in record.updated_by[:_MOST]:
            self._state(
                Statement(
                    name, _kind(update.type), update.doi, update.pmid, update.date, update.source
                )
            )
        self._notice_of += [
            Statement(name, _kind(update.type), update.doi, update.pmid, update.date, update.source)
            for update in record.updates[:_MOST]
        ]

    def add_notices(self, name: str, doi: str, answer: Answer) -> None:
        """Adds what a tool for notices answered about a DOI."""
        own = self._answers.setdefault(name, SourceAnswer(name, "no_record"))
        try:
            if isinstance(answer, CarrelError):
                raise answer
            result = decode_object(answer, plugin=name, tool=NOTICES)
        except CarrelError as error:
            if error.error_code != "not_found":
                own.outcome = "failed"
                message = without_paths(error.message, error.paths)
                own.detail = printable(f"its list of notices: {message}", 300)
            return
        own.outcome, own.detail = "silent", None
        own.registered |= {f"doi:{doi.lower()}"}
        for update in _objects(result.get("updates"))[:_MOST]:
            kind = update.get("type")
            if isinstance(kind, str):
                notice = Statement(
                    name,
                    _kind(kind),
                    _text(update.get("notice_doi")),
                    None,
                    _text(update.get("date")),
                    _text(update.get("source")),
                )
                self._state(notice)
        notes = result.get("notices")
        for note in notes[:5] if isinstance(notes, list) else ():
            own.notes.append(printable(str(note), 300))

    def _state(self, statement: Statement) -> None:
        """Adds a statement unless the source has made it elsewhere already."""
        if statement.stated_by == statement.source:
            statement = replace(statement, stated_by=None)
        statements = self._statements.setdefault(statement.source, [])
        same = [
            index
            for index, existing in enumerate(statements)
            if _notice(existing) == _notice(statement)
            and (
                not existing.stated_by
                or not statement.stated_by
                or existing.stated_by == statement.stated_by
            )
        ]
        if not same:
            statements.append(statement)
        elif len(statement.date or "") > len(statements[same[0]].date or ""):
            statements[same[0]] = statement

    def result(self) -> Retractions:
        """Returns what was collected."""
        for name, stated in self._statements.items():
            answer = self._answers[name]
            answer.kinds = list(dict.fromkeys(statement.kind for statement in stated))
            if stated and answer.outcome != "failed":
                answer.outcome = "states"
        statements = [
            statement for name in self._answers for statement in self._statements.get(name, ())
        ]
        return Retractions(
            self._work, tuple(statements), tuple(self._notice_of), tuple(self._answers.values())
        )


def _kind(text: str) -> str:
    return printable(text, 60).lower().replace("-", "_").replace(" ", "_")


def _notice(statement: Statement) -> tuple[str, str, str]:
    """Returns what makes two statements of one source the same."""
    return statement.kind, (statement.doi or "").lower(), statement.pmid or ""


def _text(value: object) -> str | None:
    return printable(value, 300) if isinstance(value, str) and value else None


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
