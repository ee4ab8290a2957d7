"""Edits a BibTeX text entry by entry, so that every other byte is kept.

An edit replaces the values of the fields that it changes, in their place and under their own names;
new fields follow the last one, laid out like it. Comments, strings, the order of entries and
fields, line ends and the spelling of untouched values stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from carrel.bibliography.bibliography import Entry, Unread
from carrel.bibliography.dates import date_of
from carrel.bibliography.item import Item, text_of
from carrel.bibliography.keys import with_keys
from carrel.bibliography.sniff import is_biblatex

from .fields import ALIASES, PUBLISHERS
from .reader import entries_of
from .scan import BibtexBlock, BibtexField, scan
from .writer import entry_type, fields_of, issued_fields, safe_key, write_entry

#: A position of the text, its end, and what comes there instead.
_Change = tuple[int, int, str]

_DATES: Final = ("date", "year", "month", "day")
#: Fields that the title of the container is read from, in the order of the reader.
_CONTAINERS: Final = ("journaltitle", "journal", "journal-full", "booktitle", "maintitle")
#: Field → the fields that it may be read from, the preferred one first.
_SAME: Final = {
    "publisher": PUBLISHERS,
    "institution": PUBLISHERS,
    "school": PUBLISHERS,
    "number": ("number", "issue"),
    "journal": _CONTAINERS,
    "journaltitle": _CONTAINERS,
    "booktitle": _CONTAINERS,
    "maintitle": _CONTAINERS,
    "address": ("address", "location"),
    "location": ("location", "address"),
    "annote": ("annote", "annotation"),
    "annotation": ("annotation", "annote"),
    "langid": ("langid", "hyphenation", "language"),
    "language": ("langid", "hyphenation", "language"),
    "archiveprefix": ("eprinttype", "archiveprefix"),
    "pagetotal": ("pagetotal", "numpages"),
    "library": ("library", "call-number", "lccn"),
    "shortjournal": ("shortjournal", "journalabbr"),
}
#: Field → the field of its second half, which a new value includes.
_SECOND_HALVES: Final = {
    "title": "subtitle", "booktitle": "booksubtitle", "journal": "journalsubtitle",
    "journaltitle": "journalsubtitle",
}  # fmt: skip
_TRAILING = re.compile(r"[ \t]*(?:\r?\n)?")
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")


class BibtexText:
    """A BibTeX text and its entries.

    Attributes:
        text: the whole.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._blocks = list(scan(text))

    @cached_property
    def _read(self) -> tuple[list[tuple[BibtexBlock, Entry]], list[Unread]]:
        return entries_of(self.text, self._blocks)

    @property
    def entries(self) -> Sequence[tuple[str, Item, tuple[int, int]]]:
        """The key, the item, and start and end of each entry."""
        return [(block.key, entry.item, (block.start, block.end)) for block, entry in self._read[0]]

    @property
    def unread(self) -> Sequence[Unread]:
        """The entries that cannot be read; they are kept unchanged."""
        return self._read[1]

    @cached_property
    def _line_end(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def with_entry(self, key: str, item: Item) -> str:
        """Returns the text with an entry changed to an item; the first of several with the key.

        Raises:
            KeyError: no entry has the key.
        """
        return self.edited({self._index_of(key): item}, ())

    def without(self, key: str) -> str:
        """Returns the text without an entry and its line end; the first of several with the key.

        Raises:
            KeyError: no entry has the key.
        """
        return self.edited({self._index_of(key): None}, ())

    def appended(self, item: Item) -> str:
        """Returns the text with a further entry."""
        return self.edited({}, (item,))

    def edited(self, changed: Mapping[int, Item | None], added: Sequence[Item]) -> str:
        """Returns the text with entries changed, removed and appended.

        Args:
            changed: index of an entry in `entries` → its new item; None removes it.
            added: items of further entries.
        """
        found = self._read[0]
        changes: list[_Change] = []
        for index, item in changed.items():
            block, entry = found[index]
            if item is None:
                changes.append((block.start, self._end_of_lines(block), ""))
            else:
                changes += self._changes(block, entry.item, item)
        if added:
            changes.append(self._addition(added))
        pieces, at = [], 0
        for start, end, text in sorted(changes, key=lambda change: change[:2]):
            pieces += [self.text[at:start], text]
            at = max(at, end)
        return "".join([*pieces, self.text[at:]])

    def _index_of(self, key: str) -> int:
        for index, (block, _) in enumerate(self._read[0]):
            if block.key == key:
                return index
        raise KeyError(key)

    def _end_of_lines(self, block: BibtexBlock) -> int:
        """Returns the end of a block, with its line's end and a blank line behind it."""
        line_start = self.text.rfind("\n", 0, block.start) + 1
        if self.text[line_start : block.start].strip():
            return block.end
        match = _TRAILING.match(self.text, block.end)
        end = match.end() if match else block.end
        if end < len(self.text) and not self.text[block.end : end].endswith("\n"):
            return block.end
        blank = _BLANK_LINE.match(self.text, end)
        return blank.end() if blank else end

    def _addition(self, added: Sequence[Item]) -> _Change:
        biblatex = is_biblatex(self.text)
        keys = with_keys(added, safe_key)
        records = [write_entry(item, key, biblatex=biblatex, library=True) for item, key in keys]
        new = "\n".join(records).replace("\n", self._line_end)
        entries = [block for block in self._blocks if block.is_entry]
        rest = self.text[entries[-1].end :] if entries else ""
        if entries and "@" in rest:  # what programs keep at the end stays there
            return entries[-1].end, entries[-1].end, f"{self._line_end * 2}{new.rstrip()}"
        before = self.text
        blank = before.endswith(self._line_end * 2) or not before.strip()
        gap = "" if blank else self._line_end * (1 if before.endswith("\n") else 2)
        return len(before), len(before), gap + new

    def _changes(self, block: BibtexBlock, old: Item, new: Item) -> Iterator[_Change]:
        biblatex = _is_biblatex_entry(block) or (
            not _is_bibtex_entry(block) and is_biblatex(self.text)
        )
        kinds = [entry_type(item, biblatex=biblatex) for item in (old, new)]
        if kinds[0] != kinds[1]:
            start = self.text.lower().index(block.kind, block.start, block.key_start)
            yield start, start + len(block.kind), kinds[1]
        key = safe_key(text_of(new, "id"))
        if key and text_of(new, "id") != text_of(old, "id"):
            yield block.key_start, block.key_start + self._key_length(block), key
        by_name = {field.name: field for field in reversed(block.fields)}
        before, after = (_fields(item, by_name, biblatex=biblatex) for item in (old, new))
        dates_differ = any(before.get(name) != after.get(name) for name in _DATES)
        new_fields: list[tuple[str, str]] = []
        removed: list[BibtexField] = []
        for name in dict.fromkeys([*before, *after]):
            field = _existing(name, by_name)
            # A year such as 2014-09 has the month of the date too.
            implied = field is None and name in _DATES and dates_differ
            if before.get(name) == after.get(name) and not (implied and name in after):
                continue
            half = by_name.get(_SECOND_HALVES.get(name, ""))
            removed += [half] if half else []
            if name not in after:
                removed += [field] if field else []
            elif field is None:
                new_fields.append((name, after[name]))
            else:
                yield field.value_start, field.value_end, _value_like(field, after[name])
        for field in removed:
            yield self._removal(block, field, removed)
        if new_fields:
            yield self._insertion(block, new_fields)

    def _key_length(self, block: BibtexBlock) -> int:
        match = re.compile(r"[^,={}\n\r%]*").match(self.text, block.key_start, block.end)
        return len(match[0].rstrip()) if match and block.key else 0

    def _removal(
        self, block: BibtexBlock, field: BibtexField, removed: Sequence[BibtexField]
    ) -> _Change:
        """Returns the removal of a field with the comma and the space before it."""
        index = block.fields.index(field)
        remaining = [earlier for earlier in block.fields[:index] if earlier not in removed]
        before = block.fields[index - 1].value_end if index else -1
        gap = self.text[before : field.start] if index else "%"
        if remaining and "%" not in gap:
            return before, field.value_end, ""
        end = re.compile(r"\s*,?").match(self.text, field.value_end, block.end)
        return field.start, end.end() if end else field.value_end, ""

    def _insertion(self, block: BibtexBlock, fields: Sequence[tuple[str, str]]) -> _Change:
        """Returns the insertion of fields behind the last one, laid out like it."""
        if not block.fields:
            position = block.key_start + self._key_length(block)
            comma = re.compile(r"\s*,").match(self.text, position, block.end)
            position = comma.end() if comma else position
            gap = f"{self._line_end}  "
            inserted = f",{gap}".join(f"{name} = {{{value}}}" for name, value in fields)
            return position, position, f"{'' if comma else ','}{gap}{inserted}{self._line_end}"
        last = block.fields[-1]
        gap = self._gap(block)
        equals = self.text[last.start + len(last.name) : last.value_start]
        equals = equals if re.fullmatch(r"[ \t]*=[ \t]*", equals) else " = "
        equals = re.sub(r"[ \t]{2,}", " ", equals)
        upper = self.text[last.start : last.start + len(last.name)].isupper()
        written = [
            f"{name.upper() if upper else name}{equals}{{{value}}}" for name, value in fields
        ]
        return last.value_end, last.value_end, "".join(f",{gap}{field}" for field in written)

    def _gap(self, block: BibtexBlock) -> str:
        """Returns what separates the fields of an entry besides the comma."""
        start = self.text.rfind("\n", 0, block.fields[-1].start) + 1
        if start <= block.start:
            return " "
        indentation = self.text[start : block.fields[-1].start]
        return self._line_end + (indentation if not indentation.strip() else "  ")


def _fields(item: Item, present: Mapping[str, BibtexField], *, biblatex: bool) -> dict[str, str]:
    """Returns the fields of an item; the date is in the fields that the entry has for it."""
    found = dict(fields_of(item, biblatex=biblatex, library=True))
    style = "date" in present if present.keys() & set(_DATES) else biblatex
    for name in _DATES:
        found.pop(name, None)
    replacements = dict(issued_fields(date_of(item.get("issued")), biblatex=style))
    if "year" in replacements and "date" in present and "year" not in present:
        replacements["date"] = replacements.pop("year")
    languages = {"langid", "language"} & found.keys()
    for name in languages:
        field = "langid" if present.keys() & {"langid", "hyphenation"} else "language"
        replacements[field] = found.pop(name)
    return found | {name: value for name, value in replacements.items() if value}


def _existing(name: str, by_name: Mapping[str, BibtexField]) -> BibtexField | None:
    """Returns the field that a name is read from; None if the entry has none."""
    same = _SAME.get(name, (name,))
    if same is _CONTAINERS and {"booktitle", "maintitle", "volume"} <= by_name.keys():
        same = ("maintitle",)
    for candidate in same:
        if candidate in by_name:
            return by_name[candidate]
    canonical = ALIASES.get(name, name)
    return next(
        (field for alias, field in by_name.items() if ALIASES.get(alias, alias) == canonical), None
    )


def _value_like(field: BibtexField, value: str) -> str:
    """Returns a value between the delimiters that the field had, where it fits."""
    delimiter = field.pieces[0][0] if len(field.pieces) == 1 else "{"
    if delimiter == '"' and '"' not in value:
        return f'"{value}"'
    if not delimiter and value.isascii() and value.isdigit():
        return value
    return f"{{{value}}}"


def _is_biblatex_entry(block: BibtexBlock) -> bool:
    names = {field.name for field in block.fields}
    return bool(names & {"date", "journaltitle", "location", "eprinttype", "langid", "eventtitle"})


def _is_bibtex_entry(block: BibtexBlock) -> bool:
    names = {field.name for field in block.fields}
    return bool(names & {"journal", "address", "archiveprefix", "school", "annote"})
