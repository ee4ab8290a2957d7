"""Defines what is known of one citation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.web.research.claims import Coverage

from .titles import compare_title, other_year

if TYPE_CHECKING:
    from carrel.records import MergedWork

Status = Literal["confirmed", "uncertain", "not_found"]
STATUSES: Final[tuple[Status, ...]] = ("confirmed", "uncertain", "not_found")
Confidence = Literal["high", "medium", "low", "none"]
CONFIDENCES: Final[tuple[Confidence, ...]] = ("high", "medium", "low", "none")
INPUT_TYPES: Final = ("doi", "url", "reference")


@dataclass(slots=True)
class Evidence:
    """The evidence for one citation.

    Attributes:
        status: confirmed: a source has the work, or the address leads to a page; not_found: every
            source that was asked has answered that it has none; uncertain: all else.
        confidence: that the work is the cited one.
        merged: the cited work, or a possible one if the status is uncertain.
        title: whether the text of the citation names the work's title.
        notice: what became of the work, see `notices`; None without notices.
        http_status: of an address; None if it was not asked, or did not answer.
        live: whether the address leads to something; None if that is not known.
        doi: that a page declares.
        claim: how much of the claim the source speaks about; None without a claim.
        claim_url: the address that was read for the claim.
        provenance: who said what, one line each.
        reason: why the status is not `confirmed`, or what of the citation differs.
    """

    status: Status = "uncertain"
    confidence: Confidence = "none"
    merged: MergedWork | None = None
    title: str | None = None
    notice: dict[str, Any] | None = None
    http_status: int | None = None
    live: bool | None = None
    doi: str | None = None
    claim: Coverage | None = None
    claim_url: str | None = None
    provenance: list[str] = field(default_factory=list)
    reason: str = ""

    @property
    def exists(self) -> bool:
        """Whether something answers to the citation with high confidence."""
        return self.status == "confirmed"

    def compare(self, title: str, year: str) -> None:
        """Compares texts of the citation with the work that its identifier names.

        An identifier of another work is a work that exists, and not the cited one.

        Args:
            title: text that may have the title.
            year: text that may have the year.
        """
        if self.merged is None:
            return
        work = self.merged.work
        if title:
            self.title = compare_title(title, work)
        differs = other_year(year, work)
        if self.title == "mismatch":
            self.confidence = "low"
            named = f"the identifier is that of another title: {work.title}"
            differs = f"{named}; {differs}" if differs else named
        if differs:
            self.reason = differs
            self.provenance.append(differs)

    def claim_members(self, claim: str) -> dict[str, Any]:
        """Returns the members about a claim."""
        if self.claim is None:
            return {}
        members: dict[str, Any] = {"claim": claim, "claim_support": self.claim.support}
        if self.claim.sentences:
            members["claim_evidence"] = list(self.claim.sentences)
        if self.claim_url is not None:
            members["claim_source_url"] = self.claim_url
        if self.claim.contrast:
            members["contrast_signal"] = True
        return members
