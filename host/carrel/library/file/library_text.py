"""Defines what the library asks of a file format: entries, and edits that keep all other bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from carrel.bibliography.item import Item

T = TypeVar("T", str, bytes)


class LibraryText(Protocol):
    """The text of a library file, parsed as far as finding its entries."""

    @property
    def context(self) -> bytes:
        """At most 64 bytes that are others if an entry with the same bytes means something else."""

    @property
    def sources(self) -> Sequence[bytes]:
        """The bytes of each entry; equal bytes are equal entries."""

    def item(self, position: int) -> Item | None:
        """Returns a new CSL-JSON item of the entry at `position`; None if it cannot be one."""

    def edited(self, changed: Mapping[int, Item | None], added: Sequence[Item]) -> bytes:
        """Returns the whole file with entries replaced, removed (None) and appended.

        All bytes of other entries, and of unchanged members of changed entries, are kept.
        """


def entry_digest(text: LibraryText, position: int) -> bytes:
    """Returns a digest of an entry's source."""
    return hashlib.blake2b(text.sources[position], digest_size=16, key=text.context).digest()


def span_edit(
    source: T,
    spans: Sequence[tuple[int, int]],
    changed: Mapping[int, T | None],
    added: Sequence[T],
    separator: T,
) -> T:
    """Replaces, removes and appends elements of a list in brackets, given their spans.

    Args:
        source: the text, of which the elements are a part.
        spans: start and end of each element; at least one.
        changed: number of the element → its new text; None removes it with its separator.
        added: texts of further elements.
        separator: between elements, where `source` shows none.
    """
    whole = len(spans)
    first = next(
        (number for number in range(whole) if changed.get(number, source) is not None), whole
    )
    pieces: list[T] = []
    at = 0
    for number in sorted(changed):
        text = changed[number]
        start, end = spans[number]
        if text is None and number > first:
            start = spans[number - 1][1]
        elif text is None and number + 1 < whole:
            end = spans[number + 1][0]
        pieces += [source[at:start], text or source[:0]]
        at = end
    pieces.append(source[at : spans[-1][1]])
    separators = [separator] * len(added)
    if first == whole and separators:
        separators[0] = source[:0]
    for pair in zip(separators, added, strict=True):
        pieces += pair
    pieces.append(source[spans[-1][1] :])
    return source[:0].join(pieces)
