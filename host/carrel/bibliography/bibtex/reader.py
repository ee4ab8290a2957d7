"""Reads BibTeX and BibLaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from carrel.bibliography.bibliography import Bibliography, Entry, Unread
from carrel.bibliography.errors import BibliographyError
from carrel.bibliography.limits import MAX_DEPTH, MAX_ENTRIES

from .inheritance import RawEntry, inherit
from .reading import item_of
from .scan import BibtexBlock, BibtexField, scan

#: The strings that every style defines.
_MONTHS: Final = {
    name: name
    for name in (
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"
    )
}  # fmt: skip
#: Characters of the longest value that strings are replaced in; each use may double it.
_MAX_VALUE: Final = 2**21


def read_bibtex(text: str) -> Bibliography:
    """Returns the entries of a BibTeX text."""
    return _read(text, "bibtex")


def read_biblatex(text: str) -> Bibliography:
    """Returns the entries of a BibLaTeX text; the same as `read_bibtex` but for its name."""
    return _read(text, "biblatex")


def _read(text: str, name: str) -> Bibliography:
    blocks = []
    for block in scan(text):
        blocks.append(block)
        if len(blocks) > MAX_ENTRIES:
            raise BibliographyError(
                "TOO_LARGE", f"the bibliography has more than {MAX_ENTRIES:,} entries; split it"
            )
    found, unread = entries_of(text, blocks)
    return Bibliography(name, tuple(entry for _, entry in found), tuple(unread))


def entries_of(
    text: str, blocks: Iterable[BibtexBlock]
) -> tuple[list[tuple[BibtexBlock, Entry]], list[Unread]]:
    """Returns the entry of each block that is one, and what could not be read."""
    raw = _raw_entries(blocks)
    by_key: dict[str, RawEntry] = {}
    for block, entry in raw:
        for key in (block.key, *entry.fields.get("ids", "").split(",")):
            if key.strip():
                by_key.setdefault(key.strip().lower(), entry)
    lines = _Lines(text)
    found: list[tuple[BibtexBlock, Entry]] = []
    unread: list[Unread] = []
    first_lines: dict[str, int] = {}
    for number, (block, entry) in enumerate(raw, 1):
        line = lines.of(block.start)
        label = block.key or f"record {number}"
        first = first_lines.setdefault(block.key or label, line)
        told = [_problem(block, entry)]
        if first != line:
            told.append(f"its key is that of the entry on line {first}; both were read")
        if block.kind != "xdata" and (entry.fields or not block.problem):
            try:
                item = item_of(block.key, inherit(entry, by_key))
            except (RecursionError, ValueError, OverflowError) as error:
                told.append(f"a value cannot be decoded: {error}")
            else:
                found.append((block, Entry(item, label, line)))
        unread += [Unread(label, line, one) for one in told if one]
    return found, unread


def _raw_entries(blocks: Iterable[BibtexBlock]) -> list[tuple[BibtexBlock, RawEntry]]:
    strings = dict(_MONTHS)
    raw: list[tuple[BibtexBlock, RawEntry]] = []
    for block in blocks:
        if block.kind == "string":
            for one in block.fields:
                strings[one.name] = _value(one, strings)
        elif block.is_entry:
            raw.append((block, RawEntry(block.kind, _fields(block, strings))))
    return raw


def _problem(block: BibtexBlock, entry: RawEntry) -> str:
    if block.problem:
        kept = f"; read up to there: {', '.join(entry.fields)}" if entry.fields else ""
        return f"@{block.kind}: {block.problem}{kept}"
    if block.skipped:
        return (
            f"@{block.kind}: a field was expected, but {block.skipped!r} was found; it was left out"
        )
    if block.kind == "xdata":
        return "@xdata: it is no work; the entries that name it have its fields"
    return ""


def _fields(block: BibtexBlock, strings: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in block.fields:
        value = _value(one, strings)
        if _depth(value) > MAX_DEPTH:
            block.problem = f"{one.name!r} has braces nested deeper than {MAX_DEPTH} levels"
        elif one.name not in found:
            found[one.name] = value
        elif value != found[one.name] and one.name in {"keywords", "url", "file"}:
            separator = ", " if one.name == "keywords" else ";" if one.name == "file" else ""
            found[one.name] += f"{separator}{value}" if separator else ""
    return {name: value for name, value in found.items() if value.strip()}


def _value(one: BibtexField, strings: Mapping[str, str]) -> str:
    if len(one.pieces) == 1 and one.pieces[0][0]:
        return one.pieces[0][1]
    value = "".join(
        text if delimiter else strings.get(text.lower(), text) for delimiter, text in one.pieces
    )
    return value[:_MAX_VALUE]


def _depth(value: str) -> int:
    if value.count("{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for character in value:
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
    return deepest


class _Lines:
    """Counts lines up to positions that only grow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._line = 1

    def of(self, position: int) -> int:
        """Returns the line of a position, from 1."""
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line
