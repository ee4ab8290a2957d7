"""Parses references to papers in the forms in which people and pages write them.

Beyond the identifiers and URLs that `carrel.records.parse_id` reads: labels with a space (`PMID
31452104`), brackets and quotes around a reference, URLs without scheme, percent-encoded DOIs, and
further pages of arXiv, PubMed, PubMed Central and Europe PMC. Nothing is asked of any source, and
nothing is guessed: a text around a reference is no part of one.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from carrel.records import Id, IdFault, parse_id
from carrel.records.ids import MAX_LENGTH

from .errors import PaperError

#: What encloses a reference in a text: `<https://doi.org/…>`.
_ENCLOSED: Final = {"<": ">", '"': '"', "'": "'", "“": "”", "[": "]", "{": "}"}
_LABEL = re.compile(r"(doi|arxiv|pmid|pmcid|pmc id|pubmed id)\s*[:=]?\s+", re.IGNORECASE)
_LABELS: Final = {"pmc id": "pmcid", "pubmed id": "pmid"}
_SCHEMELESS = re.compile(
    r"(?:(?:dx\.|www\.)?doi\.org|doi\.acm\.org|hdl\.handle\.net|(?:[a-z0-9-]+\.)*arxiv\.org"
    r"|xxx\.lanl\.gov|(?:www\.|pubmed\.|pmc\.)?ncbi\.nlm\.nih\.gov|(?:www\.)?europepmc\.org"
    r"|(?:www\.)?pubmed\.gov)/",
    re.IGNORECASE,
)
_URL = re.compile(r"(?:https?:)?//(?:[^/?#@]*@)?([^/?#:]+)(?::\d+)?/([^?#]*)", re.IGNORECASE)
_ARXIV_PAGE = re.compile(
    r"(?:abs|pdf|html|ps|e-print|src|format|tex|list|u|auth/show-endorsers)/"
    r"((?:[a-z-]+(?:\.[a-z]{2})?/)?[0-9.]+(?:v[0-9]+)?)(?:\.pdf|\.ps\.gz)?/?",
    re.IGNORECASE,
)
_PMC_PAGE = re.compile(r"(?:pmc/)?articles/(PMC[0-9]+)(?:\.[0-9]+)?(?:/.*)?", re.IGNORECASE)
_PUBMED_PAGE = re.compile(r"(?:pubmed/|m/pubmed/)?([0-9]+)(?:/.*)?", re.IGNORECASE)
_EUROPE = re.compile(
    r"(?:article|abstract|articles)/(?:(MED|PMC)/)?((?:PMC)?[0-9]+)(?:/.*)?", re.IGNORECASE
)
_ENCODED = re.compile(
    r"(?:doi:)?10\.[0-9]{4,9}(?:\.[0-9]+)*(?:%2f|/.*%[0-9a-f]{2}).*", re.IGNORECASE
)


def parse_reference(text: object) -> Id:
    """Returns the identifier that a reference names.

    Raises:
        PaperError: `INVALID_REF`; it is no reference to a paper. Only a source knows whether the
            paper exists.
    """
    if not isinstance(text, str):
        raise PaperError("INVALID_REF", "ref: expected a text")
    plain = text.strip()
    if len(plain) > MAX_LENGTH:
        raise PaperError("INVALID_REF", f"ref: more than {MAX_LENGTH:,} characters")
    while len(plain) > 1 and _ENCLOSED.get(plain[0]) == plain[-1]:
        plain = plain[1:-1].strip()
    label = _LABEL.match(plain)
    if label is not None:
        kind = label[1].lower()
        plain = f"{_LABELS.get(kind, kind)}:{plain[label.end() :]}"
    if _SCHEMELESS.match(plain):
        plain = f"https://{plain}"
    for form in _forms(plain):
        try:
            return parse_id(form)
        except IdFault as fault:
            first = fault
    raise PaperError("INVALID_REF", str(first if plain == text else IdFault(text))) from None


def _forms(text: str) -> tuple[str, ...]:
    """Returns what to read a text as, the likeliest first; the text itself is the last."""
    found = _URL.match(text)
    if found is not None:
        page = _of_page(found[1].lower(), found[2])
        return (page, text) if page else (text,)
    if _ENCODED.fullmatch(text):
        # Of two readings that both are DOIs, a registered one has hardly a percent sign.
        try:
            return unquote(text, errors="strict"), text
        except UnicodeDecodeError:
            return (text,)
    return (text,)


def _of_page(host: str, path: str) -> str:
    """Returns the identifier in a page's URL; empty for a page that is not known here."""
    rules: tuple[tuple[str, re.Pattern[str], str], ...] = (
        ("arxiv.org", _ARXIV_PAGE, "arxiv:"),
        ("xxx.lanl.gov", _ARXIV_PAGE, "arxiv:"),
        ("ncbi.nlm.nih.gov", _PMC_PAGE, ""),
        ("ncbi.nlm.nih.gov", _PUBMED_PAGE, "pmid:"),
        ("pubmed.gov", _PUBMED_PAGE, "pmid:"),
    )
    for site, pattern, prefix in rules:
        if host == site or host.endswith(f".{site}"):
            found = pattern.fullmatch(path)
            if found is not None:
                return prefix + found[1]
    if host in {"europepmc.org", "www.europepmc.org"}:
        found = _EUROPE.fullmatch(path)
        if found is not None:
            digits = found[2].upper().removeprefix("PMC")
            central = found[2].upper() != digits or (found[1] or "").upper() == "PMC"
            return f"PMC{digits}" if central else f"pmid:{digits}"
    return ""
