"""Edits a JSON object so that the source of unchanged members, and the layout, are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .library_text import span_edit

_DECODER: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """The layout of a file's JSON.

    Attributes:
        unit: the indentation of one level; empty for a file on one line.
        ascii_only: whether other characters are written as escapes.
        newline: the line separator.
        colon: between name and value.
        comma: between members on one line.
    """

    unit: str = "  "
    ascii_only: bool = False
    newline: str = "\n"
    colon: str = ": "
    comma: str = ", "

    def written(self, value: Any, indentation: str | None) -> str:
        """Returns the JSON text of a value whose lines start with `indentation`; on one line for
        None.
        """
        if indentation is None or not self.unit:
            return json.dumps(
                value,
                ensure_ascii=self.ascii_only,
                allow_nan=False,
                separators=(self.comma, self.colon),
            )
        text = json.dumps(
            value,
            ensure_ascii=self.ascii_only,
            allow_nan=False,
            indent=self.unit,
            separators=(",", self.colon),
        )
        return text.replace("\n", self.newline + indentation)


def edited_object(
    source: str, old: Mapping[str, Any], new: Mapping[str, Any], layout: JsonLayout
) -> str:
    """Returns the source of `new`, made from the source of `old`.

    Members keep their place; new ones are appended.
    """
    names, spans, values = _members(source)
    if not spans:
        return layout.written(dict(new), None) if new else source
    opening = source[1 : spans[0][0]]
    last = {name: number for number, name in enumerate(names)}
    changed: dict[int, str | None] = {}
    for number, name in enumerate(names):
        if name not in new:
            changed[number] = None
        elif number == last[name] and not same(old[name], new[name]):
            start, end = spans[number]
            value = source[values[number] : end]
            changed[number] = source[start : values[number]] + _edited(
                value, old[name], new[name], layout, _indentation(source[:start])
            )
    added = [
        json.dumps(name, ensure_ascii=layout.ascii_only)
        + layout.colon
        + layout.written(value, _indentation(source[: spans[0][0]]))
        for name, value in new.items()
        if name not in last
    ]
    if len(spans) > 1:
        separator = source[spans[-2][1] : spans[-1][0]]
    else:
        separator = "," + opening if "\n" in opening else layout.comma
    return span_edit(source, spans, changed, added, separator)


def same(first: Any, second: Any) -> bool:
    """Returns whether two JSON values are the same; the order of members does not count.

    In contrast to `==`, true and 1 differ, and so do 1 and 1.0.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            same(value, second[name]) for name, value in first.items()
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    return type(first) is type(second) and bool(first == second)


def _edited(source: str, old: Any, new: Any, layout: JsonLayout, indentation: str | None) -> str:
    if isinstance(old, dict) and isinstance(new, dict) and new:
        return edited_object(source, old, new, layout)
    return layout.written(new, indentation)


def _indentation(before: str) -> str | None:
    """Returns the blanks at the start of the line that follows `before`; None inside a line."""
    line = before[before.rfind("\n") + 1 :]
    return line if "\n" in before and not line.strip(" \t") else None


def _members(source: str) -> tuple[list[str], list[tuple[int, int]], list[int]]:
    """Returns names, spans and starts of the values of an object's members."""
    names: list[str] = []
    spans: list[tuple[int, int]] = []
    values: list[int] = []
    at = _after_space(source, 1)
    while source[at] == '"':
        name, end = _DECODER.raw_decode(source, at)
        value = _after_space(source, _after_space(source, end) + 1)
        _, end = _DECODER.raw_decode(source, value)
        names.append(name)
        spans.append((at, end))
        values.append(value)
        at = _after_space(source, end)
        if source[at] == ",":
            at = _after_space(source, at + 1)
    return names, spans, values


def _after_space(source: str, at: int) -> int:
    found = _SPACE.match(source, at)
    assert found is not None
    return found.end()
