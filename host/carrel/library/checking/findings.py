"""Defines what a check finds, and the block `custom.check` that keeps it.

The types are reference-manager's, and `corrected`. A reference has the status of its gravest
finding; `unknown` says that a source did not answer, and `ok` is what all sources that were asked
amount to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

FindingType = Literal[
    "retracted",
    "concern",
    "metadata_mismatch",
    "version_changed",
    "corrected",
    "metadata_outdated",
]
#: The gravest first.
FINDING_TYPES: Final[tuple[FindingType, ...]] = (
    "retracted",
    "concern",
    "metadata_mismatch",
    "version_changed",
    "corrected",
    "metadata_outdated",
)
STATUSES: Final = (*FINDING_TYPES, "ok", "unknown", "skipped")

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Attributes:
        type: what it is.
        message: one line for a person.
        sources: who says so.
        details: such as `retraction_doi`, `new_doi` or `fields`.
    """

    type: FindingType
    message: str
    sources: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns the finding as JSON."""
        fields: dict[str, Any] = {"type": self.type, "message": self.message}
        if self.sources:
            fields["sources"] = list(self.sources)
        if self.details:
            fields["details"] = dict(self.details)
        return fields


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of checking one reference.

    Attributes:
        id: of the reference.
        status: of the gravest finding; ok, unknown or skipped without any.
        findings: the gravest first.
        message: why it was skipped, or what is not known.
        sources: that were asked and answered.
    """

    id: str
    status: str
    findings: tuple[Finding, ...] = ()
    message: str | None = None
    sources: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the outcome as JSON."""
        fields: dict[str, Any] = {"id": self.id, "status": self.status}
        if self.findings:
            fields["findings"] = [finding.to_json() for finding in self.findings]
        if self.message is not None:
            fields["message"] = self.message
        if self.sources:
            fields["sources"] = list(self.sources)
        return fields

    def block(self, now: float) -> dict[str, Any]:
        """Returns the block `custom.check`."""
        block: dict[str, Any] = {
            "checked_at": iso(now),
            "status": self.status,
            "findings": [finding.to_json() for finding in self.findings],
        }
        if self.sources:
            block["sources"] = list(self.sources)
        return block


def gravest(findings: Sequence[Finding]) -> list[Finding]:
    """Returns the findings, the gravest first."""
    return sorted(findings, key=lambda finding: FINDING_TYPES.index(finding.type))


def iso(moment: float) -> str:
    """Returns a time as the library file writes it."""
    return (
        datetime.fromtimestamp(moment, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def checked_days_ago(check: object, now: float) -> float | None:
    """Returns the days since a check; None before the first, or if its time cannot be read.

    An unfinished check (`unknown`) is none.
    """
    if not isinstance(check, Mapping) or check.get("status") == "unknown":
        return None
    try:
        moment = datetime.fromisoformat(str(check.get("checked_at")))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (now - moment.timestamp()) / _DAY
