"""Keeps what became of each attempt to get a paper's text, and the error when none succeeded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from carrel.errors import CarrelError
from carrel.files.local_paths import without_paths
from carrel.papers.envelope import ATTEMPTS, Schema
from carrel.papers.errors import PaperCode, PaperError
from carrel.papers.resolve.attempts import attempt
from carrel.text.printable import printable

from .forms import STORE

#: Code of `contract/v1/errors.json` → the closed code, of failures after which a text may be there
#: all the same.
_TRANSIENT: Final[Mapping[str, PaperCode]] = {
    "rate_limited": "RATE_LIMITED",
    "busy": "RATE_LIMITED",
    "timeout": "FETCH_TIMEOUT",
    "upstream_unavailable": "NETWORK_ERROR",
    "upstream_error": "NETWORK_ERROR",
    "not_recorded": "NETWORK_ERROR",
}
#: Characters of a detail.
_DETAIL: Final = 300

#: The schema of attempts; those at a copy have its form and its address.
READ_ATTEMPTS: Final[Schema] = {
    "type": "array",
    "items": {
        **ATTEMPTS["items"],
        "properties": {
            **ATTEMPTS["items"]["properties"],
            "form": {"type": "string"},
            "url": {"type": "string"},
        },
    },
}


class Trace:
    """The attempts of one reading.

    Attributes:
        attempts: as JSON, in the order in which they were made.
    """

    def __init__(self) -> None:
        self.attempts: list[dict[str, Any]] = []
        self._transient: set[PaperCode] = set()

    def add(
        self, source: str, outcome: str, detail: str | None = None, *, code: str = "", **more: str
    ) -> None:
        """Adds an attempt.

        Args:
            source: the plugin, or `store`.
            outcome: one of `ATTEMPT_OUTCOMES`.
            detail: why, for a person.
            code: of `contract/v1/errors.json`, of a failure.
            **more: `form` and `url` of a copy.
        """
        shown = None if detail is None else printable(detail, _DETAIL)
        self.attempts.append({**attempt(source, outcome, shown), **more})
        if code in _TRANSIENT:
            self._transient.add(_TRANSIENT[code])

    def add_failure(self, source: str, error: CarrelError, **more: str) -> None:
        """Adds an attempt that ended with an error."""
        message = without_paths(error.message, error.paths)
        self.add(source, "consulted_failed", message, code=error.error_code, **more)

    def add_unresolved(self, attempts: Iterable[Mapping[str, Any]], code: PaperCode | None) -> None:
        """Adds those attempts to resolve the reference that failed.

        Args:
            attempts: of the resolver.
            code: the closed code of the whole failure; None if the reference was resolved.
        """
        self.attempts += [
            dict(entry) for entry in attempts if entry["outcome"] == "consulted_failed"
        ]
        if code in _TRANSIENT.values():
            assert code is not None, "None is no code"
            self._transient.add(code)

    def no_text(self, reference: str) -> PaperError:
        """Returns the error of a reading without a text.

        TEXT_UNAVAILABLE only if no attempt failed in a way that may be different later.
        """
        shown = printable(reference, 80)
        tried = [
            f"{entry['source']}: {entry.get('form', 'full text')}: "
            f"{entry.get('detail', entry['outcome'])}"
            for entry in self.attempts
            if entry["consulted"] and entry["outcome"] != "consulted_resolved"
        ]
        reasons = "; ".join(tried[:8]) or "no source that is on has a full text of it"
        if len(tried) > 8:
            reasons += f"; and {len(tried) - 8} more, see attempts"
        for code in ("RATE_LIMITED", "FETCH_TIMEOUT", "NETWORK_ERROR"):
            if self._transient == {code} or (code == "NETWORK_ERROR" and self._transient):
                message = f"the text of {shown} could not be fetched, try again later: {reasons}"
                return PaperError(code, message, attempts=self.attempts)
        message = f"no text of {shown} could be read: {reasons}{_hint(self.attempts)}"
        return PaperError("TEXT_UNAVAILABLE", message, attempts=self.attempts)


def _hint(attempts: Iterable[Mapping[str, Any]]) -> str:
    """Returns what may help where no PDF is stored."""
    if any(entry.get("form") == "pdf" and entry["source"] == STORE for entry in attempts):
        return ""
    return "; a free PDF that paper_fetch stores is read too"
