"""Defines what the library asks of a file format: entries, and edits that keep all other bytes."""

from __future__ import annotations

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

    def item(self, place: int) -> Item | None:
        """Returns a new CSL-JSON item of the entry at `place`; None if it cannot be one."""

    def edited(self, changed: Mapping[int, Item | None], added: Sequence[Item]) -> bytes:
        """Returns the whole file with entries replaced, removed (None) and appended.

        All bytes of other entries, and of unchanged members of changed entries, are kept.
        """


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
    kept = [number for number in range(len(spans)) if changed.get(number, source) is not None]
    pieces = [source[: spans[0][0]]]
    for place, number in enumerate(kept):
        if place:
            pieces.append(source[spans[number - 1][1] : spans[number][0]])
        text = changed.get(number)
        pieces.append(source[slice(*spans[number])] if text is None else text)
    for text in added:
        if len(pieces) > 1:
            pieces.append(separator)
        pieces.append(text)
    pieces.append(source[spans[-1][1] :])
    return source[:0].join(pieces)
