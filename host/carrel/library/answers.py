"""Defines what the library returns: pages of items, outcomes of additions and merges, changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from carrel.bibliography.item import Item

from .identity import DuplicateType


@dataclass(frozen=True, slots=True)
class Addition:
    """The outcome of adding one item.

    Attributes:
        id: the key of the new entry, or of the entry that is there already.
        existing_id: that entry's key, for a skipped item.
        duplicate_type: by which the entry was recognised.
    """

    status: Literal["added", "skipped"]
    id: str
    title: str
    existing_id: str | None = None
    duplicate_type: DuplicateType | None = None
    uuid: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A member in which two entries differ; the kept one's value stays."""

    member: str
    kept: Any
    other: Any


@dataclass(frozen=True, slots=True)
class Merge:
    """Two entries as one.

    Attributes:
        item: the kept entry, merged.
        removed: the other entry.
        taken: members that the kept entry gets from the other.
        differences: members of which the other's value is dropped.
        dry_run: whether nothing was written.
    """

    item: Item
    removed: Item
    taken: tuple[str, ...]
    differences: tuple[Difference, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list.

    Attributes:
        total: entries of the whole list.
        limit: the most that a page has; 0 for all.
        next_offset: of the next page; None for the last.
    """

    items: tuple[Item, ...]
    total: int
    limit: int
    offset: int

    @property
    def next_offset(self) -> int | None:
        """The offset of the next page; None for the last."""
        end = self.offset + len(self.items)
        return end if self.limit and end < self.total and self.items else None


@dataclass(frozen=True, slots=True)
class LibraryChanges:
    """Keys of entries that were added, removed or changed."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)
