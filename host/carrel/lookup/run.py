"""Runs a lookup: parses identifiers, queries sources, queries again with new identifiers,
merges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from carrel.errors import ArgumentError
from carrel.exchange import Call, ProgressHandler
from carrel.plugins.concurrent_calls import require_patience
from carrel.records import Id, IdFault, MergedWork, Work, group, parse_id, parse_isbn
from carrel.records.order import PRIMARY, json_text, record_rank
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits
from carrel.tools.naming import HOST

from .absence import Absence
from .answer import LookupAnswer
from .ask import ask
from .result import LookupItem, LookupResult, Problem, Reason, Step, first_problem, outcome_of
from .sources import LookupSource, find_sources

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

#: The tool's name; the name of a lookup's call in errors.
NAME: Final = "work_lookup"
MAX_IDS: Final = 100
#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise: time for a
#: hundred e-prints at arXiv's pace, and for Crossref and PubMed after it.
WALL_SECONDS: Final = 90.0
#: The second round asks with identifiers learnt in the first. Sources learn from each other, never
#: from themselves, so a third would bring next to nothing.
ROUNDS: Final = 2


class Lookup:
    """Looks up works by identifier in every plugin that resolves its kind. Thread-safe."""

    def __init__(self, plugin_set: PluginSet, config: Config) -> None:
        self._plugin_set = plugin_set
        self._config = config
        self.limits = host_limits(config, WALL_SECONDS)

    def new_call(self, on_progress: ProgressHandler | None = None) -> Call:
        """Returns a new call; its deadline starts now."""
        return Call(HOST, NAME, self.limits, on_progress)

    def run(
        self, ids: Sequence[str], call: Call, *, sources: Sequence[str] | None = None
    ) -> LookupResult:
        """Looks up works and waits for the answers.

        Args:
            ids: 1 to 100 identifiers of any kinds, as people paste them.
            call: from `new_call`; cancelling it from another thread ends the wait.
            sources: names of the only plugins to ask.

        Raises:
            ArgumentError: none or too many identifiers, or a source that looks nothing up.
            Cancelled: the call was cancelled.
        """
        if not 1 <= len(ids) <= MAX_IDS:
            raise ArgumentError(
                [f"ids: expected 1 to {MAX_IDS} identifiers but found {len(ids)}"], tool=NAME
            )
        chosen, notices = find_sources(self._plugin_set, self._config, sources)
        questions = [_question(text) for text in ids]
        for number in range(ROUNDS):
            queries = _next_queries(questions, chosen)
            if not queries or (number and not call.remaining):
                break
            answers = ask(self._plugin_set, queries, call)
            for question in questions:
                question.take(answers)
        require_patience(call)
        late: Reason = "learnt_too_late" if call.remaining else "deadline"
        absence = Absence(chosen, self._plugin_set.unset_keys)
        return _result(questions, chosen, notices, late, absence)


@dataclass(slots=True)
class _Question:
    """One identifier, with its queries and answers so far."""

    given: str
    id: Id | None
    problem: Problem | None = None
    open: dict[str, Id] = field(default_factory=dict)
    answered: list[tuple[str, Id, LookupAnswer]] = field(default_factory=list)

    @property
    def works(self) -> list[Work]:
        """The records found."""
        return [answer.work for _, _, answer in self.answered if answer.work is not None]

    def next_for(self, source: LookupSource) -> Id | None:
        """Returns the identifier to ask a source for: of the first kind in its list that is known.

        None when it has answered already, or nothing it resolves is known.
        """
        before = [
            (identifier, answer)
            for name, identifier, answer in self.answered
            if name == source.name
        ]
        if self.id is None or any(answer.outcome != "not_found" for _, answer in before):
            return None
        # An index can name the identifier of another work: where a primary source has the work,
        # others are asked only with what primary sources say.
        primary = [work for work in self.works if work.source in PRIMARY]
        candidates = [
            self.id,
            *(identifier for work in primary or self.works for identifier in work.ids.known()),
        ]
        tried = {identifier.work for identifier, _ in before}
        for kind in source.spec.identifiers:
            for candidate in candidates:
                if candidate.type == kind and candidate.work not in tried:
                    return candidate
        return None

    def take(self, answers: dict[tuple[str, Id], LookupAnswer]) -> None:
        """Takes the answers to what is open."""
        for name, identifier in self.open.items():
            self.answered.append((name, identifier, answers[name, identifier]))
        self.open = {}

    def steps(self, sources: Iterable[LookupSource], late: Reason) -> tuple[Step, ...]:
        """Returns the queries and their outcomes, source by source.

        Args:
            sources: in the order of the trace.
            late: why a source was not queried although its identifier is now known.
        """
        steps: list[Step] = []
        for source in sources:
            source_steps = [
                Step(name, answer.outcome, identifier, answer.problem)
                for name, identifier, answer in self.answered
                if name == source.name
            ]
            if not source_steps:
                has_identifier = self.next_for(source) is not None
                reason = source.closed or (late if has_identifier else "no_matching_identifier")
                source_steps = [Step(source.name, "not_asked", reason=reason, remedy=source.remedy)]
            steps += source_steps
        return tuple(steps)


def _question(text: str) -> _Question:
    shown = printable(text, 300)
    try:
        return _Question(shown, read_id(text))
    except IdFault as fault:
        return _Question(shown, None, Problem("invalid_arguments", str(fault)))


def read_id(text: str) -> Id:
    """Returns the identifier in `text`, of any kind that is looked up.

    A text with the check digit of an ISBN is an ISBN: no PMID has ten digits.

    Raises:
        IdFault: the text does not have the form of an identifier.
    """
    try:
        return parse_isbn(text)
    except IdFault as fault:
        if text.strip()[:4].lower() in {"isbn", "urn:"}:
            raise
        try:
            return parse_id(text)
        except IdFault:
            digits = text.replace("-", "").replace(" ", "")
            if digits.isdigit() and len(digits) in {10, 13}:
                raise fault from None
            raise


def _next_queries(
    questions: Iterable[_Question], sources: Iterable[LookupSource]
) -> dict[str, tuple[LookupSource, Sequence[Id]]]:
    """Returns the identifiers to query at each source, each once; the questions record what they
    wait for.
    """
    queries: dict[str, tuple[LookupSource, dict[Id, None]]] = {}
    for source in sources:
        if source.closed is not None:
            continue
        for question in questions:
            identifier = question.next_for(source)
            if identifier is not None:
                question.open[source.name] = identifier
                queries.setdefault(source.name, (source, {}))[1][identifier] = None
    return {name: (source, list(ids)) for name, (source, ids) in queries.items()}


def _by_doi(record: Work) -> tuple[bool, tuple[tuple[int, str], float], str]:
    """Returns a key that sorts first the record whose DOI counts, see `records.match`."""
    return record.ids.doi is None, record_rank(record, "ids.doi"), json_text(record)


def _result(
    questions: Sequence[_Question],
    sources: Sequence[LookupSource],
    notices: Sequence[str],
    late: Reason,
    absence: Absence,
) -> LookupResult:
    """Merges the records, and assigns each question its work."""
    found = [work for question in questions for work in question.works]
    merged = group(found, same=[question.works for question in questions if question.works])
    home: dict[Work, MergedWork] = {record: work for work in merged for record in work.records}
    works: list[MergedWork] = []
    items = []
    for question in questions:
        index = None
        if question.works:
            own = home[min(question.works, key=_by_doi)]
            if own not in works:
                works.append(own)
            index = works.index(own)
        steps = question.steps(sources, late) if question.id is not None else ()
        outcome = (
            "failed" if question.problem is not None else outcome_of(steps, absence.is_certain)
        )
        problem = question.problem or first_problem(steps)
        items.append(
            LookupItem(
                question.given,
                outcome,
                question.id,
                index,
                problem if outcome == "failed" else None,
                steps,
            )
        )
    return LookupResult(tuple(items), tuple(works), tuple(notices))
