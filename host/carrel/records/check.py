"""Validates a plugin's raw JSON and converts it to a `Work`."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NewType

from carrel.contract import contract_file
from carrel.errors import ContractViolation
from carrel.text.printable import printable

from .work import Work

if TYPE_CHECKING:
    import jsonschema_rs

#: A record from a plugin: decoded, but not validated.
RawResult = NewType("RawResult", dict[str, Any])

_MAX_FAULTS = 5


def work_faults(raw: RawResult) -> list[str]:
    """Returns the faults of a record with their places; empty if it conforms to the schema."""
    validator = _validator()
    if validator.is_valid(raw):
        return []
    faults = []
    for error in validator.iter_errors(raw):
        path = ".".join(str(part) for part in error.instance_path)
        message = printable(error.message, 200)
        faults.append(f"{path}: {message}" if path else message)
        if len(faults) == _MAX_FAULTS:
            break
    return faults


def checked_work(raw: RawResult, *, plugin: str, tool: str) -> Work:
    """Returns the record in `raw`.

    Raises:
        ContractViolation: it does not conform to `contract/v1/record.schema.json`.
    """
    faults = work_faults(raw)
    if faults:
        raise ContractViolation(
            f"{plugin}: {tool} returned a record that the contract refuses: {'; '.join(faults)}",
            plugin=plugin,
            tool=tool,
        )
    return Work.from_json(raw)


@lru_cache(maxsize=1)
def _validator() -> jsonschema_rs.Validator:
    import jsonschema_rs

    schema = json.loads(contract_file("record.schema.json").read_text("utf-8"))
    return jsonschema_rs.validator_for(
        schema,
        validate_formats=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=2**20),
        offline=True,
    )
