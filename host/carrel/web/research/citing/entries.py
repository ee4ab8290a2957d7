"""Reads the entries of a bibliography that is to be audited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from carrel.bibliography import BibliographyError, read_bibliography
from carrel.bibliography.item import names_of, text_of
from carrel.errors import ArgumentError
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.records import Id, IdFault, parse_isbn

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.web.research.sessions import ResearchSession

FORMATS: Final = ("auto", "csl-json", "ris", "bibtex")
#: Members that may hold an identifier, the best first.
_IDENTIFIERS: Final = (
    ("DOI", ""),
    ("PMID", "pmid:"),
    ("PMCID", ""),
    ("archive_location", "arxiv:"),
)


#: Types of items whose ISBN is that of the book they are in.
_PARTS: Final = frozenset({
    "article", "article-journal", "article-magazine", "article-newspaper", "chapter", "entry",
    "entry-dictionary", "entry-encyclopedia", "paper-conference",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry.

    Attributes:
        title: empty if it has none.
        reference: the entry in one line: authors, year, title, container.
        identifier: that it names, of a book its ISBN if it names no other; None if it names none.
        url: of a page, not of the identifier.
        claim: that the entry is cited for.
        fault: what is wrong with its identifier; empty for nothing.
        year: of publication; empty if it has none.
    """

    title: str = ""
    reference: str = ""
    identifier: Id | None = None
    url: str = ""
    claim: str = ""
    fault: str = ""
    year: str = ""

    @property
    def key(self) -> str:
        """The identifier with the label that a lookup needs; empty if it names none."""
        if self.identifier is None:
            return ""
        label = "isbn:" if self.identifier.type == "isbn" else ""
        return f"{label}{self.identifier.id}"


def read_entries(text: str, format_: str) -> tuple[list[AuditEntry], str, list[str]]:
    """Returns the entries of a bibliography, its format, and what of it could not be read.

    Raises:
        ArgumentError: it is no bibliography.
    """
    if text.strip() in {"[]", "{}"}:
        return [], "csl-json", []
    try:
        read = read_bibliography(text, None if format_ == "auto" else format_)
    except BibliographyError as error:
        raise ArgumentError([f"bibliography: {error.message}"]) from None
    unread = [f"{entry.label}: {entry.problem}" for entry in read.unread]
    return [_of_item(entry.item) for entry in read.entries], read.format, unread


def given_entries(entries: Iterable[Mapping[str, Any]]) -> list[AuditEntry]:
    """Returns the entries that a call lists itself."""
    return [_of_members(entry) for entry in entries]


def session_entries(session: ResearchSession) -> list[AuditEntry]:
    """Returns the sources of a session."""
    return [_of_members({"url": source.url, "title": source.title}) for source in session.sources]


def _of_members(members: Mapping[str, Any]) -> AuditEntry:
    title, url = str(members.get("title", "")), str(members.get("url", ""))
    identifier, fault = _parsed(str(members.get("doi", "")))
    if identifier is None and url:
        identifier, _ = _parsed(url)
        url = "" if identifier is not None else url
    parts = [str(members.get(name, "")) for name in ("author", "date", "title", "site")]
    reference = ". ".join(filter(None, parts))
    year, claim = str(members.get("date", "")), str(members.get("claim", ""))
    return AuditEntry(title, reference, identifier, url, claim, fault, year)


def _of_item(item: Item) -> AuditEntry:
    identifier, fault = None, ""
    for name, prefix in _IDENTIFIERS:
        value = text_of(item, name).strip()
        if value and not (
            name == "archive_location" and "arxiv" not in text_of(item, "archive").lower()
        ):
            parsed, wrong = _parsed(value if value.lower().startswith(prefix) else prefix + value)
            identifier = identifier or parsed
            fault = fault or wrong
    url = text_of(item, "URL").strip()
    if url:
        parsed, _ = _parsed(url)
        identifier = identifier or parsed
        url = "" if parsed is not None else url
    if identifier is None and item.get("type") not in _PARTS:
        identifier = _isbn(text_of(item, "ISBN"))
    names = [
        author.get("family") or author.get("literal", "") for author in names_of(item, "author")
    ][:5]
    year = _year(item)
    title = text_of(item, "title")
    parts = [", ".join(names), year, title, text_of(item, "container-title")]
    return AuditEntry(
        title,
        ". ".join(filter(None, parts)),
        identifier,
        url,
        fault="" if identifier else fault,
        year=year,
    )


def _parsed(text: str) -> tuple[Id | None, str]:
    if not text.strip():
        return None, ""
    try:
        return parse_reference(text), ""
    except PaperError as error:
        return None, error.message


def _isbn(text: str) -> Id | None:
    """Returns the first valid ISBN of a text that lists some."""
    for part in re.split(r"[,;/]|\s(?=(?:97[89]|isbn))", text[:500], flags=re.IGNORECASE):
        try:
            return parse_isbn(re.sub(r"\(.*", "", part))
        except IdFault:
            continue
    return None


def _year(item: Item) -> str:
    issued = item.get("issued")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    try:
        return str(parts[0][0]) if parts else ""
    except (IndexError, TypeError, KeyError):
        return ""
