"""Defines the closed error codes of papers, and the exception that carries one.

The codes and their meanings are those of the tools for papers: an error envelope has the code, an
exit code of the command line is derived from it, and the rest of Carrel sees a code of
`contract/v1/errors.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from carrel.errors import CODES, CarrelError

PaperCode = Literal[
    "INVALID_REF",
    "NO_OA_AVAILABLE",
    "RATE_LIMITED",
    "NETWORK_ERROR",
    "NOT_FOUND",
    "AMBIGUOUS",
    "STORE_ERROR",
    "LOG_ERROR",
    "CAPABILITY_DENIED",
    "FETCH_TIMEOUT",
    "SCHEMA_TOO_NEW",
    "LOCK_TIMEOUT",
    "INTERNAL_ERROR",
    "NOT_IMPLEMENTED",
    "TEXT_UNAVAILABLE",
]

#: code → the code of `contract/v1/errors.json` that it is for the rest of Carrel.
PAPER_CODES: Final[Mapping[PaperCode, str]] = {
    "INVALID_REF": "invalid_arguments",
    "NO_OA_AVAILABLE": "not_found",
    "RATE_LIMITED": "rate_limited",
    "NETWORK_ERROR": "upstream_unavailable",
    "NOT_FOUND": "not_found",
    "AMBIGUOUS": "invalid_arguments",
    "STORE_ERROR": "storage",
    "LOG_ERROR": "storage",
    "CAPABILITY_DENIED": "denied",
    "FETCH_TIMEOUT": "timeout",
    "SCHEMA_TOO_NEW": "storage",
    "LOCK_TIMEOUT": "busy",
    "INTERNAL_ERROR": "internal",
    "NOT_IMPLEMENTED": "internal",
    "TEXT_UNAVAILABLE": "not_found",
}

#: code → exit code of the command line; 1 for the others.
_EXITS: Final[Mapping[PaperCode, int]] = {
    "INVALID_REF": 2,
    "AMBIGUOUS": 2,
    "CAPABILITY_DENIED": 3,
    "STORE_ERROR": 4,
    "LOG_ERROR": 4,
    "SCHEMA_TOO_NEW": 4,
    "LOCK_TIMEOUT": 4,
    "FETCH_TIMEOUT": 124,
}


class PaperError(CarrelError):
    """A failure with one of the closed codes of papers.

    Attributes:
        paper_code: one of `PAPER_CODES`.
        denial: the `denial_context` of a request that policy refused; None for other errors.
        attempts: what each source was asked and answered, as JSON; none without sources.
        remediation: settings that would permit what policy refused, as JSON.
    """

    def __init__(
        self,
        paper_code: PaperCode,
        message: str,
        *,
        denial: Mapping[str, Any] | None = None,
        attempts: Sequence[Mapping[str, Any]] = (),
        remediation: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.paper_code: PaperCode = paper_code
        self.denial = None if denial is None else dict(denial)
        self.attempts = [dict(attempt) for attempt in attempts]
        self.remediation = [dict(setting) for setting in remediation]
        super().__init__(message)

    @property
    def error_code(self) -> str:
        """The code of `contract/v1/errors.json`."""
        return PAPER_CODES[self.paper_code]

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return CODES[self.error_code][0]

    def details(self) -> dict[str, Any]:
        """Adds the code of papers, and the denial."""
        details: dict[str, Any] = {"paper_code": self.paper_code}
        return details if self.denial is None else {**details, "denial_context": self.denial}


def exit_code_of(code: PaperCode) -> int:
    """Returns the exit code of the command line for a failure with `code`."""
    return _EXITS.get(code, 1)
