"""Parses compact text, by the rules of `docs/reference/compact-text.md`.

Numbers, booleans and null are returned as the texts that they are written as; only a result's
schema says which they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s".:\[\],]+')


def as_written(value: Any) -> Any:
    """Returns a JSON value with numbers, booleans and null as their JSON texts."""
    if isinstance(value, dict):
        return {key: as_written(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_written(one) for one in value]
    return value if isinstance(value, str) else json.dumps(value)


def read_compact(text: str) -> dict[str, Any]:
    """Returns the value of a compact text."""
    reader = _Reader(text.split("\n"))
    found = reader.members(0)
    assert not reader.lines, reader.lines[:3]
    whole = reader.resolved(found)
    assert isinstance(whole, dict)
    return whole


class _Template(str):
    __slots__ = ()


class _Note(str):
    __slots__ = ()


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.notes: dict[str, str] = {}
        while lines and lines[0].startswith("&"):
            number, _, rest = lines.pop(0)[1:].partition(" ")
            self.notes[number] = json.loads(rest) if rest.startswith('"') else rest
        self.lines = lines if lines != [""] else []

    def members(self, depth: int, found: dict[str, Any] | None = None) -> dict[str, Any]:
        found = {} if found is None else found
        while self.lines and _depth(self.lines[0]) == depth and self.lines[0][depth] not in "-*":
            self._member(self.lines.pop(0)[depth:], depth, found)
        return found

    def _member(self, line: str, depth: int, found: dict[str, Any]) -> None:
        path, rest = _path(line)
        if rest.startswith(" := "):
            value: Any = as_written(json.loads(rest[4:]))
        elif rest.startswith("["):
            value = self._list(rest, depth)
        elif rest == ":":
            value = self.members(depth + 1)
        elif rest == ": |":
            value = "\n".join(self._block(depth + 1))
        else:
            assert rest.startswith(": "), line
            value = _scalar(rest[2:])
        _put(found, path, value)

    def _block(self, depth: int) -> list[str]:
        kept = []
        while self.lines and (self.lines[0][:depth] == " " * depth):
            kept.append(self.lines.pop(0)[depth:])
        return kept

    def _list(self, rest: str, depth: int) -> list[Any]:
        if rest.startswith("[]:"):
            return [_scalar(one) for one in _split(rest[3:].strip(), ";")] if rest[3:] else []
        if rest == "[-]:":
            shared, items = self._shared(depth + 1), []
            while self.lines and self.lines[0].startswith(" " * (depth + 1) + "-"):
                first = self.lines.pop(0)[depth + 2 :]
                item: dict[str, Any] = {}
                if first != "{}":
                    self._member(first, depth + 2, item)
                    self.members(depth + 2, item)
                items.append(item)
            return [{**shared, **item} for item in items]
        columns, rest = _columns(rest)
        if rest.startswith(": "):
            return [_row(columns, row, ",") for row in _split(rest[2:], ";")]
        assert rest == ":", rest
        shared, rows = self._shared(depth + 1), []
        while self.lines and _depth(self.lines[0], exactly=depth + 1):
            rows.append(_row(columns, self.lines.pop(0)[depth + 1 :], "|"))
        return [{**shared, **row} for row in rows]

    def _shared(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (
            self.lines
            and self.lines[0].startswith(" " * depth + "*")
            and (re.match(r'\s*\*(?:"|[A-Za-z_$@])', self.lines[0]))
        ):
            path, rest = _path(self.lines.pop(0)[depth + 1 :])
            _put(found, path, _scalar(rest[2:]))
        return found

    def resolved(self, value: Any, siblings: dict[str, Any] | None = None) -> Any:
        if isinstance(value, dict):
            return {key: self.resolved(one, value) for key, one in value.items()}
        if isinstance(value, list):
            return [self.resolved(one, siblings) for one in value]
        if isinstance(value, _Note):
            return self.notes[str(value)]
        if isinstance(value, _Template):
            return re.sub(r"\{(.+?)\}", lambda name: self._named(name[1], siblings or {}), value)
        return str(value)

    def _named(self, path: str, siblings: dict[str, Any]) -> str:
        found: Any = siblings
        for part in path.split("."):
            found = found[part]
        return str(self.resolved(found, siblings))


def _depth(line: str, *, exactly: int | None = None) -> int | bool:
    depth = len(line) - len(line.lstrip(" "))
    return depth if exactly is None else depth >= exactly


def _path(line: str) -> tuple[list[str], str]:
    path = []
    while True:
        name = _NAME.match(line)
        assert name is not None, line
        path.append(json.loads(name[0]) if name[0].startswith('"') else name[0])
        line = line[name.end() :]
        if not line.startswith("."):
            return path, line
        line = line[1:]


def _put(found: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        found = found.setdefault(part, {})
    found[path[-1]] = value


def _columns(text: str) -> tuple[list[tuple[list[str], list[list[str]] | None]], str]:
    """Returns the columns of a header that begins with a bracket, and the rest of the line."""
    columns: list[tuple[list[str], list[list[str]] | None]] = []
    text = text[1:]
    while True:
        path, text = _path(text)
        fields: list[list[str]] | None = None
        if text.startswith("["):
            fields, text = [], text[1:]
            while not text.startswith("]"):
                field, text = _path(text.removeprefix(", "))
                fields.append(field)
            text = text[1:]
        columns.append((path, fields))
        if text.startswith("]"):
            return columns, text[1:]
        text = text.removeprefix(", ")


def _row(columns: Any, text: str, separator: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (path, fields), cell in zip(columns, _split(text, separator), strict=False):
        if not cell:
            continue
        if fields is None:
            value: Any = _scalar(cell)
        elif cell == "[]":
            value = []
        elif not fields:
            value = [_scalar(one) for one in _split(cell, ";")]
        else:
            named = [(field, None) for field in fields]
            value = [_row(named, one, ",") for one in _split(cell, ";")]
        _put(found, path, value)
    return found


def _split(text: str, separator: str) -> list[str]:
    """Returns the pieces between separators outside of quotes."""
    pieces, piece, at = [], "", 0
    while at < len(text):
        quoted = _QUOTED.match(text, at)
        if quoted:
            piece += quoted[0]
            at = quoted.end()
        elif text[at] == separator:
            pieces.append(piece.strip())
            piece, at = "", at + 1
        else:
            piece += text[at]
            at += 1
    return [*pieces, piece.strip()]


def _scalar(text: str) -> Any:
    if text == "{}":
        return {}
    if text.startswith('"'):
        return json.loads(text)
    if text.startswith("*"):
        return _Note(text[1:])
    return _Template(text[1:]) if text.startswith("=") else text
