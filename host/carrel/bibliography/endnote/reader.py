"""Reads EndNote XML.

Each `<record>` is parsed alone, so that a damaged one loses no other. What is outside of records (a
document type, entities) is not parsed at all.
"""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.dates import CslDate, parse_any
from carrel.bibliography.errors import BibliographyError
from carrel.bibliography.identifiers import doi_of, put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.limits import MAX_ENTRIES
from carrel.bibliography.ris.names import read_name
from carrel.bibliography.texts import joined_keywords, one_line
from carrel.bibliography.types import csl_type
from carrel.bibliography.xml_text import XmlElement, XmlFault, read_element

from .fields import BOOKS, NAMES, NUMBERED, TEXTS

_RECORD = re.compile(r"<record\b[^>]*>", re.IGNORECASE)
_END = re.compile(r"</record\s*>", re.IGNORECASE)
_FACES: Final = {"italic": "i", "bold": "b", "superscript": "sup", "subscript": "sub"}
_ARXIV = re.compile(r"arxiv:\s*(\S+)", re.IGNORECASE)


def read_endnote(text: str) -> Bibliography:
    """Returns the records of an EndNote XML text.

    Raises:
        BibliographyError: `MALFORMED`; it has no records. `TOO_LARGE`; it has too many.
    """
    entries, unread = [], []
    line, counted = 1, 0
    starts = list(_RECORD.finditer(text))
    if not starts and not re.search(r"<records\s*/?>", text, re.IGNORECASE):
        raise BibliographyError("MALFORMED", "the bibliography is XML without EndNote's records")
    if len(starts) > MAX_ENTRIES:
        raise BibliographyError(
            "TOO_LARGE", f"the bibliography has more than {MAX_ENTRIES:,} entries; split it"
        )
    for number, start in enumerate(starts, 1):
        line += text.count("\n", counted, start.start())
        counted = start.start()
        limit = starts[number].start() if number < len(starts) else len(text)
        end = _END.search(text, start.end(), limit)
        label = f"record {number}"
        try:
            item = _item(read_element(text[start.start() : end.end() if end else limit]))
        except XmlFault as fault:
            unread.append(Unread(label, line, str(fault)))
            continue
        entries.append(Entry(item, item["id"] or label, line))
    return Bibliography("endnote", tuple(entries), tuple(unread))


def _item(record: XmlElement) -> Item:
    item: Item = {"id": _first(record, "label"), "type": _type(record)}
    for path, variable in TEXTS:
        value = _first(record, *path)
        if value:
            item[variable] = value
    if item["id"]:
        item.pop("citation-label", None)
    _read_container(item, record)
    for element, variable in NAMES:
        found = [
            name
            for one in record.elements("contributors", element, "author")
            if (name := read_name(_text(one)))
        ]
        if found:
            item[variable] = found
    _read_dates(item, record)
    _read_identifiers(item, record)
    words = [_text(one) for one in record.elements("keywords", "keyword")]
    if joined_keywords(words):
        item["keyword"] = joined_keywords(words)
    if "language" in item:
        item["language"] = language_tag(item["language"])
    return item


def _type(record: XmlElement) -> str:
    for one in record.elements("ref-type"):
        number = one_line(one.text()) or one.attributes.get("name", "")
        found = csl_type("endnote", number)
        name = one.attributes.get("name", "").lower()
        return found or csl_type("names", name) or "document"
    return "document"


def _first(record: XmlElement, *path: str) -> str:
    return next((text for one in record.elements(*path) if (text := _text(one))), "")


def _text(element: XmlElement) -> str:
    """Returns the text of an element in one line; styles become CSL's tags."""
    return one_line(" ".join(_styled(element).split()))


def _styled(element: XmlElement) -> str:
    pieces = []
    for child in element.children:
        if isinstance(child, str):
            pieces.append(child)
            continue
        text = _styled(child)
        faces = child.attributes.get("face", "").split() if child.name == "style" else ()
        for face in faces:
            tag = _FACES.get(face)
            if tag and text.strip():
                text = f"<{tag}>{text}</{tag}>"
        pieces.append(text)
    return "".join(pieces)


def _read_container(item: Item, record: XmlElement) -> None:
    full = _first(record, "periodical", "full-title") or _first(
        record, "alt-periodical", "full-title"
    )
    short = _first(record, "periodical", "abbr-1") or _first(record, "alt-periodical", "abbr-1")
    if item["type"] in BOOKS and "container-title" in item and "collection-title" not in item:
        item["collection-title"] = item.pop("container-title")
    if full and "container-title" not in item and full != item.get("collection-title"):
        item["container-title"] = full
    if short and short != item.get("container-title"):
        item.setdefault("container-title-short", short)
    if item["type"] in NUMBERED and "issue" in item:
        item.setdefault("number", item.pop("issue"))


def _read_dates(item: Item, record: XmlElement) -> None:
    year = parse_any(_first(record, "dates", "year"))
    told = _first(record, "dates", "pub-dates", "date")
    issued: CslDate | None = year
    if year and told and len(year.get("date-parts", [[0, 0]])[0]) == 1:
        whole = parse_any(told)
        if whole is None or "date-parts" not in whole:
            whole = parse_any(f"{year['date-parts'][0][0]} {told}")
        if whole and whole.get("date-parts", [[0]])[0][0] == year["date-parts"][0][0]:
            issued = whole
    elif told and not year:
        issued = parse_any(told)
    if issued:
        item["issued"] = issued
    accessed = parse_any(_first(record, "access-date"))
    if accessed:
        item["accessed"] = accessed


def _read_identifiers(item: Item, record: XmlElement) -> None:
    if "DOI" in item:
        item["DOI"] = doi_of(item["DOI"]) or item["DOI"]
    for kind in ("related-urls", "web-urls"):
        url = _first(record, "urls", kind, "url")
        if url:
            item.setdefault("URL", url)
    numbers = [_text(one) for one in record.elements("isbn")]
    put_standard_numbers(item, [one for one in numbers if one])
    location = item.get("archive_location", "")
    arxiv = _ARXIV.fullmatch(location)
    if arxiv:
        item |= {"archive": "arXiv", "archive_location": arxiv[1]}
    elif re.fullmatch(r"[0-9]{1,8}", location):
        item["PMID"] = item.pop("archive_location")
    if "PMCID" in item and not re.fullmatch(r"PMC\d+", item["PMCID"]):
        item["custom"] = {"endnote": {"custom2": item.pop("PMCID")}}
