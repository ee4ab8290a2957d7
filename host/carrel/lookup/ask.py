"""Queries several plugins concurrently, in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from carrel.errors import CarrelError
from carrel.plugins.concurrent_calls import Answer, Question, ask_all

from .answer import LookupAnswer, read_answers
from .result import Problem
from .sources import LOOKUP, LookupSource

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

Answers = dict[tuple[str, "Id"], LookupAnswer]


def ask(
    plugins: PluginSet, queries: Mapping[str, tuple[LookupSource, Sequence[Id]]], call: Call
) -> Answers:
    """Returns the answers of all sources to the identifiers to ask each of them for.

    Args:
        plugins: of the configuration.
        queries: name of a source → the source and the identifiers to ask it for.
        call: the lookup as a whole.

    Raises:
        Cancelled: the client gave up.
    """
    batches = [
        (source.name, part)
        for source, ids in queries.values()
        for part in _parts(ids, source.spec.batch)
    ]
    questions = [
        Question(name, LOOKUP, {"ids": [identifier.to_json() for identifier in ids]})
        for name, ids in batches
    ]
    answers: Answers = {}
    for (name, ids), reply in zip(batches, ask_all(plugins, questions, call), strict=True):
        for identifier, answer in _read(name, ids, reply).items():
            answers[name, identifier] = answer
    return answers


def _read(source: str, ids: Sequence[Id], reply: Answer) -> dict[Id, LookupAnswer]:
    """Returns one answer for each identifier of a batch; a failure is that of all of them."""
    try:
        if isinstance(reply, CarrelError):
            raise reply
        return read_answers(reply.decode(), ids, source)
    except CarrelError as error:
        return dict.fromkeys(ids, LookupAnswer.failed(Problem.of(error)))


def _parts(ids: Sequence[Id], size: int) -> Iterator[Sequence[Id]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
