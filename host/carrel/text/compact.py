"""Writes JSON results as compact text for models: each name once, few quotes and brackets.

The text has the same content as the JSON; `docs/reference/compact-text.md` has its grammar. Not
used for tools that write their own text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .printable import escaped_json_text

#: Minimum length of a repeated text that becomes a footnote.
_LONG: Final = 32
#: Maximum number of members of an inner object that are written with its name as prefix.
_FEW: Final = 4
#: Maximum characters of an item for several items on one line.
_SHORT: Final = 60
#: Maximum characters of an item that is written as a table row.
_WIDE: Final = 240
#: Minimum length of an identifier that is replaced in an adjacent URL.
_TELLING: Final = 4

_NAME: Final = re.compile(r"[A-Za-z_$@][A-Za-z0-9_$@/-]*\Z")
#: Beginnings of a value that would be misread without quotes.
_MARKS: Final = frozenset('"*=&')
_WORDS: Final = frozenset({"{}", "[]", "|"})
_TEXT: Final = "[^\x00-\x1f\x7f]+"

_ABSENT: Final = object()

Members = list[tuple[str, Any]]


def compact_text(result: Mapping[str, Any]) -> str:
    """Returns a result as text; equal results give equal texts."""
    writer = _Writer(result)
    return "\n".join([*writer.footnotes(), *writer.members(result, "")])


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: a scalar, a list of scalars, or a list of objects of scalars."""

    name: str
    is_list: bool = False
    fields: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        return f"{self.name}[{', '.join(self.fields)}]" if self.is_list else self.name


