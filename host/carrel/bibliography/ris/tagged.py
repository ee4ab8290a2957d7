"""Splits a text into records of tags and values.

rispy is not used: it loses values of tags that it does not list, refuses records without `ER`, and
raises for odd lines. Lines without a tag continue the value before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from carrel.bibliography.errors import BibliographyError
from carrel.bibliography.limits import MAX_ENTRIES

_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class TaggedRecord:
    """The tags of one record.

    Attributes:
        line: on which it begins, from 1.
        values: tag and value, in their order.
    """

    line: int
    values: list[tuple[str, str]] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _by_tag: dict[str, list[str]] = field(default_factory=dict)

    def begin(self, tag: str, value: str) -> None:
        """Begins a value, which ends the one before."""
        self.finished()
        self.values.append((tag, ""))
        self._pieces = [value]

    def carry_on(self, line: str, lists: frozenset[str] = frozenset()) -> None:
        """Adds a line to the value; to a tag of `lists`, as another value."""
        if not line.strip():
            return
        if self.values and self.values[-1][0] in lists:
            self.begin(self.values[-1][0], line)
        else:
            self._pieces.append(line)

    def has(self, tag: str) -> bool:
        """Returns whether the record has a tag, also without a value."""
        return any(name == tag for name, _ in self.values)

    def finished(self) -> TaggedRecord:
        """Returns the record with its last value complete."""
        if self._pieces and self.values:
            tag, before = self.values[-1]
            self.values[-1] = (tag, before + " ".join(" ".join(self._pieces).split()))
            self._pieces = []
            if self.values[-1][1]:
                self._by_tag.setdefault(tag, []).append(self.values[-1][1])
        return self

    def all(self, *tags: str) -> list[str]:
        """Returns the values of tags that are not empty, in their order."""
        if len(tags) == 1:
            return self._by_tag.get(tags[0], [])
        return [value for tag, value in self.values if tag in tags and value]

    def first(self, *tags: str) -> str:
        """Returns the value of the first of the tags that has one; empty if none has."""
        for tag in tags:
            if tag in self._by_tag:
                return self._by_tag[tag][0]
        return ""


def lines_of(text: str) -> list[str]:
    """Returns the lines of a text; only line feeds and carriage returns separate them."""
    return _BREAK.split(text)


def records(
    text: str,
    split: Callable[[str], tuple[str, str] | None],
    begin: str,
    end: str = "",
    *,
    lists: frozenset[str] = frozenset(),
    loose: frozenset[str] = frozenset(),
) -> Iterator[TaggedRecord]:
    """Yields the records of a text.

    Args:
        text: to split.
        split: returns the tag and the value of a line, or None of one that continues a value.
        begin: the tag that begins a record, also where the one before was not ended.
        end: the tag that ends one.
        lists: tags each line of which is a value.
        loose: tags that begin a record where none is open, because its `begin` is missing.

    Raises:
        BibliographyError: `TOO_LARGE`; it has too many records.
    """
    record: TaggedRecord | None = None
    count = 0
    for number, line in enumerate(lines_of(text), 1):
        pair = split(line)
        tag, value = pair or ("", "")
        if pair is None:
            if record is not None:
                record.carry_on(line, lists)
        elif tag == end or (tag == begin and (record is None or record.has(begin))):
            if record is not None:
                yield record.finished()
            record = TaggedRecord(number) if tag == begin else None
        elif record is None and tag in loose:
            record = TaggedRecord(number)
        if record is not None and pair is not None:
            count += not record.values
            record.begin(tag, value)
        if count > MAX_ENTRIES:
            raise BibliographyError(
                "TOO_LARGE", f"the bibliography has more than {MAX_ENTRIES:,} entries; split it"
            )
    if record is not None:
        yield record.finished()
