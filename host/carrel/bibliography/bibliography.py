"""Holds what was read of a bibliography."""

from __future__ import annotations

from dataclasses import dataclass

from .item import Item


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a bibliography.

    Attributes:
        item: the CSL-JSON item.
        label: what names it in the bibliography: its key, or `record 3`.
        line: the line on which it begins, from 1; None where the format has none to name.
    """

    item: Item
    label: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """One entry, or part of one, that could not be read; the others were.

    Attributes:
        label: what names it in the bibliography: its key, or `record 3`.
        line: the line on which it begins, from 1; None where the format has none to name.
        problem: what is wrong and what was done about it.
    """

    label: str
    line: int | None
    problem: str


@dataclass(frozen=True, slots=True)
class Bibliography:
    """The entries of a bibliography, in its order.

    Attributes:
        format: one of `FORMATS`.
        unread: what could not be read, in the order of the file.
    """

    format: str
    entries: tuple[Entry, ...]
    unread: tuple[Unread, ...] = ()
