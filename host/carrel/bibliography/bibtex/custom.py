"""Keeps what CSL has no variable for: unknown fields, and the `custom` member of an item.

Unknown fields are in `custom` under `bibtex`, as they are written in the file. The other members of
`custom` are in one field, `carrel`, as JSON without characters that BibTeX treats specially.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.bibliography.item import Item
from carrel.bibliography.texts import one_line

from .escapes import balanced

_NAME = re.compile(r"[a-z][a-z0-9_+:-]{0,60}")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
#: Characters of JSON's texts that BibTeX, or programs that read it, treat specially.
_UNSAFE = re.compile("[{}%@#]")


def read_custom(item: Item, source: str, unknown: Mapping[str, str]) -> None:
    """Sets `custom` of an item, if there is anything to keep."""
    custom: dict[str, Any] = {}
    if source:
        try:
            parsed = json.loads(source)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict):
            custom = parsed
        else:
            unknown = {**unknown, "carrel": source}
    if unknown:
        custom["bibtex"] = dict(unknown)
    if custom:
        item["custom"] = custom


def unknown_fields(item: Item) -> Iterator[tuple[str, str]]:
    """Yields the stored fields whose value cannot end the entry."""
    custom = item.get("custom")
    fields = custom.get("bibtex") if isinstance(custom, dict) else None
    for name, value in fields.items() if isinstance(fields, dict) else ():
        if isinstance(value, str) and _NAME.fullmatch(str(name)) and value.strip():
            line = one_line(value)
            if balanced(line):
                yield name, line


def custom_field(item: Item) -> str:
    """Returns the value of the field for the other members of `custom`; empty if there are none."""
    custom = item.get("custom")
    if not isinstance(custom, dict):
        return ""
    rest = {key: value for key, value in custom.items() if key != "bibtex"}
    if not rest:
        return ""
    text = json.dumps(rest, ensure_ascii=True, separators=(",", ":"))
    return _TEXT.sub(lambda found: _UNSAFE.sub(_code, found[0]), text)


def _code(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
