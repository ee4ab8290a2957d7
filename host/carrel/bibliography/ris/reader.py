"""Reads RIS as Zotero, Mendeley, EndNote, publishers and databases write it."""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.dates import CslDate, parse_any
from carrel.bibliography.identifiers import doi_of, put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.texts import joined_keywords
from carrel.bibliography.types import csl_type

from .names import read_name
from .tagged import TaggedRecord, records
from .web_of_science import is_web_of_science, read_web_of_science

_LINE = re.compile(r"\s{0,3}([A-Z][A-Z0-9])(?: {1,4}|\t)-[ \t]?(.*)$")
_ARXIV = re.compile(r"(?:arxiv:)\s*(\S+)", re.IGNORECASE)

#: Tag → variable, for those that mean the same in all types.
_TEXTS: Final = {
    "VL": "volume", "VO": "volume", "IS": "issue", "ET": "edition", "PB": "publisher",
    "CY": "publisher-place", "PP": "publisher-place", "T3": "collection-title", "NV":
    "number-of-volumes", "ST": "title-short", "M3": "genre", "CN": "call-number", "DP": "source",
    "SV": "collection-number", "M1": "number", "C6": "status",
}  # fmt: skip
_TITLES: Final = ("TI", "T1", "CT")
_ABSTRACTS: Final = ("AB", "N2")
_JOURNALS: Final = ("JF", "T2", "JO", "BT", "JA", "J1", "J2")
_SHORT_JOURNALS: Final = ("J2", "JA", "J1")
_READ: Final = frozenset({
    *_TEXTS, *_TITLES, *_ABSTRACTS, *_JOURNALS, *_SHORT_JOURNALS, "TY", "ID", "AU", "A1", "A2",
    "ED", "A3", "A4", "PY", "Y1", "DA", "Y2", "SP", "EP", "SN", "DO", "DI", "UR", "LA", "KW", "N1",
    "ER", "CP",
})  # fmt: skip
_BOOKS: Final = frozenset({"book", "collection", "thesis", "report", "pamphlet", "classic"})
_PAPERS: Final = frozenset({"CPAPER", "CONF"})


def read_ris(text: str) -> Bibliography:
    """Returns the records of a RIS text, or of an export of Web of Science."""
    if is_web_of_science(text):
        return read_web_of_science(text)
    entries, unread = [], []
    found = records(text, _LINE, frozenset({"TY"}), frozenset({"ER"}))
    for number, record in enumerate(found, 1):
        item = _item(record)
        label = item["id"] or f"record {number}"
        kind = record.first("TY")
        if _type(kind) is None:
            told = f"the type {kind!r} is not one of RIS; it was read as a document"
            unread.append(Unread(label, record.line, told))
        if any(tag != "TY" for tag, _ in record.values):
            entries.append(Entry(item, label, record.line))
        else:
            unread.append(Unread(label, record.line, "it has no tags besides its type"))
    return Bibliography("ris", tuple(entries), tuple(unread))


def _type(kind: str) -> str | None:
    return csl_type("ris", kind.upper()) or csl_type("names", kind.lower())


def _item(record: TaggedRecord) -> Item:
    kind = record.first("TY").upper()
    item: Item = {
        "id": record.first("ID"),
        "type": _type(kind) or "document",
    }
    _read_titles(item, record, kind)
    _read_names(item, record, kind)
    _read_dates(item, record)
    for tag, variable in _TEXTS.items():
        value = record.first(tag)
        if value and variable not in item:
            item[variable] = value
    if not record.first(*_TITLES, *_JOURNALS):
        item.pop("title-short", None)  # it was read as the title
    _read_genre(item)
    _read_pages(item, record)
    put_standard_numbers(item, record.all("SN"))
    _read_identifiers(item, record)
    _read_texts(item, record)
    _keep_unknown(item, record, kind)
    return item


def _put(item: Item, name: str, value: str) -> None:
    if value:
        item[name] = value


def _read_titles(item: Item, record: TaggedRecord, kind: str) -> None:
    title = record.first(*_TITLES)
    container = record.first(*_JOURNALS)
    if not title and record.first("BT"):
        title, container = record.first("BT"), record.first("JF", "T2", "JO")
    elif not title and item["type"] in _BOOKS | {"periodical"}:
        title, container = container, ""
    _put(item, "title", title or record.first("ST"))
    if item["type"] in _BOOKS and record.first("T2") and not record.first("T3"):
        # The second title of a book is its series.
        item["collection-title"] = record.first("T2")
        container = record.first("JF", "JO")
    _put(item, "container-title", container)
    short = next((one for one in map(record.first, _SHORT_JOURNALS) if one), "")
    if short != container:
        _put(item, "container-title-short", short)
    if kind in _PAPERS:
        _put(item, "event-title", record.first("C3"))
        _put(item, "event-place", record.first("C1"))


