"""Writes RIS. Every value is one line, so that none can hold a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from carrel.bibliography.bibtex.fields import ISSUE_TYPES
from carrel.bibliography.dates import CslDate, date_of, edtf, is_plain
from carrel.bibliography.item import Item, names_of, text_of
from carrel.bibliography.keys import with_keys
from carrel.bibliography.texts import keywords_of, one_line, page_range
from carrel.bibliography.types import format_type

from .names import written_name

#: Variable → tag, for those that mean the same in all types.
_TEXTS: Final = (
    ("title-short", "ST"), ("container-title-short", "J2"), ("edition", "ET"),
    ("publisher-place", "CY"), ("number-of-volumes", "NV"), ("genre", "M3"), ("note", "N1"),
    ("call-number", "CN"), ("source", "DP"), ("collection-number", "SV"), ("status", "C6"),
    ("reviewed-title", "RI"),
)  # fmt: skip
_TAG = re.compile(r"[A-Z][A-Z0-9]")
_BOOKS: Final = frozenset({"book", "collection", "thesis", "report", "pamphlet", "classic"})


def write_ris(items: Sequence[Item]) -> str:
    """Returns the items as a RIS file; empty for none."""
    return "\n".join(ris_records(items))


def ris_records(items: Sequence[Item]) -> list[str]:
    """Returns the record of each item; their keys differ."""
    return [_record(item, key) for item, key in with_keys(items, one_line)]


def _record(item: Item, key: str) -> str:
    lines = [f"TY  - {format_type('ris', item)}"]
    for tag, value in _fields(item, key):
        line = one_line(value or "")
        if line:
            lines.append(f"{tag}  - {line}")
    return "\n".join(lines) + "\nER  - \n"


def _fields(item: Item, key: str) -> Iterator[tuple[str, str | None]]:
    yield "ID", key
    yield "TI", text_of(item, "title")
    for variable, tag in (("author", "AU"), ("editor", "ED")):
        for name in names_of(item, variable):
            yield tag, written_name(name)
    yield from _issued(date_of(item.get("issued")))
    kind = item.get("type")
    yield from _container(item)
    yield "T3", text_of(item, "collection-title")
    yield "VL", text_of(item, "volume")
    yield "IS", text_of(item, "issue")
    yield from _pages(item)
    yield "C7" if kind in ISSUE_TYPES else "M1", text_of(item, "number")
    if kind == "chapter":
        yield "SE", text_of(item, "chapter-number")
    yield "PB", text_of(item, "publisher")
    for variable in ("ISSN", "ISBN"):
        for number in re.split(r"[,;]\s*", text_of(item, variable)):
            yield "SN", number
    yield "DO", text_of(item, "DOI")
    yield from _archive(item)
    yield "C2", text_of(item, "PMCID")
    yield "UR", text_of(item, "URL")
    yield "LA", text_of(item, "language")
    for word in keywords_of(text_of(item, "keyword")):
        yield "KW", word
    yield "AB", text_of(item, "abstract")
    yield from _rest(item)


def _container(item: Item) -> Iterator[tuple[str, str]]:
    kind, container = item.get("type"), text_of(item, "container-title")
    event = text_of(item, "event-title") if kind == "paper-conference" else ""
    tag = "JO" if kind == "article-journal" else "JF" if kind in _BOOKS else "T2"
    yield tag if not event else "C3", container
    yield "T2", event
    if kind == "paper-conference":
        yield "C1", text_of(item, "event-place")


def _issued(date: CslDate | None) -> Iterator[tuple[str, str]]:
    if date is None:
        return
    if "literal" in date:
        yield "PY", date["literal"]
        return
    first = date["date-parts"][0]
    if is_plain(date) and first[0] > 0:
        yield "PY", f"{first[0]:04d}"
        yield "DA", _slashed(first)
    else:
        yield "PY", edtf(date)


def _slashed(parts: list[int]) -> str:
    return "/".join([f"{parts[0]:04d}", *(f"{part:02d}" for part in parts[1:])]) + "/" * (
        4 - len(parts)
    )


def _pages(item: Item) -> Iterator[tuple[str, str | None]]:
    pages = text_of(item, "page")
    if pages:
        first, last = page_range(pages) if "," not in pages else (pages, None)
        yield "SP", first
        yield "EP", last
    elif item.get("type") in _BOOKS:
        yield "SP", text_of(item, "number-of-pages")


def _archive(item: Item) -> Iterator[tuple[str, str]]:
    """Yields the archive and the PMID, which is named as such beside an archive."""
    archive, location = text_of(item, "archive"), text_of(item, "archive_location")
    pmid = text_of(item, "PMID")
    if archive.lower() == "arxiv" and location:
        yield "AN", f"arXiv:{location}"
    else:
        yield "DB", archive
        yield "AN", location
    if pmid:
        yield "AN", f"PMID:{pmid}" if archive or location else pmid


def _rest(item: Item) -> Iterator[tuple[str, str]]:
    series = "A2" if item.get("type") == "book" else "A3"
    for variable, tag in (("collection-editor", series), ("translator", "A4")):
        for name in names_of(item, variable):
            yield tag, written_name(name)
    accessed = date_of(item.get("accessed"))
    if accessed:
        parts = accessed.get("date-parts")
        yield "Y2", _slashed(parts[0]) if parts else accessed["literal"]
    for variable, tag in _TEXTS:
        yield tag, text_of(item, variable)
    custom = item.get("custom")
    unmapped = custom.get("ris") if isinstance(custom, dict) else None
    for tag, values in unmapped.items() if isinstance(unmapped, dict) else ():
        if _TAG.fullmatch(str(tag)) and tag not in {"TY", "ER"} and isinstance(values, list):
            for value in values:
                if isinstance(value, str):
                    yield str(tag), value
