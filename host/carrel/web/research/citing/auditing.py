"""Audits a bibliography: every entry is looked up, and its address and its notices are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.papers.errors import PaperError
from carrel.papers.resolve import Resolution
from carrel.text.printable import printable
from carrel.web.answers import TRUST
from carrel.web.research.side_by_side import side_by_side

from .evidence import Evidence
from .notices import status_in_record

if TYPE_CHECKING:
    from carrel.exchange import Call

    from .entries import AuditEntry
    from .verifying import CitationVerifier

#: Entries of one audit; further ones are counted, and never dropped in silence.
MAX_ENTRIES: Final = 200
FLAGS: Final = ("retracted", "dead_link", "not_found", "unchecked", "mischaracterized")
#: Flag → its count in the summary.
_COUNTS: Final[Mapping[str, str]] = {
    "retracted": "retracted",
    "dead_link": "dead_link",
    "not_found": "not_found",
    "unchecked": "unchecked",
    "mischaracterized": "mischaracterized",
}
#: Entries that are checked at the same time, and seconds for one.
_AT_ONCE: Final = 5
_ENTRY_SECONDS: Final = 60.0


def audit(
    entries: Sequence[AuditEntry], origin: str, verifier: CitationVerifier, call: Call
) -> dict[str, Any]:
    """Returns the evidence about every entry, and counts of the flags.

    Identifiers are looked up together. An entry that could not be checked is `unchecked`, which is
    no evidence against it; `not_found` is only reported for an identifier that no source has.

    Args:
        entries: of the bibliography.
        origin: where they are from.
        verifier: collects the evidence.
        call: its deadline and its cancellation.

    Raises:
        Cancelled: the call was cancelled.
    """
    chosen = list(entries[:MAX_ENTRIES])
    keys = list(dict.fromkeys(entry.key for entry in chosen if entry.key))
    resolved = verifier.resolver.resolve_known(keys, call) if keys else {}
    checked = side_by_side(
        chosen,
        lambda entry, part: _checked(entry, resolved, verifier, part),
        call,
        most=_AT_ONCE,
        seconds=_ENTRY_SECONDS,
    )
    rows = []
    for number, (entry, evidence) in enumerate(zip(chosen, checked, strict=True)):
        if isinstance(evidence, CarrelError):
            reason = f"it was not checked: {printable(evidence.message, 200)}"
            evidence = Evidence(reason=reason)  # noqa: PLW2901 - what is known of the entry
        rows.append(_to_json(number, entry, evidence))
    counts = dict.fromkeys(_COUNTS.values(), 0)
    for row in rows:
        for flag in row["flags"]:
            counts[_COUNTS[flag]] += 1
    sound = sum(not row["flags"] and row.get("title_match") != "mismatch" for row in rows)
    summary = {"total": len(rows), **counts, "ok": sound}
    result: dict[str, Any] = {
        "source": origin,
        "entry_count": len(rows),
        "summary": summary,
        "entries": rows,
        "checked_at": datetime.now(tz=UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "trust": TRUST,
    }
    if len(entries) > MAX_ENTRIES:
        skipped = len(entries) - MAX_ENTRIES
        result["skipped"] = skipped
        result["skipped_note"] = (
            f"only the first {MAX_ENTRIES} entries were audited; audit the other {skipped} in "
            "another call"
        )
    return result


def _checked(
    entry: AuditEntry,
    resolved: Mapping[str, Resolution | PaperError],
    verifier: CitationVerifier,
    call: Call,
) -> Evidence:
    evidence = _looked_up(entry, resolved, verifier, call)
    if entry.url and verifier.pages is not None:
        state = verifier.pages.check(entry.url, call)
        evidence.live, evidence.http_status = state.live, state.status
        if state.live and evidence.status == "uncertain" and evidence.merged is None:
            evidence.status, evidence.confidence = "confirmed", "medium"
            evidence.provenance.append(f"the page answers: {entry.url}")
        elif state.reason and not evidence.reason:
            evidence.reason = printable(state.reason, 300)
    if entry.claim:
        verifier.add_claim(evidence, entry.claim, entry.url or None, call)
    return evidence


def _looked_up(
    entry: AuditEntry,
    resolved: Mapping[str, Resolution | PaperError],
    verifier: CitationVerifier,
    call: Call,
) -> Evidence:
    """Returns the evidence by the identifier, else by the title."""
    evidence = Evidence()
    if entry.identifier is not None:
        found = resolved.get(entry.key)
        is_book = entry.identifier.type == "isbn"
        if is_book and entry.title and not isinstance(found, Resolution):
            return _searched(entry, verifier, call)
        if found is None or isinstance(found, PaperError):
            # No source has all books.
            missing = found is not None and found.paper_code == "NOT_FOUND" and not is_book
            evidence.status = "not_found" if missing else "uncertain"
            evidence.reason = "it was not looked up" if found is None else found.message
            return evidence
        verifier.add_work(evidence, found.merged, "high")
        evidence.status = "confirmed"
        evidence.compare(entry.title, entry.year)
        evidence.notice = status_in_record(found.merged.work)
        if evidence.notice is None and not is_book:
            verifier.add_notices(evidence, entry.identifier.id, call)
        return evidence
    if entry.title:
        return _searched(entry, verifier, call)
    evidence.reason = entry.fault or "it has neither an identifier nor a title"
    return evidence


def _searched(entry: AuditEntry, verifier: CitationVerifier, call: Call) -> Evidence:
    """Returns the evidence by the title."""
    evidence = verifier.of_reference(entry.reference, call)
    if evidence.status == "not_found":
        # A search that finds nothing proves nothing: books and reports are in no index.
        evidence.status = "uncertain"
    return evidence


def _to_json(number: int, entry: AuditEntry, evidence: Evidence) -> dict[str, Any]:
    flags = []
    if evidence.notice is not None and evidence.notice["retracted"]:
        flags.append("retracted")
    if evidence.live is False:
        flags.append("dead_link")
    if evidence.status == "not_found":
        flags.append("not_found")
    elif not evidence.exists and evidence.live is not False:
        flags.append("unchecked")
    if evidence.claim is not None and evidence.claim.support == "not_addressed":
        flags.append("mischaracterized")
    row: dict[str, Any] = {"index": number, "flags": flags}
    optional: dict[str, Any] = {
        "title": printable(entry.title, 300) or None,
        "doi": entry.identifier.id if entry.identifier and entry.identifier.type == "doi" else None,
        "url": entry.url or None,
        "exists": _existence(evidence),
        "title_match": evidence.title,
        "retraction_status": evidence.notice,
        "link_live": evidence.live,
        "http_status": evidence.http_status,
        "reason": printable(evidence.reason, 500) or None,
    }
    row |= {name: value for name, value in optional.items() if value is not None}
    return row | evidence.claim_members(printable(entry.claim, 2000))


def _existence(evidence: Evidence) -> bool | None:
    """Returns whether it exists; None if that was not found out."""
    if evidence.exists:
        return True
    return False if evidence.status == "not_found" else None
