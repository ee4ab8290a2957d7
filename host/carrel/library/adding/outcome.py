"""Defines the outcome of one input: added, skipped or failed, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from carrel.errors import CarrelError
from carrel.text.printable import printable

Status = Literal["added", "skipped", "failed"]
Reason = Literal[
    "duplicate", "not_found", "fetch_error", "parse_error", "validation_error", "unknown"
]
STATUSES: Final = ("added", "skipped", "failed")
REASONS: Final = (
    "duplicate", "not_found", "fetch_error", "parse_error", "validation_error", "unknown"
)  # fmt: skip

#: Code of `contract/v1/errors.json` → the reason of a failed input.
_REASONS: Final[dict[str, Reason]] = {
    "not_found": "not_found",
    "invalid_document": "parse_error",
    "upstream_invalid": "parse_error",
    "contract_violation": "parse_error",
    "invalid_arguments": "validation_error",
    "denied": "validation_error",
    "too_large": "validation_error",
    "rate_limited": "fetch_error",
    "busy": "fetch_error",
    "timeout": "fetch_error",
    "upstream_error": "fetch_error",
    "upstream_unavailable": "fetch_error",
    "not_recorded": "fetch_error",
    "plugin_unavailable": "fetch_error",
}


@dataclass(frozen=True, slots=True)
class InputOutcome:
    """The outcome of adding one input, or one entry of a bibliography.

    Attributes:
        source: the input, shortened; of an entry its key or place.
        status: added, skipped or failed.
        kind: what the input was taken for.
        id: of the reference that was added.
        title: of the reference, if it is known.
        reason: why it was not added.
        existing_id: of the reference that is there already.
        duplicate_type: the identifier that both have, or title.
        message: what is wrong and what to do, of a failed input.
    """

    source: str
    status: Status
    kind: str
    id: str | None = None
    title: str | None = None
    reason: Reason | None = None
    existing_id: str | None = None
    duplicate_type: str | None = None
    message: str | None = None

    @classmethod
    def failed(cls, source: str, kind: str, reason: Reason, message: str) -> InputOutcome:
        """Returns the outcome of an input that could not be read or found."""
        shown = printable(message, 500)
        return cls(source, "failed", kind, reason=reason, message=shown)

    @classmethod
    def of_error(cls, source: str, kind: str, error: CarrelError) -> InputOutcome:
        """Returns the outcome of an input whose reading or resolution raised an error."""
        reason = _REASONS.get(error.error_code, "unknown")
        return cls.failed(source, kind, reason, error.message)

    def to_json(self) -> dict[str, Any]:
        """Returns the members that are known."""
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in members.items() if value is not None}


def summary(outcomes: Sequence[InputOutcome]) -> dict[str, int]:
    """Returns how many inputs there were, and how many of each status."""
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in STATUSES}
    return {"total": len(outcomes), **counts}
