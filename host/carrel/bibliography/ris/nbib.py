"""Reads MEDLINE records, which PubMed exports as `.nbib`."""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.dates import parse_any
from carrel.bibliography.identifiers import put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.texts import joined_keywords

from .names import read_name
from .tagged import TaggedRecord, records

_TAG = re.compile(r"([A-Z]{2,4}) {0,2}- ?(.*)$")
_SHORT_NAME = re.compile(r"(.+) ([A-Z]{1,4})(?: (Jr|Sr|2nd|3rd|4th|II|III|IV))?")
_TEXTS: Final = {
    "JT": "container-title", "TA": "container-title-short", "VI": "volume", "IP": "issue",
    "PG": "page", "AB": "abstract", "PB": "publisher", "EN": "edition", "CTI": "collection-title",
}  # fmt: skip
#: Tags all values of which are read, and those that repeat others.
_WHOLE: Final = frozenset({"FAU", "AU", "CN", "FED", "ED", "OT", "IS", "ISBN", "PT", "SO"})
#: Tags of which the first value is read.
_FIRST: Final = frozenset({*_TEXTS, "PMID", "PMC", "TI", "BTI", "PL", "DP", "LA"})
#: Publication type → CSL's, the first that fits is taken.
_TYPES: Final = {
    "book chapter": "chapter", "books": "book", "book": "book", "dataset": "dataset",
    "preprint": "article", "newspaper article": "article-newspaper",
    "legal case": "legal_case", "academic dissertation": "thesis",
}  # fmt: skip


def read_nbib(text: str) -> Bibliography:
    """Returns the records of a MEDLINE text."""
    entries, unread = [], []
    for number, record in enumerate(records(text, _split, "PMID"), 1):
        item = _item(record)
        label = f"PMID {item['PMID']}" if "PMID" in item else f"record {number}"
        if "title" in item or "author" in item:
            entries.append(Entry(item, label, record.line))
        else:
            unread.append(Unread(label, record.line, "it has neither a title nor authors"))
    return Bibliography("nbib", tuple(entries), tuple(unread))


def _split(line: str) -> tuple[str, str] | None:
    found = _TAG.match(line)
    return (found[1], found[2]) if found else None


def _item(record: TaggedRecord) -> Item:
    kinds = [value.lower() for value in record.all("PT")]
    kind = next((found for name, found in _TYPES.items() if name in kinds), "")
    if not kind and record.first("BTI"):
        kind = "chapter" if record.first("TI") else "book"
    item: Item = {"id": "", "type": kind or "article-journal"}
    title = record.first("TI", "BTI", "TT")
    if title:
        item["title"] = _without_stop(title)
    if kind in {"chapter", "book"} and record.first("TI") and record.first("BTI"):
        item["container-title"] = _without_stop(record.first("BTI"))
    for tag, variable in _TEXTS.items():
        value = record.first(tag)
        if value and variable not in item:
            item[variable] = value
    if record.first("PL") and kind in {"chapter", "book"}:
        item["publisher-place"] = record.first("PL")
    _read_names(item, record)
    issued = parse_any(record.first("DP")) or parse_any(record.first("DEP"))
    if issued:
        item["issued"] = issued
    _read_identifiers(item, record)
    words = record.all("OT") or [heading.replace("*", "") for heading in record.all("MH")]
    if joined_keywords(words):
        item["keyword"] = joined_keywords(words)
    if record.first("LA"):
        item["language"] = language_tag(record.first("LA"))
    _keep_unmapped(item, record)
    return item


def _keep_unmapped(item: Item, record: TaggedRecord) -> None:
    """Keeps the values that no variable has, under their tags."""
    read = {f"{item.get('DOI')} [doi]", f"{item.get('number')} [pii]"}
    words = "" if record.all("OT") else "MH"
    unmapped: dict[str, list[str]] = {}
    for tag, value in record.values:
        first = tag in _FIRST and value == record.first(tag) and (tag != "PL" or _has_place(item))
        if value and not (tag in _WHOLE or tag == words or first or value in read):
            unmapped.setdefault(tag, []).append(value)
    if unmapped:
        item["custom"] = {"nbib": unmapped}


def _has_place(item: Item) -> bool:
    return "publisher-place" in item


def _without_stop(title: str) -> str:
    title = title[1:-2] if title.startswith("[") and title.endswith("].") else title
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def _read_names(item: Item, record: TaggedRecord) -> None:
    full = bool(record.all("FAU"))
    authors = []
    for tag, value in record.values:
        if tag == "CN" and value:
            authors.append({"literal": value})
        elif tag == ("FAU" if full else "AU") and value:
            name = read_name(value) if full or "," in value else _short_name(value)
            authors += [name] if name else []
    if authors:
        item["author"] = authors
    editors = [name for text in record.all("FED") if (name := read_name(text))]
    editors = editors or [_short_name(text) for text in record.all("ED")]
    if editors:
        item["editor"] = editors


def _short_name(text: str) -> dict[str, str]:
    """Returns `McGarrigle ML Jr` as family name, initials and suffix."""
    found = _SHORT_NAME.fullmatch(text)
    if found is None:
        return {"literal": text}
    initials = " ".join(f"{letter}." for letter in found[2])
    suffix = {"suffix": found[3]} if found[3] else {}
    return {**(read_name(f"{found[1]}, {initials}") or {}), **suffix}


def _read_identifiers(item: Item, record: TaggedRecord) -> None:
    for value in (*record.all("LID"), *record.all("AID")):
        doi = re.fullmatch(r"(10\.\S+) \[doi\]", value)
        if doi:
            item.setdefault("DOI", doi[1])
        article = re.fullmatch(r"(e\d\S*|\d{3,8}) \[pii\]", value)
        if article and "page" not in item:
            item.setdefault("number", article[1])
    for tag, variable in (("PMID", "PMID"), ("PMC", "PMCID")):
        if record.first(tag):
            item[variable] = record.first(tag)
    put_standard_numbers(item, [*record.all("IS"), *record.all("ISBN")])
