"""Validates what a plugin's `lookup` returned: one answer for each requested identifier.

An invalid record affects only its identifier; an invalid envelope affects the batch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from carrel.contract import contract_file
from carrel.errors import ContractViolation
from carrel.plugins.calls.report import PLUGIN_CODES
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.records import Id, RawResult, Work, checked_work
from carrel.text.json_text import decode_object
from carrel.text.printable import printable

from .result import Outcome, Problem
from .sources import LOOKUP


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """One source's answer for one identifier: a work, no work, or a problem."""

    outcome: Outcome
    work: Work | None = None
    problem: Problem | None = None

    @classmethod
    def failed(cls, problem: Problem) -> LookupAnswer:
        """Returns the answer of a source that failed."""
        return cls("failed", problem=problem)


def read_answers(text: str, ids: Sequence[Id], plugin: str) -> dict[Id, LookupAnswer]:
    """Returns the answers in `text`, one for each identifier in `ids`.

    The source of a record is the plugin's name in the configuration, whatever the record says: a
    plugin cannot answer for another source.

    Raises:
        ContractViolation: the text is not what `contract/v1/lookup.schema.json` describes.
    """
    raw = decode_object(text, plugin=plugin, tool=LOOKUP)
    faults = validation_faults(_validator(), raw)
    if faults:
        raise ContractViolation(
            f"{plugin}: {LOOKUP} returned what the contract refuses: {'; '.join(faults[:5])}",
            plugin=plugin,
            tool=LOOKUP,
        )
    answers: dict[Id, LookupAnswer] = {}
    requested = set(ids)
    for item in raw["works"]:
        identifier = _id(item["id"])
        if identifier in requested and identifier not in answers:  # others are not even read
            answers[identifier] = _found(item["work"], plugin)
    for item in raw["not_found"]:
        answers.setdefault(_id(item), LookupAnswer("not_found"))
    for item in raw.get("failed", ()):
        answers.setdefault(_id(item["id"]), _failed(item, plugin))
    silent = LookupAnswer.failed(
        Problem("contract_violation", f"{plugin}: {LOOKUP} did not answer about this identifier")
    )
    return {identifier: answers.get(identifier, silent) for identifier in ids}


def _id(raw: Mapping[str, str]) -> Id:
    return Id(raw["type"], raw["id"])  # type: ignore[arg-type]  # the schema lists the kinds


def _found(raw: dict[str, Any], plugin: str) -> LookupAnswer:
    try:
        work = checked_work(RawResult(raw), plugin=plugin, tool=LOOKUP)
    except ContractViolation as violation:
        return LookupAnswer.failed(Problem.of(violation))
    return LookupAnswer("found", work=replace(work, source=plugin))


def _failed(raw: Mapping[str, Any], plugin: str) -> LookupAnswer:
    if raw["code"] not in PLUGIN_CODES:
        message = f"{plugin}: {LOOKUP} reported an unknown code {printable(raw['code'], 60)!r}"
        return LookupAnswer.failed(Problem("contract_violation", message))
    message = printable(raw["message"], 500)
    return LookupAnswer.failed(Problem(raw["code"], message, raw.get("retry_after_seconds")))


@lru_cache(maxsize=1)
def _validator() -> Any:
    return compile_schema(json.loads(contract_file("lookup.schema.json").read_text("utf-8")))