class _Writer:
    """Writes one result.

    Args:
        result: the result; its repeated texts become footnotes.
    """

    def __init__(self, result: Mapping[str, Any]) -> None:
        counts = Counter(text for text in _texts(result) if len(text) >= _LONG)
        repeated = [text for text, count in counts.items() if count > 1]
        self._notes = {text: number for number, text in enumerate(repeated, 1)}

    def footnotes(self) -> Iterator[str]:
        for text, number in self._notes.items():
            yield f"&{number} {_quoted(text) if _needs_quotes(text, '') else text}"

    def members(self, value: Mapping[str, Any], indent: str, path: str = "") -> list[str]:
        """Returns the lines of an object's members."""
        lines: list[str] = []
        for key, member in value.items():
            lines += self._member(path + _name(key), member, indent, value)
        return lines

    def _member(self, name: str, value: Any, indent: str, siblings: Mapping[str, Any]) -> list[str]:
        if isinstance(value, Mapping):
            if not value:
                return [f"{indent}{name}: {{}}"]
            if len(value) <= _FEW and not any(
                isinstance(member, Mapping) for member in value.values()
            ):
                return self.members(value, indent, f"{name}.")
            return [f"{indent}{name}:", *self.members(value, indent + " ")]
        if isinstance(value, list):
            return self._list(name, value, indent)
        if isinstance(value, str) and _is_block(value) and value not in self._notes:
            return [f"{indent}{name}: |", *(f"{indent} {line}" for line in value.split("\n"))]
        return [f"{indent}{name}: {self._scalar(value, siblings)}"]

    def _list(self, name: str, items: Sequence[Any], indent: str) -> list[str]:
        if all(not _holds(item) for item in items):
            return [f"{indent}{name}[]: {self._scalars(items, ';')}".rstrip()]
        if not all(isinstance(item, Mapping) for item in items):
            return [f"{indent}{name} := {_quoted(items)}"]
        shared = self._shared(items)
        rest = [{key: value for key, value in item.items() if key not in shared} for item in items]
        common = [f"{indent} *{_name(key)}: {value}" for key, value in shared.items()]
        forms = [[f"{indent}{name}[-]:", *common, *self._records(items, rest, indent)]]
        columns = self._columns(rest)
        if columns is not None:
            head = f"{indent}{name}[{', '.join(column.head for column in columns)}]:"
            pairs = list(zip(rest, items, strict=True))
            rows = [self._row(columns, item, whole, " | ", "|") for item, whole in pairs]
            if sum(map(len, rows)) <= _WIDE * len(rows):
                forms.append([head, *common, *(f"{indent} {row}" for row in rows)])
            if not common and not any(column.is_list for column in columns):
                short = [self._row(columns, item, whole, ", ", ",;") for item, whole in pairs]
                if sum(map(len, short)) <= _SHORT * len(short):
                    forms.append([f"{head} {'; '.join(short)}"])
        return min(forms, key=lambda lines: sum(len(line) + 1 for line in lines))

    def _records(
        self, items: Sequence[Mapping[str, Any]], rest: Sequence[Mapping[str, Any]], indent: str
    ) -> Iterator[str]:
        """Yields the lines of a list of objects, one after another."""
        for whole, item in zip(items, rest, strict=True):
            lines = []
            for key, member in item.items():
                lines += self._member(_name(key), member, indent + "  ", whole)
            first = lines[0][len(indent) + 2 :] if lines else "{}"
            yield f"{indent} -{first}"
            yield from lines[1:]

    def _shared(self, items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Members that are the same in all of several objects, as they are written."""
        if len(items) < 2:
            return {}
        shared = {}
        for key, value in items[0].items():
            values = [item.get(key, _ABSENT) for item in items]
            if any(type(member) is not type(value) for member in values) or _holds(value):
                continue
            written = {
                self._scalar(member, item) for member, item in zip(values, items, strict=True)
            }
            if len(written) == 1:
                shared[key] = written.pop()
        return shared if all(len(item) > len(shared) for item in items) else {}

    def _columns(self, items: Sequence[Mapping[str, Any]]) -> list[_Column] | None:
        """Returns the columns that hold all of the objects; None when they are no table."""
        kinds: dict[str, set[str]] = {}
        fields: dict[str, Counter[str]] = {}
        counts: Counter[str] = Counter()
        for item in items:
            found = _flat(item)
            if not found:
                return None
            for name, value in found:
                counts[name] += 1
                kind = _kind(value)
                kinds.setdefault(name, set()).add(kind)
                if kind == "objects":
                    tally = fields.setdefault(name, Counter())
                    tally.update(_name(key) for entry in value for key in entry)
        if any(None in map(_column_kind, kind) or len(kind) > 1 for kind in kinds.values()):
            return None
        columns = []
        for name, _ in counts.most_common():
            kind = next(iter(kinds[name]))
            named = tuple(key for key, _ in fields[name].most_common()) if name in fields else ()
            columns.append(_Column(name, kind != "scalar", named))
        return columns

    def _row(
        self,
        columns: Sequence[_Column],
        item: Mapping[str, Any],
        whole: Mapping[str, Any],
        between: str,
        separators: str,
    ) -> str:
        values = dict(_flat(item))
        cells = []
        for column in columns:
            if column.name not in values:
                cells.append("")
                continue
            value = values[column.name]
            if column.fields:
                cells.append(self._tuples(column.fields, value))
            elif column.is_list:
                cells.append(self._scalars(value, ";|") or "[]")
            elif value == {}:
                cells.append("{}")
            else:
                cells.append(self._scalar(value, whole, separators))
        while not cells[-1]:
            cells.pop()
        return between.join(cells)

    def _tuples(self, fields: Sequence[str], items: Sequence[Mapping[str, Any]]) -> str:
        rows = []
        for item in items:
            named = {_name(key): value for key, value in item.items()}
            cells = [
                self._scalar(named[field], item, ",;|") if field in named else ""
                for field in fields
            ]
            while not cells[-1]:
                cells.pop()
            rows.append(", ".join(cells))
        return "; ".join(rows) or "[]"

    def _scalars(self, values: Sequence[Any], separators: str) -> str:
        written = [self._scalar(value, {}, separators) for value in values]
        # A number after a space takes one more token.
        return ("; " if any(" " in text for text in written) else ";").join(written)

    def _scalar(self, value: Any, siblings: Mapping[str, Any], separators: str = "") -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        if value in self._notes:
            return f"*{self._notes[value]}"
        written = _template(value, siblings) or value
        if _needs_quotes(written, separators, is_template=written is not value):
            return _quoted(value)
        return written


def _texts(value: Any) -> Iterator[str]:
    """Yields every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _flat(item: Mapping[str, Any], path: str = "") -> Members:
    """Returns the members of an object, those of inner objects under the path to them."""
    found: Members = []
    for key, value in item.items():
        name = path + _name(key)
        if isinstance(value, Mapping) and value:
            found += _flat(value, f"{name}.")
        else:
            found.append((name, value))
    return found


def _holds(value: Any) -> bool:
    """Returns whether a value contains other values."""
    return isinstance(value, Mapping | list)


def _kind(value: Any) -> str:
    if not isinstance(value, list):
        return "scalar"
    if all(not _holds(item) for item in value):
        return "list"
    tuples = all(
        isinstance(item, Mapping) and item and not any(_holds(inner) for inner in item.values())
        for item in value
    )
    return "objects" if tuples else "other"


def _column_kind(kind: str) -> str | None:
    return None if kind == "other" else kind


def _template(value: str, siblings: Mapping[str, Any]) -> str | None:
    """Returns a URL with an identifier replaced by its member's name in braces."""
    if not value.startswith("http") or "{" in value or "}" in value:
        return None
    best, found = "", None
    for name, text in _flat(
        {key: sibling for key, sibling in siblings.items() if key.isidentifier()}
    ):
        if not isinstance(text, str) or text.startswith("http") or '"' in name:
            continue
        shorter = len(text) > max(_TELLING, len(name) + 2, len(best))
        if shorter and value.count(text) == 1:
            best, found = text, name
    return None if found is None else "=" + value.replace(best, f"{{{found}}}")


def _name(key: str) -> str:
    return key if _NAME.match(key) else _quoted(key)


def _needs_quotes(text: str, separators: str, *, is_template: bool = False) -> bool:
    if not text or (text[0] in _MARKS and not is_template) or text in _WORDS:
        return True
    if separators and ('"' in text or any(separator in text for separator in separators)):
        return True
    if text != text.strip():
        return True
    return not re.fullmatch(_TEXT, text) or _hides(text)


def _is_block(text: str) -> bool:
    """Returns whether a text of several lines can be written as lines."""
    return "\n" in text and all(
        not line or (re.fullmatch("[^\x00-\x08\x0b-\x1f\x7f]+", line) and not _hides(line))
        for line in text.split("\n")
    )


def _hides(text: str) -> bool:
    return not text.isascii() and escaped_json_text(text) != text


def _quoted(value: Any) -> str:
    return escaped_json_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
