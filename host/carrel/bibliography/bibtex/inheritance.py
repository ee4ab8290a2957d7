"""Gives entries the fields that they inherit, by `crossref` and `xdata`, as biber does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

#: Fields that are never inherited by `crossref`.
_OWN: Final = frozenset({
    "crossref", "xref", "xdata", "ids", "entryset", "entrysubtype", "execute", "label", "options",
    "presort", "related", "relatedoptions", "relatedstring", "relatedtype", "shorthand",
    "shorthandintro", "sortkey", "key", "shorttitle", "carrel",
})  # fmt: skip
_COLLECTIONS: Final = frozenset({
    "book", "collection", "proceedings", "reference", "mvbook", "mvcollection", "mvproceedings",
    "mvreference", "conference", "manual",
})  # fmt: skip
_MULTIVOLUME: Final = frozenset({"mvbook", "mvcollection", "mvproceedings", "mvreference"})
_PARTS: Final = frozenset({
    "inbook", "incollection", "inproceedings", "inreference", "bookinbook", "suppbook",
    "suppcollection", "conference",
})  # fmt: skip
_REFERENCE = re.compile(
    r"(?<!\S)xdata\s*=\s*([^\s{},=]{1,200}?)-([a-z]{1,40})(?:-([1-9]\d{0,3}))?(?!\S)", re.IGNORECASE
)
#: References that lead to references, and the characters that they may become.
_MAX_REFERENCES: Final = 5
_MAX_VALUE: Final = 2**16
#: Entries inherit along chains of at most so many.
_MAX_CHAIN: Final = 20


@dataclass(frozen=True, slots=True)
class RawEntry:
    """The fields of an entry before they are decoded.

    Attributes:
        kind: the entry type, in lower case.
        fields: name in lower case → value, strings and pieces joined.
    """

    kind: str
    fields: Mapping[str, str]


def inherit(entry: RawEntry, by_key: Mapping[str, RawEntry]) -> RawEntry:
    """Returns an entry with the fields that it inherits; its own are kept.

    Args:
        entry: to complete.
        by_key: the entries of the bibliography, under their keys in lower case.
    """
    fields: Mapping[str, str] = entry.fields
    if {"crossref", "xdata"} & fields.keys():
        fields = _complete(entry, by_key, frozenset())
    if any("xdata" in value for value in fields.values()):
        fields = {name: _with_data(value, by_key) for name, value in fields.items()}
    return RawEntry(entry.kind, fields)


def _with_data(value: str, by_key: Mapping[str, RawEntry]) -> str:
    """Returns a value with `xdata=KEY-FIELD-NUMBER` replaced by what it refers to."""

    def found(match: re.Match[str]) -> str:
        data = by_key.get(match[1].lower())
        if data is None or data.kind != "xdata" or match[2] not in data.fields:
            return match[0]
        referenced = data.fields[match[2]]
        if match[3] is None:
            return referenced
        parts = re.split(r"\s+and\s+", referenced)
        index = int(match[3]) - 1
        return parts[index] if index < len(parts) else match[0]

    for _ in range(_MAX_REFERENCES):
        replaced = _REFERENCE.sub(found, value)
        if replaced == value or len(replaced) > _MAX_VALUE:
            break
        value = replaced
    return value


def _complete(
    entry: RawEntry, by_key: Mapping[str, RawEntry], seen: frozenset[int]
) -> dict[str, str]:
    fields = dict(entry.fields)
    seen |= {id(entry)}
    if len(seen) > _MAX_CHAIN:
        return fields
    for key in fields.get("xdata", "").split(","):
        data = by_key.get(key.strip().lower())
        if data is not None and id(data) not in seen:
            for name, value in _complete(data, by_key, seen).items():
                if name not in {"ids", "xdata"}:
                    fields.setdefault(name, value)
    parent = by_key.get(fields.get("crossref", "").strip().lower())
    if parent is not None and id(parent) not in seen:
        for name, value in _complete(parent, by_key, seen).items():
            for target in _targets(name, parent.kind, entry.kind):
                fields.setdefault(target, value)
    return fields


def _targets(name: str, parent: str, child: str) -> tuple[str, ...]:
    """Returns the fields of a child that a field of its parent is inherited by."""
    if name in _OWN:
        return ()
    plain = name in {"title", "subtitle", "titleaddon"}
    if plain and child in _PARTS and parent in _COLLECTIONS:
        return (f"main{name}" if parent in _MULTIVOLUME else f"book{name}",)
    if plain and parent in _MULTIVOLUME and child in _COLLECTIONS:
        return (f"main{name}",)
    if plain and child in {"article", "suppperiodical"} and parent == "periodical":
        return (f"journal{name}",)
    if plain and child in _PARTS | {"article"}:
        return ()
    if name == "author" and child in {"inbook", "bookinbook", "suppbook"}:
        return ("author", "bookauthor")
    return (name,)
