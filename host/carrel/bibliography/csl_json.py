"""Reads and writes CSL-JSON: a list of items, `{"items": [...]}`, or an object of items by id.

An item is kept as it is, members that CSL does not define included, but for two things that
programs write in several ways: `id` becomes text, and the parts of a date become numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from .bibliography import Bibliography, Entry, Unread
from .errors import BibliographyError
from .item import DATE_VARIABLES, Item
from .keys import with_keys
from .limits import MAX_DEPTH, MAX_ENTRIES

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Members of an object that is one item, not an object of items.
_OF_AN_ITEM: Final = ("type", "title", "DOI", "author", "issued")


def read_csl_json(text: str) -> Bibliography:
    """Returns the items of a CSL-JSON text.

    Raises:
        BibliographyError: `MALFORMED`; it is not JSON, or no list or object of items.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise BibliographyError(
            "MALFORMED", f"the bibliography is JSON nested deeper than {MAX_DEPTH} levels"
        ) from None
    except ValueError as error:
        raise BibliographyError("MALFORMED", f"the bibliography is not JSON: {error}") from None
    entries, unread = [], []
    for number, (label, record) in enumerate(_items(value), 1):
        if number > MAX_ENTRIES:
            raise BibliographyError(
                "TOO_LARGE", f"the bibliography has more than {MAX_ENTRIES:,} entries; split it"
            )
        problem = _problem(record)
        if problem:
            unread.append(Unread(label or f"record {number}", None, problem))
            continue
        item = _normal(record, label)
        entries.append(Entry(item, item["id"] or f"record {number}"))
    return Bibliography("csl-json", tuple(entries), tuple(unread))


def write_csl_json(items: Sequence[Item]) -> str:
    """Returns the items as a CSL-JSON text: a list, one member a line.

    An item without an `id` gets one.
    """
    named = [item if item.get("id") else {**item, "id": key} for item, key in with_keys(items)]
    text = json.dumps(named, ensure_ascii=False, indent=2)
    return _SURROGATE.sub("\ufffd", text) + "\n"


def _items(value: object) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        inner = value.get("items")
        if isinstance(inner, list | dict):
            return _items(inner)
        if value and not any(name in value for name in _OF_AN_ITEM):
            return [(str(key), record) for key, record in value.items()]
        return [("", value)] if value else []
    if not isinstance(value, list):
        raise BibliographyError(
            "MALFORMED", "the bibliography is JSON, but neither a list nor an object of CSL items"
        )
    return [("", record) for record in value]


def _problem(record: object) -> str:
    if not isinstance(record, dict):
        return f"it is {_kind(record)}, not an object with the members of a CSL item"
    if "itemType" in record and "type" not in record:
        return "it is an item of Zotero's own format; export the library as CSL-JSON"
    if _depth(record) > MAX_DEPTH:
        return f"it is nested deeper than {MAX_DEPTH} levels"
    return ""


def _kind(value: object) -> str:
    kinds = {str: "a text", bool: "a truth value", list: "a list", type(None): "null"}
    return kinds.get(type(value), "a number")


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        deepest += 1
        inner: list[object] = []
        for element in level:
            if isinstance(element, dict):
                inner += element.values()
            elif isinstance(element, list):
                inner += element
        level = inner
    return deepest


def _normal(record: dict[str, Any], label: str) -> Item:
    raw_id = record.get("id")
    has_id = isinstance(raw_id, str | int | float) and not isinstance(raw_id, bool)
    item: Item = record if "id" in record else {"id": "", **record}
    item["id"] = str(raw_id) if has_id else label
    for name in DATE_VARIABLES:
        date = item.get(name)
        if isinstance(date, dict) and isinstance(date.get("date-parts"), list):
            date["date-parts"] = [_numbers(part) for part in date["date-parts"]]
    return item


def _numbers(parts: object) -> object:
    if not isinstance(parts, list):
        return parts
    return [
        int(part) if isinstance(part, str) and re.fullmatch(r"-?[0-9]{1,6}", part) else part
        for part in parts
    ]


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON value")
