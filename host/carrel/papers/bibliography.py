"""Reads a bibliography as references that can be resolved.

`carrel.bibliography` reads BibTeX, RIS, nbib, CSL-JSON and EndNote XML; other texts are lists with
one reference a line. Of each entry the first identifier of DOI, arXiv, PMID, PMCID is taken; an
entry without one becomes a citation, if it has a title. An entry that cannot be read does not keep
the others from being read; a file that is no text does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.bibliography import Bibliography, BibliographyError, Entry, Unread
from carrel.bibliography import read_bibliography as read_items
from carrel.bibliography.dates import date_of
from carrel.bibliography.decoding import decode
from carrel.bibliography.item import Item, names_of, text_of
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference

_ARXIV = re.compile(r"arxiv[:\s]\s*([a-z-]+/\d{7}|\d{4}\.\d{4,5})(v\d+)?", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
#: Members that people write an arXiv identifier into.
_ARXIV_MEMBERS = ("note", "number", "container-title", "publisher", "issue")


@dataclass(frozen=True, slots=True)
class ListedReference:
    """One entry of a bibliography.

    Attributes:
        label: what names it in the bibliography: a key, or a number.
        reference: to resolve; empty when there is none.
        problem: why there is none.
    """

    label: str
    reference: str = ""
    problem: str = ""


def read_bibliography(data: bytes) -> list[ListedReference]:
    """Returns the references of a bibliography, in its order.

    Raises:
        PaperError: `INVALID_REF`; it is too large, no text, or JSON that is no bibliography.
    """
    try:
        text, _ = decode(data)
        found = read_items(text)
    except BibliographyError as error:
        if error.bibliography_code != "UNKNOWN_FORMAT":
            raise PaperError("INVALID_REF", error.message) from None
        return _lines(text)
    return [_listed(entry) for entry in _in_order(found)]


def _lines(text: str) -> list[ListedReference]:
    lines = (line.strip() for line in text.splitlines())
    return [
        ListedReference(f"line {number}", line)
        for number, line in enumerate(lines, 1)
        if line and not line.startswith(("#", "%"))
    ]


def _in_order(found: Bibliography) -> list[Entry | Unread]:
    """Returns the entries, and what is no entry, by line; without lines as they come.

    What is stated about an entry that was read is left out.
    """
    read = {(entry.label, entry.line) for entry in found.entries}
    lost = [unread for unread in found.unread if (unread.label, unread.line) not in read]
    both: list[Entry | Unread] = list(found.entries)
    if any(unread.line is None for unread in lost):
        for unread in lost:
            number = re.fullmatch(r"record (\d+)", unread.label)
            both.insert(int(number[1]) - 1 if number else len(both), unread)
        return both
    return sorted([*both, *lost], key=lambda entry: entry.line or 0)


def _listed(entry: Entry | Unread) -> ListedReference:
    if isinstance(entry, Unread):
        return ListedReference(entry.label, problem=entry.problem)
    item = entry.item
    members = {str(key).lower(): value for key, value in item.items()}
    for candidate in _identifiers(item, members):
        try:
            parse_reference(candidate)
        except PaperError:
            continue
        return ListedReference(entry.label, candidate)
    title = _plain(item.get("title"))
    if not title:
        return ListedReference(entry.label, problem="it has neither an identifier nor a title")
    date = date_of(item.get("issued")) or {}
    year = f"({date['date-parts'][0][0]})" if "date-parts" in date else ""
    return ListedReference(entry.label, ". ".join(filter(None, (_authors(item), year, title))))


def _authors(item: Item) -> str:
    names = []
    for name in names_of(item, "author"):
        parts = (name.get("non-dropping-particle"), name.get("family") or name.get("literal"))
        family = " ".join(filter(None, parts))
        names.append(", ".join(filter(None, (family, name.get("given")))))
    return ", ".join(names)


def _identifiers(item: Item, members: Mapping[str, Any]) -> Iterator[str]:
    """Yields what may be an identifier, the preferred kind first."""
    doi = _plain(members.get("doi"))
    if doi:
        yield doi
        yield f"doi:{doi}"
    if text_of(item, "archive").lower() == "arxiv":
        location = text_of(item, "archive_location")
        yield location if location.lower().startswith("arxiv") else f"arXiv:{location}"
    for name in _ARXIV_MEMBERS:
        found = _ARXIV.search(_plain(item.get(name)))
        if found:
            yield f"arXiv:{found[1]}{found[2] or ''}"
    for name, prefix in (("pmid", "pmid:"), ("pmcid", "")):
        value = _plain(members.get(name))
        if value:
            yield f"{prefix}{value}"
    yield from re.findall(r"https?://\S+", _plain(members.get("url")))


def _plain(value: object) -> str:
    return " ".join(_TAG.sub("", str(value)).split()) if isinstance(value, str | int) else ""
