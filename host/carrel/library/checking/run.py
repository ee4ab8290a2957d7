"""Checks references of a library, and keeps what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import Cancelled, CarrelError
from carrel.library.errors import LibraryError
from carrel.library.items import custom_of
from carrel.lookup import Lookup
from carrel.lookup.run import MAX_IDS
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.retractions.run import RetractionCheck
from carrel.text.printable import printable
from carrel.tools.host_tool import host_limits

from .drift import drift_finding
from .findings import CheckOutcome, Finding, checked_days_ago, gravest
from .notices import notice_findings
from .versions import version_finding

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.config import Config
    from carrel.exchange import Call, Limits
    from carrel.library.library import Library
    from carrel.lookup.result import LookupItem, LookupResult
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
WALL_SECONDS: Final = 300.0
#: Days after which a reference is checked again.
DAYS: Final = 7


class LibraryChecker:
    """Checks references against all sources that know them. Thread-safe."""

    def __init__(
        self, plugins: PluginSet, config: Config, now: Callable[[], float] = time.time
    ) -> None:
        self._lookup = Lookup(plugins, config)
        self._notices = RetractionCheck(plugins, config)
        self._config = config
        self._now = now

    @property
    def limits(self) -> Limits:
        """The limits of one call."""
        return host_limits(self._config, WALL_SECONDS)

    def run(
        self,
        library: Library,
        items: Sequence[Item],
        call: Call,
        *,
        force: bool = False,
        save: bool = True,
    ) -> list[CheckOutcome]:
        """Checks references, and returns an outcome for each, in their order.

        Args:
            library: has the references.
            items: the references.
            call: its deadline ends the check; references that were not reached are `unknown`.
            force: check also what was checked within a week.
            save: keep the result in `custom.check`.

        Raises:
            LibraryError: the library cannot be written.
            Cancelled: the call was cancelled.
        """
        found: dict[int, CheckOutcome] = {}
        identifiers: dict[int, Id] = {}
        for index, item in enumerate(items):
            skipped = self._skipped(item, force=force)
            identifier = identifier_of(item)
            if skipped is not None:
                found[index] = skipped
            elif identifier is None:
                found[index] = CheckOutcome(
                    str(item["id"]),
                    "skipped",
                    message="it has no DOI, PMID, PMCID or arXiv id to ask for",
                )
            else:
                identifiers[index] = identifier
        indexes = list(identifiers)
        for start in range(0, len(indexes), MAX_IDS):
            part = indexes[start : start + MAX_IDS]
            result = self._lookup.run([_as_text(identifiers[index]) for index in part], call)
            for index, answer in zip(part, result.items, strict=True):
                found[index] = self._check(items[index], identifiers[index], answer, result, call)
                call.progress(len(found), len(items), "checking references")
        if save:
            for index in indexes:
                self._save(library, found[index])
        return [found[index] for index in range(len(items))]

    def _skipped(self, item: Item, *, force: bool) -> CheckOutcome | None:
        days = checked_days_ago(custom_of(item).get("check"), self._now())
        if force or days is None or days >= DAYS:
            return None
        check = custom_of(item)["check"]
        ago = f"{days:.0f} days ago" if days >= 1 else "today"
        return CheckOutcome(
            str(item["id"]),
            "skipped",
            message=f"checked {ago}: {printable(str(check.get('status')), 40)}; force checks again",
        )

    def _check(
        self, item: Item, identifier: Id, answer: LookupItem, result: LookupResult, call: Call
    ) -> CheckOutcome:
        id = str(item["id"])  # noqa: A001
        if answer.work is None:
            why = answer.problem.message if answer.problem is not None else "no source has it"
            return CheckOutcome(id, "unknown", message=printable(f"{identifier.id}: {why}", 500))
        merged = result.works[answer.work]
        findings: list[Finding] = []
        problem = None
        sources = list(merged.sources)
        try:
            retractions = self._notices.run(_as_text(identifier), call)
        except Cancelled:
            raise
        except CarrelError as error:
            problem = f"notices could not be asked for: {error.message}"
        else:
            findings += notice_findings(retractions)
            sources += [
                report.source
                for report in retractions.sources
                if report.outcome in {"states", "silent"}
            ]
            failed = [report.source for report in retractions.sources if report.outcome == "failed"]
            if failed:
                problem = f"no answer from {', '.join(failed)}"
        has_version = any(finding.type == "version_changed" for finding in findings)
        version = None if has_version else version_finding(item, merged)
        drift = drift_finding(item, merged)
        findings += [finding for finding in (version, drift) if finding is not None]
        findings = gravest(findings)
        status = findings[0].type if findings else "unknown" if problem is not None else "ok"
        return CheckOutcome(
            id,
            status,
            tuple(findings),
            None if problem is None else printable(problem, 500),
            tuple(dict.fromkeys(sources)),
        )

    def _save(self, library: Library, outcome: CheckOutcome) -> None:
        try:
            library.update(outcome.id, {"custom": {"check": outcome.block(self._now())}})
        except LibraryError as error:
            if error.library_code != "NOT_FOUND":  # it was removed meanwhile
                raise


def identifier_of(item: Item) -> Id | None:
    """Returns the identifier by which a reference is looked up."""
    candidates = (
        item.get("DOI"),
        f"pmid:{item['PMID']}" if item.get("PMID") else None,
        item.get("PMCID"),
        f"arxiv:{custom_of(item)['arxiv_id']}" if custom_of(item).get("arxiv_id") else None,
    )
    for candidate in candidates:
        try:
            if isinstance(candidate, str | int) and candidate:
                return parse_reference(str(candidate))
        except PaperError:
            continue
    return None


def summary(outcomes: Sequence[CheckOutcome]) -> dict[str, Any]:
    """Returns how many references there were, and how many of each status."""
    counts: dict[str, Any] = {"total": len(outcomes)}
    for outcome in outcomes:
        counts[outcome.status] = counts.get(outcome.status, 0) + 1
    return counts


def _as_text(identifier: Id) -> str:
    return (
        identifier.id
        if identifier.type in {"doi", "pmcid"}
        else f"{identifier.type}:{identifier.id}"
    )
