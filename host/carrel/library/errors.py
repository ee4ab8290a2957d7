"""Defines the closed error codes of the library, and the exception that carries one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from carrel.errors import ACTIONS, CODES, CarrelError

LibraryCode = Literal[
    "NOT_FOUND", "DUPLICATE", "CONFLICT", "INVALID", "READ_ERROR", "WRITE_ERROR", "LOCK_TIMEOUT"
]

#: code → the code of `contract/v1/errors.json` that it is for the rest of Carrel.
LIBRARY_CODES: Final[Mapping[LibraryCode, str]] = {
    "NOT_FOUND": "not_found",
    "DUPLICATE": "invalid_arguments",
    "CONFLICT": "invalid_arguments",
    "INVALID": "invalid_arguments",
    "READ_ERROR": "storage",
    "WRITE_ERROR": "storage",
    "LOCK_TIMEOUT": "busy",
}

#: code → exit code of the command line; 1 for the others.
_EXITS: Final[Mapping[LibraryCode, int]] = {
    "CONFLICT": 2,
    "INVALID": 2,
    "READ_ERROR": 4,
    "WRITE_ERROR": 4,
    "LOCK_TIMEOUT": 4,
}


class LibraryError(CarrelError):
    """A failure with one of the closed codes of the library.

    Attributes:
        library_code: one of `LIBRARY_CODES`.
        conflicts: for `CONFLICT`, each member that was changed on both sides: `id`, `member`, and
            the values `base`, `mine` and `theirs`; None is a member that is not there.
        position: for a query or a file that cannot be read, where: `offset` into the query, or
            `line` and `column` of the file, from 1.
    """

    def __init__(
        self,
        library_code: LibraryCode,
        message: str,
        *,
        advice: str = "",
        conflicts: tuple[Mapping[str, Any], ...] = (),
        position: Mapping[str, int] | None = None,
        path: str = "",
    ) -> None:
        self.library_code: LibraryCode = library_code
        self.conflicts = tuple(dict(conflict) for conflict in conflicts)
        self.position = None if position is None else dict(position)
        self._advice = advice
        self._path = path
        super().__init__(message)

    @property
    def error_code(self) -> str:
        """The code of `contract/v1/errors.json`."""
        return LIBRARY_CODES[self.library_code]

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return CODES[self.error_code][0]

    @property
    def advice(self) -> str:
        """What to do, in words."""
        return self._advice or ACTIONS[self.action]

    @property
    def paths(self) -> tuple[str, ...]:
        """The library file, if the message names it."""
        return (self._path,) if self._path else ()

    def details(self) -> dict[str, Any]:
        """Adds the code of the library, conflicts and the position."""
        details: dict[str, Any] = {"library_code": self.library_code}
        if self.conflicts:
            details["conflicts"] = list(self.conflicts)
        if self.position is not None:
            details["position"] = self.position
        return details


def exit_code_of(code: LibraryCode) -> int:
    """Returns the exit code of the command line for a failure with `code`."""
    return _EXITS.get(code, 1)
