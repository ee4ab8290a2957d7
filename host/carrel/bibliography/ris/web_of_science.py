"""Reads the field-tagged exports of Web of Science, which are named `.ris` or `.txt`."""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry
from carrel.bibliography.dates import parse_any
from carrel.bibliography.identifiers import doi_of, put_standard_numbers
from carrel.bibliography.item import Item
from carrel.bibliography.languages import language_tag
from carrel.bibliography.texts import joined_keywords

from .names import read_name
from .tagged import TaggedRecord, lines_of

_BEGIN = re.compile(r"^FN .*|^PT [A-Z]\s*$", re.MULTILINE)
_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?$")
#: Tags each line of which is a value.
_LISTS: Final = frozenset({"AU", "AF", "BE", "BF", "CA", "GP"})
_TYPES: Final = {"J": "article-journal", "B": "book", "S": "chapter", "P": "patent"}
_TEXTS: Final = {
    "TI": "title", "SO": "container-title", "J9": "container-title-short", "VL": "volume",
    "IS": "issue", "AR": "number", "PU": "publisher", "PI": "publisher-place", "AB": "abstract",
    "CT": "event-title", "CL": "event-place", "SE": "collection-title", "PM": "PMID",
    "PG": "number-of-pages",
}  # fmt: skip


def is_web_of_science(text: str) -> bool:
    """Returns whether a text is such an export, and not RIS."""
    return _BEGIN.search(text) is not None and re.search(r"^TY {1,3}-", text, re.MULTILINE) is None


def read_web_of_science(text: str) -> Bibliography:
    """Returns the records of an export."""
    entries = []
    for number, record in enumerate(_records(text), 1):
        entries.append(Entry(_item(record), f"record {number}", record.line))
    return Bibliography("ris", tuple(entries))


def _records(text: str) -> list[TaggedRecord]:
    found: list[TaggedRecord] = []
    record: TaggedRecord | None = None
    tag = ""
    for number, line in enumerate(lines_of(text), 1):
        match = _TAG.match(line)
        if match and match[1] in {"PT", "ER", "EF", "FN", "VR"}:
            record = TaggedRecord(number) if match[1] == "PT" else None
            if record is not None:
                found.append(record)
        if record is not None and match:
            tag = match[1]
            record.begin(tag, match[2] or "")
        elif record is not None and line.startswith("   "):
            if tag in _LISTS:
                record.begin(tag, line)
            else:
                record.carry_on(line)
    return [record.finished() for record in found]


def _item(record: TaggedRecord) -> Item:
    kind = _TYPES.get(record.first("PT"), "document")
    if "Proceedings Paper" in record.first("DT"):
        kind = "paper-conference"
    item: Item = {"id": "", "type": kind}
    for tag, variable in _TEXTS.items():
        if record.first(tag):
            item[variable] = record.first(tag)
    _read_names(item, record)
    issued = parse_any(f"{record.first('PY')} {record.first('PD')}".strip())
    if issued:
        item["issued"] = issued
    first, last = record.first("BP"), record.first("EP")
    if first:
        item["page"] = f"{first}-{last}" if last and last != first else first
    doi = doi_of(record.first("DI"))
    if doi:
        item["DOI"] = doi
    put_standard_numbers(item, record.all("SN", "EI", "BN"))
    words = [word for value in record.all("DE", "ID") for word in value.split(";")]
    if joined_keywords(words):
        item["keyword"] = joined_keywords(words)
    if record.first("LA"):
        item["language"] = language_tag(record.first("LA"))
    return _with_unknown(item, record)


def _read_names(item: Item, record: TaggedRecord) -> None:
    authors = record.all("AF") or record.all("AU")
    for variable, names in (("author", authors), ("editor", record.all("BF") or record.all("BE"))):
        found = [name for text in names if (name := read_name(text))]
        if found:
            item[variable] = found
    group = record.all("CA")
    if group:
        item["author"] = [*item.get("author", ()), *({"literal": name} for name in group)]


def _with_unknown(item: Item, record: TaggedRecord) -> Item:
    known = {*_TEXTS, "PT", "AU", "AF", "BE", "BF", "CA", "PY", "PD", "BP", "EP", "DI", "SN", "EI",
             "BN", "DE", "ID", "LA"}  # fmt: skip
    unknown: dict[str, list[str]] = {}
    for tag, value in record.values:
        if tag not in known and value:
            unknown.setdefault(tag, []).append(value)
    if unknown:
        item["custom"] = {"web-of-science": unknown}
    return item
