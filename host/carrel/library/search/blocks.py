"""Keeps the texts of entries in blocks, which are read as a whole.

A term that many entries have is looked for in all texts: that is quicker than the index of
trigrams, which has one row for each match. A block has the texts of `BLOCK` neighbouring entries,
so few rows are read. Each of `BLOCK_COLUMNS` has blocks of its own; an entry's text is at the
place of its number in the block, and empty if there is no such entry.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .fields import COLUMN_END, COLUMNS, SHORT_COLUMNS

#: Entries of a block.
BLOCK: Final = 128
#: What blocks are kept of: each column that a term may name, and `any`, all columns with text but
#: the abstract.
BLOCK_COLUMNS: Final = ("any", "title", "author", "keyword", "tag", "type", "year")
#: Separates the entries of a block.
_ENTRY_END: Final = "\x1d"
#: Between the numbers of the blocks of two columns.
_STEP: Final = 2**40
BLOCK_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, body TEXT)"


class Lines(NamedTuple):
    """Texts of some entries.

    Attributes:
        ids: the entries' numbers.
        texts: column → the text of each entry.
    """

    ids: Sequence[int]
    texts: dict[str, list[str]]


def read_blocks(connection: sqlite3.Connection, columns: Sequence[str]) -> Iterator[Lines]:
    """Yields the texts of all entries, in the order of their numbers."""
    rows = [
        connection.execute(
            "SELECT id - ?1, body FROM blocks WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
            (start, start + _STEP - 1),
        )
        for start in (BLOCK_COLUMNS.index(column) * _STEP for column in columns)
    ]
    for parts in zip(*rows, strict=True):
        first = parts[0][0] * BLOCK
        texts = {
            column: body.split(_ENTRY_END) for column, (_, body) in zip(columns, parts, strict=True)
        }
        yield Lines(range(first, first + BLOCK), texts)


def read_lines(connection: sqlite3.Connection, numbers: Sequence[int]) -> Lines:
    """Returns the texts of some entries; `any` has the abstract too."""
    rows = connection.execute(
        "SELECT entries.id, entries.type, year, body, abstract FROM json_each(?) "
        "CROSS JOIN entries ON entries.id = value JOIN texts ON texts.id = value",
        (str([*numbers]),),
    ).fetchall()
    texts = _texts((row[1:4] for row in rows), len(rows))
    texts["any"] = [f"{row[3]}{COLUMN_END}{row[4]}" for row in rows]
    return Lines([row[0] for row in rows], texts)


def refresh_blocks(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Writes the blocks of entries that were added or removed."""
    for block in sorted({number // BLOCK for number in numbers}):
        first = block * BLOCK
        rows = {
            row[0]: row[1:]
            for row in connection.execute(
                "SELECT id, type, year, body FROM entries JOIN texts USING (id) "
                "WHERE id BETWEEN ? AND ?",
                (first, first + BLOCK - 1),
            )
        }
        marks = [(index * _STEP + block,) for index in range(len(BLOCK_COLUMNS))]
        connection.executemany("DELETE FROM blocks WHERE id = ?", marks)
        if rows:
            none = ("", "", COLUMN_END * (len(SHORT_COLUMNS) - 1))
            texts = _texts((rows.get(first + at, none) for at in range(BLOCK)), BLOCK)
            connection.executemany(
                "INSERT INTO blocks VALUES (?, ?)",
                [
                    (number, _ENTRY_END.join(texts[column]))
                    for (number,), column in zip(marks, BLOCK_COLUMNS, strict=True)
                ],
            )


def _texts(rows: Iterable[tuple[str, str, str]], count: int) -> dict[str, list[str]]:
    """Returns column → texts, of type, year and body of each entry."""
    texts: dict[str, list[str]] = {column: [""] * count for column in BLOCK_COLUMNS}
    for at, (kind, year, body) in enumerate(rows):
        texts["type"][at] = kind.replace(_ENTRY_END, " ")
        texts["year"][at], texts["any"][at] = year, body
        parts = body.split(COLUMN_END)
        for column in ("title", "author", "keyword", "tag"):
            texts[column][at] = parts[COLUMNS.index(column)]
    return texts
