"""Collects evidence about one citation: a DOI, an address, or a reference as people write it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.papers.resolve import PaperResolver
from carrel.papers.resolve.citation import match_citation
from carrel.papers.retractions.run import RetractionCheck
from carrel.papers.search import PaperSearch, SearchRequest
from carrel.records import Id
from carrel.text.printable import printable
from carrel.web.answers import TRUST, web_failure
from carrel.web.research.academic.paper import described, url_of
from carrel.web.research.academic.providers import provider_of
from carrel.web.research.claims import UNAVAILABLE, cover

from .evidence import Confidence, Evidence
from .notices import status_of

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.reading import PaperReader
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import MergedWork
    from carrel.web.research.pages import Pages

#: Works that a reference is compared with, and the longest query.
_COMPARED: Final = 20
_QUERY: Final = 400
#: Score of a match from which it is of medium confidence, see `carrel.papers.resolve.citation`.
_MEDIUM: Final = 0.75
_DOI_IN_TEXT: Final = re.compile(r"10\.[0-9]{4,9}/[^\s\"'<>]+")
_ADDRESS: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_TRAILING: Final = ".,;:)]}>\"'"


class CitationVerifier:
    """Collects evidence about citations. Thread-safe.

    Args:
        plugins: of the configuration.
        config: the operator's.
        pages: reads addresses; None where no page may be read.
        reader: reads the texts of papers for claims; None where there is none.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        pages: Pages | None = None,
        reader: Callable[[], PaperReader] | None = None,
    ) -> None:
        self._resolver = PaperResolver(plugins, config)
        self._search = PaperSearch(plugins, config)
        self._retractions = RetractionCheck(plugins, config)
        self._pages = pages
        self._reader = reader

    @property
    def resolver(self) -> PaperResolver:
        """Resolves identifiers, many at once."""
        return self._resolver

    @property
    def pages(self) -> Pages | None:
        """Reads pages; None if the configuration grants none."""
        return self._pages

    def verify(self, citation: str, claim: str, call: Call) -> dict[str, Any]:
        """Returns the evidence about one citation, as JSON.

        Raises:
            Cancelled: the call was cancelled.
        """
        text = " ".join(citation.split())
        kind, evidence = self.collect(text, call)
        if claim:
            self.add_claim(evidence, claim, _address_in(text), call)
        payload: dict[str, Any] = {
            "input": printable(citation, 2000),
            "input_type": kind,
            "exists": evidence.exists,
            "verification_status": evidence.status,
            "match_confidence": evidence.confidence,
        }
        if evidence.merged is not None:
            record = described(
                evidence.merged,
                provider_of(evidence.merged.sources[0]),
                evidence.merged.work.open_copies,
            )
            payload["matched_record" if evidence.exists else "possible_match"] = record
        optional = {
            "title_match": evidence.title,
            "retraction_status": evidence.notice,
            "http_status": evidence.http_status,
            "detected_doi": evidence.doi,
            "reason": evidence.reason or None,
        }
        payload |= {name: value for name, value in optional.items() if value is not None}
        if claim:
            payload |= evidence.claim_members(claim)
        else:
            payload |= {
                "claim_check_skipped": True,
                "claim_check_skipped_reason": "no claim was given, so only existence and notices "
                "were checked",
            }
        return {**payload, "provenance": evidence.provenance, "trust": TRUST}

    def collect(self, text: str, call: Call) -> tuple[str, Evidence]:
        """Returns how a citation was read, and the evidence about it without that of a claim."""
        identifier = _identifier(text)
        if identifier is not None:
            kind = "doi" if identifier.type == "doi" else "reference"
            if _ADDRESS.match(text):
                kind = "url"
            return kind, self.of_identifier(identifier, "", call)
        if _ADDRESS.fullmatch(text):
            return "url", self.of_address(text, call)
        doi = _DOI_IN_TEXT.search(text)
        if doi is not None:
            named = _identifier(doi[0].rstrip(_TRAILING))
            if named is not None:
                rest = _ADDRESS.sub(" ", text.replace(doi[0], " "))
                return "doi", self.of_identifier(named, rest, call)
        return "reference", self.of_reference(text, call)

    def of_identifier(self, identifier: Id, text: str, call: Call) -> Evidence:
        """Returns the evidence about a work by its identifier.

        Args:
            identifier: of the work.
            text: that the citation has beside it; it is compared with the work's title.
            call: its deadline and its cancellation.
        """
        evidence = Evidence()
        try:
            found = self._resolver.resolve(identifier.id, call)
        except PaperError as error:
            call.check()
            _unresolved(evidence, error)
            return evidence
        self.add_work(evidence, found.merged, "high")
        evidence.status = "confirmed"
        evidence.compare(text, text)
        self.add_notices(evidence, identifier.id, call)
        return evidence

    def of_reference(self, text: str, call: Call) -> Evidence:
        """Returns the evidence about a work by a reference as people write it."""
        evidence = Evidence()
        result = self._search.run(SearchRequest(query=text[:_QUERY], limit=_COMPARED), call)
        works = [found.merged.work for found in result.works]
        matches = match_citation(text, works)
        answered = [
            outcome.source for outcome in result.sources if outcome.outcome in {"found", "empty"}
        ]
        silent = [
            outcome.source
            for outcome in result.sources
            if outcome.outcome in {"failed", "timeout", "rate_limited"}
        ]
        if answered:
            evidence.provenance.append(f"searched in {', '.join(answered)}")
        if silent:
            evidence.provenance.append(f"no answer from {', '.join(silent)}")
        if not matches:
            sure = bool(answered) and not silent
            evidence.status = "not_found" if sure else "uncertain"
            evidence.reason = (
                "no work was found whose title is in the reference"
                if answered
                else "no source answered"
            )
            return evidence
        best = matches[0]
        alone = best.sure and sum(match.sure for match in matches) == 1
        confidence: Confidence = (
            "high" if alone else "medium" if best.sure or best.score >= _MEDIUM else "low"
        )
        self.add_work(evidence, result.works[best.place].merged, confidence)
        if alone:
            evidence.status = "confirmed"
        else:
            evidence.reason = (
                "several works match the reference"
                if best.sure
                else "a work resembles the reference, but title, author or year differ"
            )
        identifier = next(iter(works[best.place].ids.known()), None)
        if identifier is not None and evidence.status == "confirmed":
            self.add_notices(evidence, identifier.id, call)
        return evidence

    def of_address(self, url: str, call: Call) -> Evidence:
        """Returns the evidence about a page, and about the work that it declares to be."""
        evidence = Evidence()
        if self._pages is None:
            evidence.reason = 'no page may be read; to allow it: web.hosts = "public-web"'
            return evidence
        try:
            page = self._pages.read(url, call)
        except CarrelError as error:
            call.check()
            failure = web_failure(error)
            status = error.details().get("status")
            evidence.http_status = status if isinstance(status, int) else None
            evidence.live = False if failure.kind == "not_found" else None
            evidence.status = "not_found" if failure.kind == "not_found" else "uncertain"
            evidence.reason = failure.message
            evidence.provenance.append(f"{failure.kind}: {failure.message}")
            return evidence
        evidence.status, evidence.confidence = "confirmed", "high"
        evidence.http_status, evidence.live = 200, True
        evidence.provenance.append(f"the page was read: {page.url}")
        if page.doi is not None:
            evidence.doi = page.doi
            named = _identifier(page.doi)
            if named is not None:
                self._add_declared(evidence, named, page.title, call)
        return evidence

    def _add_declared(self, evidence: Evidence, named: Id, title: str, call: Call) -> None:
        """Adds the work whose DOI a page declares. That it cannot be found leaves the page."""
        work = self.of_identifier(named, title, call)
        evidence.provenance += work.provenance
        if work.merged is None:
            evidence.provenance.append(f"the page declares {named.id}: {work.reason}")
            return
        evidence.merged, evidence.title, evidence.notice = work.merged, work.title, work.notice

    def add_work(self, evidence: Evidence, merged: MergedWork, confidence: Confidence) -> None:
        """Adds a work, and who has it."""
        evidence.merged, evidence.confidence = merged, confidence
        evidence.provenance.append(f"record from {', '.join(merged.sources)}")

    def add_notices(self, evidence: Evidence, reference: str, call: Call) -> None:
        """Adds what became of a work. Silence of a source that failed is reported as none."""
        try:
            found = self._retractions.run(reference, call)
        except CarrelError as error:
            call.check()
            evidence.provenance.append(f"notices: not checked: {printable(error.message, 200)}")
            return
        evidence.notice = status_of(found)
        evidence.provenance.append(f"notices: {found.summary}")

    def add_claim(self, evidence: Evidence, claim: str, url: str | None, call: Call) -> None:
        """Adds how much of a claim the source speaks about: its text, else its abstract."""
        evidence.claim = UNAVAILABLE
        work = evidence.merged.work if evidence.merged is not None and evidence.exists else None
        text, address = self._source_text(evidence, url, call)
        if not text and work is not None and work.abstract:
            text, address = f"{work.title or ''}. {work.abstract}", url_of(work)
            evidence.provenance.append("the claim was compared with the abstract only")
        if text:
            evidence.claim, evidence.claim_url = cover(claim, text), address

    def _source_text(
        self, evidence: Evidence, url: str | None, call: Call
    ) -> tuple[str, str | None]:
        """Returns the text of a citation's source and its address; empty if there is none."""
        if url is not None and self._pages is not None and evidence.live is not False:
            try:
                page = self._pages.read(url, call)
            except CarrelError as error:
                call.check()
                evidence.provenance.append(f"claim: {printable(error.message, 200)}")
            else:
                return page.text, page.url
        merged = evidence.merged if evidence.exists else None
        identifier = next(iter(merged.work.ids.known()), None) if merged is not None else None
        if identifier is not None and self._reader is not None:
            try:
                read = self._reader().read(identifier.id, call)
            except CarrelError as error:
                call.check()
                evidence.provenance.append(f"claim: {printable(error.message, 200)}")
            else:
                return read.text, read.url
        return "", None


def _unresolved(evidence: Evidence, error: PaperError) -> None:
    evidence.status = "not_found" if error.paper_code == "NOT_FOUND" else "uncertain"
    evidence.reason = printable(error.message, 500)
    consulted = [str(attempt["source"]) for attempt in error.attempts if attempt.get("consulted")]
    if consulted:
        evidence.provenance.append(f"asked {', '.join(dict.fromkeys(consulted))}: no record")


def _identifier(text: str) -> Id | None:
    try:
        return parse_reference(text)
    except PaperError:
        return None


def _address_in(text: str) -> str | None:
    """Returns the address in a citation that is no identifier's."""
    found = _ADDRESS.search(text)
    if found is None:
        return None
    url = found[0].rstrip(_TRAILING)
    return None if _identifier(url) is not None else url
