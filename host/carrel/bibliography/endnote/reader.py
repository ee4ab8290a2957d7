"""Reads EndNote XML.

Each `<record>` is parsed alone, so that a damaged one loses no other. What is outside of records (a
document type, entities) is not parsed at all.
"""

from __future__ import annotations

import html
import re
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.bibtex.fields import ISSUE_TYPES
from carrel.bibliography.dates import CslDate, parse_any, parse_edtf
from carrel.bibliography.errors import BibliographyError
from carrel.bibliography.identifiers import doi_of, put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.limits import MAX_ENTRIES
from carrel.bibliography.ris.names import read_name
from carrel.bibliography.texts import joined_keywords, one_line
from carrel.bibliography.types import csl_type
from carrel.bibliography.xml_text import (
    XmlElement,
    XmlFault,
    read_element,
    xml_escaped,
)

from .fields import BOOK_NAMES, BOOKS, NAMES, NUMBERED, TEXTS

_RECORD = re.compile(r"<record\b[^>]*>", re.IGNORECASE)
#: An ampersand that begins no entity of XML.
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)(?:\w+;)?")
#: Elements that are read, and those that number records in a program.
_READ: Final = frozenset({
    *(path[0] for path, _ in TEXTS if len(path) == 1), "ref-type", "contributors", "periodical",
    "alt-periodical", "keywords", "isbn", "access-date", "rec-number", "foreign-keys", "database",
    "source-app",
})  # fmt: skip
_INNER: Final = frozenset({
    *(path[-1] for path, _ in TEXTS if path[0] == "titles"), "related-urls", "web-urls", "year",
    "pub-dates",
})  # fmt: skip
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
            element, problem = _element(text[start.start() : end.end() if end else limit])
            item = _item(element)
        except XmlFault as fault:
            unread.append(Unread(label, line, str(fault)))
            continue
        if problem:
            unread.append(Unread(item["id"] or label, line, problem))
        entries.append(Entry(item, item["id"] or label, line))
    return Bibliography("endnote", tuple(entries), tuple(unread))


def _element(source: str) -> tuple[XmlElement, str]:
    """Returns a record, and what was mended: ampersands and entities that XML has not."""
    try:
        return read_element(source), ""
    except XmlFault:
        mended = _AMPERSAND.sub(_mended, source)
        if mended == source:
            raise
        return read_element(mended), "it has an ampersand that is not escaped; it was read as one"


def _mended(found: re.Match[str]) -> str:
    character = html.unescape(found[0])
    return "&amp;" + found[0][1:] if character == found[0] else xml_escaped(character)


def _item(record: XmlElement) -> Item:
    item: Item = {"id": _first(record, "label"), "type": _type(record)}
    for path, variable in TEXTS:
        value = _first(record, *path)
        if value:
            item[variable] = value
    if item["id"]:
        item.pop("citation-label", None)
    _read_container(item, record)
    kind = _number(record)
    for element, variable in BOOK_NAMES if kind == "6" else NAMES:
        found = [
            name
            for author in record.elements("contributors", element, "author")
            if (name := read_name(_text(author)))
        ]
        if found:
            item[variable] = found
    if kind == "28" and "author" in item:  # an edited book
        item.setdefault("editor", item.pop("author"))
    _read_dates(item, record)
    _read_identifiers(item, record)
    words = [_text(keyword) for keyword in record.elements("keywords", "keyword")]
    if joined_keywords(words):
        item["keyword"] = joined_keywords(words)
    if "language" in item:
        item["language"] = language_tag(item["language"])
    _keep_unmapped(item, record)
    return item


def _keep_unmapped(item: Item, record: XmlElement) -> None:
    """Keeps the elements that no variable has, under their names."""
    unmapped: dict[str, list[str]] = item.get("custom", {}).get("endnote", {})
    members = {value for value in item.values() if isinstance(value, str)}
    for child in record.children:
        if isinstance(child, str) or child.name in _READ:
            continue
        inner = [element for element in child.children if isinstance(element, XmlElement)]
        named = child.name in {"urls", "titles", "dates"}
        for element in inner if named else (child,):
            text = _text(element)
            if text and text not in members and not (named and element.name in _INNER):
                unmapped.setdefault(element.name, []).append(text)
    related = [
        url for element in record.elements("urls", "related-urls", "url") if (url := _text(element))
    ]
    for url in related:
        if url != item.get("URL"):
            unmapped.setdefault("related-urls", []).append(url)
    if unmapped:
        item["custom"] = {"endnote": unmapped}


def _number(record: XmlElement) -> str:
    return next((one_line(element.text()) for element in record.elements("ref-type")), "")


def _type(record: XmlElement) -> str:
    for element in record.elements("ref-type"):
        number = one_line(element.text()) or element.attributes.get("name", "")
        found = csl_type("endnote", number)
        name = element.attributes.get("name", "").lower()
        return found or csl_type("names", name) or "document"
    return "document"


def _first(record: XmlElement, *path: str) -> str:
    return next((text for element in record.elements(*path) if (text := _text(element))), "")


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
    proceedings = _first(record, "custom3")
    if item["type"] == "paper-conference" and proceedings:
        if item.get("container-title"):
            item["event-title"] = item["container-title"]
        item["container-title"] = proceedings
    if item["type"] == "paper-conference" and _first(record, "custom1"):
        item["event-place"] = _first(record, "custom1")
    if item["type"] in BOOKS and re.fullmatch(r"\d+(?: ?p+\.?)?", item.get("page", "")):
        item["number-of-pages"] = item.pop("page")
    if item["type"] in NUMBERED and "issue" in item:
        item.setdefault("number", item.pop("issue"))


def _read_dates(item: Item, record: XmlElement) -> None:
    year = parse_any(_first(record, "dates", "year"))
    pub_date = _first(record, "dates", "pub-dates", "date")
    issued: CslDate | None = year
    if year and pub_date and len(year.get("date-parts", [[0, 0]])[0]) == 1:
        whole = parse_any(pub_date)
        if whole is None or "date-parts" not in whole:
            whole = parse_any(f"{year['date-parts'][0][0]} {pub_date}")
        if whole and whole.get("date-parts", [[0]])[0][0] == year["date-parts"][0][0]:
            issued = whole
    elif pub_date and not year:
        issued = parse_any(pub_date)
    if issued:
        item["issued"] = issued
    online = parse_edtf(item.get("edition", "").replace("/", "-"))
    if item["type"] in ISSUE_TYPES and online and len(online["date-parts"][0]) == 3:
        item["available-date"] = online  # EndNote's `Epub Date`
        del item["edition"]
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
    numbers = [_text(element) for element in record.elements("isbn")]
    put_standard_numbers(item, [number for number in numbers if number])
    location = item.get("archive_location", "")
    arxiv = _ARXIV.fullmatch(location)
    if arxiv:
        item |= {"archive": "arXiv", "archive_location": arxiv[1]}
    elif re.fullmatch(r"[0-9]{1,8}", location):
        item["PMID"] = item.pop("archive_location")
    if "PMCID" in item and not re.fullmatch(r"PMC\d+", item["PMCID"]):
        item["custom"] = {"endnote": {"custom2": item.pop("PMCID")}}
