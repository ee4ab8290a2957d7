"""Defines the error of a bibliography that cannot be read or written at all.

One entry that cannot be read is no error: it is an `Unread` of the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from carrel.errors import CODES, CarrelError

BibliographyCode = Literal["TOO_LARGE", "NOT_TEXT", "UNKNOWN_FORMAT", "MALFORMED"]

#: code → the code of `contract/v1/errors.json` that it is for the rest of Carrel.
BIBLIOGRAPHY_CODES: Final[Mapping[BibliographyCode, str]] = {
    "TOO_LARGE": "too_large",
    "NOT_TEXT": "invalid_document",
    "UNKNOWN_FORMAT": "invalid_document",
    "MALFORMED": "invalid_document",
}


class BibliographyError(CarrelError):
    """A bibliography that cannot be read or written.

    Attributes:
        bibliography_code: one of `BIBLIOGRAPHY_CODES`.
        message: what is wrong, where, and what to do.
    """

    def __init__(self, bibliography_code: BibliographyCode, message: str) -> None:
        self.bibliography_code: BibliographyCode = bibliography_code
        super().__init__(message)

    @property
    def error_code(self) -> str:
        """The code of `contract/v1/errors.json`."""
        return BIBLIOGRAPHY_CODES[self.bibliography_code]

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return CODES[self.error_code][0]
