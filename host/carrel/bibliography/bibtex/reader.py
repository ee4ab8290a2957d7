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
#: Fields that are lists, whose values are joined if there are several.
_SEPARATORS: Final = {
    "author": " and ", "editor": " and ", "keywords": ", ", "file": ";", "note": "; ",
    "annote": "; ",
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
    for block, entry, _ in raw:
        for key in (block.key, *entry.fields.get("ids", "").split(",")):
            if key.strip():
                by_key.setdefault(key.strip().lower(), entry)
    lines = _Lines(text)
    found: list[tuple[BibtexBlock, Entry]] = []
    unread: list[Unread] = []
    first_lines: dict[str, int] = {}
    for number, (block, entry, notes) in enumerate(raw, 1):
        line = lines.of(block.start)
        label = block.key or f"record {number}"
        first = first_lines.setdefault(block.key or label, line)
        problems = [_problem(block, entry), *notes]
        if first != line:
            problems.append(f"its key is that of the entry on line {first}; both were read")
        if block.kind != "xdata" and (entry.fields or not block.problem):
            try:
                item = item_of(block.key, inherit(entry, by_key))
            except (RecursionError, ValueError, OverflowError) as error:
                problems.append(f"a value cannot be decoded: {error}")
            else:
                found.append((block, Entry(item, label, line)))
        unread += [Unread(label, line, problem) for problem in problems if problem]
    return found, unread


def _raw_entries(blocks: Iterable[BibtexBlock]) -> list[tuple[BibtexBlock, RawEntry, list[str]]]:
    """Returns the entries with their fields, and what is wrong with the values of each."""
    strings = dict(_MONTHS)
    raw: list[tuple[BibtexBlock, RawEntry, list[str]]] = []
    for block in blocks:
        if block.kind == "string":
            for field in block.fields:
                strings[field.name] = _value(field, strings)
        elif block.is_entry:
            fields, notes = _fields(block, strings)
            raw.append((block, RawEntry(block.kind, fields), notes))
    return raw


def _problem(block: BibtexBlock, entry: RawEntry) -> str:
    if block.problem:
        suffix = f"; fields that were read: {', '.join(entry.fields)}" if entry.fields else ""
        return f"@{block.kind}: {block.problem}{suffix}"
    if block.skipped:
        return (
            f"@{block.kind}: a field was expected, but {block.skipped!r} was found; it was left out"
        )
    if block.kind == "xdata":
        return "@xdata: it is no work; the entries that name it have its fields"
    return ""


def _fields(block: BibtexBlock, strings: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Returns the fields of an entry by their names, and what is wrong with them."""
    found: dict[str, str] = {}
    notes: list[str] = []
    for field in block.fields:
        value = _value(field, strings)
        notes += [
            f"the string {text!r} is not defined; its name was read"
            for delimiter, text in field.pieces
            if not delimiter and not _is_defined(field.name, text, strings)
        ]
        if _depth(value) > MAX_DEPTH:
            block.problem = f"{field.name!r} has braces nested deeper than {MAX_DEPTH} levels"
        elif not found.get(field.name, "").strip():
            found[field.name] = value
        elif value.strip() and value.split() != found[field.name].split():
            separator = _SEPARATORS.get(field.name)
            if separator:
                found[field.name] += f"{separator}{value}"
            else:
                lost = " ".join(value.split())[:60]
                notes.append(f"it has a second {field.name!r}, {lost!r}, which was left out")
    return {name: value for name, value in found.items() if value.strip()}, notes


def _is_defined(name: str, text: str, strings: Mapping[str, str]) -> bool:
    return text.lower() in strings or not text[:1].isalpha() or name in {"month", "date"}


def _value(field: BibtexField, strings: Mapping[str, str]) -> str:
    if len(field.pieces) == 1 and field.pieces[0][0]:
        return field.pieces[0][1]
    value = "".join(
        text if delimiter else strings.get(text.lower(), text) for delimiter, text in field.pieces
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