def _read_names(item: Item, record: TaggedRecord, kind: str) -> None:
    series = {"BOOK", "EDBOOK"} if record.first("ED") else set()
    roles = {
        "author": ("AU", "A1"),
        "editor": ("ED",) if kind in series else ("ED", "A2"),
        "collection-editor": ("A2", "A3") if kind in series else ("A3",),
        "translator": ("A4",),
    }
    for variable, tags in roles.items():
        names = [name for one in record.all(*tags) if (name := read_name(one))]
        if names:
            item[variable] = names


def _read_dates(item: Item, record: TaggedRecord) -> None:
    year = parse_any(record.first("PY", "Y1"))
    day = parse_any(record.first("DA"))
    issued: CslDate | None = year or day
    if year and day and _more_exact(day, year):
        issued = day
    elif year and day and "date-parts" not in day:
        # A day without its year: `DA  - May 3`.
        whole = parse_any(f"{record.first('PY', 'Y1')} {record.first('DA')}")
        issued = whole if whole and "date-parts" in whole else year
    if issued:
        item["issued"] = issued
    accessed = parse_any(record.first("Y2"))
    if accessed:
        item["accessed"] = accessed


def _more_exact(day: CslDate, year: CslDate) -> bool:
    if "date-parts" not in day or "date-parts" not in year:
        return "date-parts" in day
    first, other = day["date-parts"][0], year["date-parts"][0]
    return first[0] == other[0] and len(first) > len(other)


def _read_genre(item: Item) -> None:
    """Moves a DOI out of the genre, where EndNote's filters put it."""
    doi = doi_of(item.get("genre", ""))
    if doi and "/" in item["genre"]:
        item.setdefault("DOI", doi)
        del item["genre"]


def _read_pages(item: Item, record: TaggedRecord) -> None:
    first, last = record.first("SP"), record.first("EP")
    if "issue" not in item:
        _put(item, "issue", record.first("CP"))
    if not first and not last:
        return
    first = re.sub(r"\s*(?:--+|\u2013)\s*", "-", first)
    if item["type"] in _BOOKS and not last and re.fullmatch(r"[0-9]+(?: ?p+\.?)?", first):
        item["number-of-pages"] = first
    elif last and last not in {first, first.partition("-")[2]} and "-" not in first:
        item["page"] = f"{first}-{last}" if first else last
    else:
        _put(item, "page", first or last)


def _read_identifiers(item: Item, record: TaggedRecord) -> None:
    told = record.first("DO", "DI")
    doi = next((found for one in record.all("DO", "DI") if (found := doi_of(one))), told)
    urls = [url for one in record.all("UR") for url in re.split(r"\s*[;,]\s*(?=https?://)", one)]
    if not doi and urls and "doi.org/" in urls[0]:
        doi = doi_of(urls[0])
    if doi:
        item["DOI"] = doi
    _put(item, "URL", urls[0] if urls else "")
    number = record.first("AN")
    arxiv = _ARXIV.fullmatch(number)
    if arxiv:
        item |= {"archive": "arXiv", "archive_location": arxiv[1]}
    elif re.fullmatch(r"[0-9]{1,8}", number):
        item["PMID"] = number
    elif number:
        _put(item, "archive", record.first("DB"))
        item["archive_location"] = number
    else:
        _put(item, "archive", record.first("DB"))
    pmcid = record.first("C2")
    if re.fullmatch(r"PMC\d+", pmcid):
        item["PMCID"] = pmcid


def _read_texts(item: Item, record: TaggedRecord) -> None:
    _put(item, "abstract", record.first(*_ABSTRACTS))
    _put(item, "note", "; ".join(dict.fromkeys(record.all("N1"))))
    _put(item, "keyword", joined_keywords(record.all("KW")))
    _put(item, "language", language_tag(record.first("LA")))


def _keep_unknown(item: Item, record: TaggedRecord, kind: str) -> None:
    """Keeps the values that no variable has, under their tags."""
    read = _READ | {"AN", "DB"}
    if kind in _PAPERS:
        read |= {"C1", "C3"}
    if "PMCID" in item:
        read |= {"C2"}
    kept: dict[str, list[str]] = {}
    for tag, value in record.values:
        if tag not in read and value:
            kept.setdefault(tag, []).append(value)
    others = [one for one in record.all("UR") if one != item.get("URL")]
    if others:
        kept["UR"] = others
    if kept:
        item["custom"] = {"ris": kept}
