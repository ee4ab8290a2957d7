"""Answers questions from the index: searches, lists, and entries by key, place or name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from carrel.library.identity import Name

from .fields import COLUMN_END, COLUMNS, ExactName, duplicate_name
from .index import sources_of
from .matching import matching
from .query import Term

Sort = Literal["created", "updated", "published", "author", "title", "relevance"]
Order = Literal["asc", "desc"]
SORTS: Final = ("created", "updated", "published", "author", "title", "relevance")

#: Matches that are ranked: the latest ones; further ones follow them, the latest first.
_RANKED: Final = 1000
#: Matches that are sorted; of more, those of the page are found by going through the order.
_SORTED: Final = 2000
_AT_ONCE: Final = 500
#: Columns and how much it counts that a term is found there, the best first.
_WEIGHTS: Final = tuple(
    (COLUMNS.index(column), weight)
    for column, weight in (
        ("title", 32), ("author", 16), ("keyword", 8), ("tag", 8), ("venue", 4), ("publisher", 2),
        ("abstract", 1),
    )
)  # fmt: skip


class Found:
    """A part of the entries, and the number of all.

    Attributes:
        sources: JSON texts.
    """

    def __init__(self, sources: list[bytes], total: int) -> None:
        self.sources = sources
        self.total = total


class IndexFinder:
    """Finds entries by their place in the file; see `draft.Finder`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def place_of(self, key: str) -> int | None:
        """Returns the place of the entry with a key or UUID."""
        row = self._connection.execute(
            "SELECT place FROM entries WHERE key = ?1 OR uuid = ?1 "
            "ORDER BY key = ?1 DESC, place LIMIT 1",
            (key,),
        ).fetchone()
        return row[0] if row and key else None

    def has_key(self, key: str) -> bool:
        """Returns whether an entry has this key, in any case."""
        row = self._connection.execute(
            "SELECT 1 FROM entries WHERE folded = ?", (key.casefold(),)
        ).fetchone()
        return row is not None

    def is_unique(self, key: str) -> bool:
        """Returns whether at most one entry has this key."""
        rows = self._connection.execute("SELECT 1 FROM entries WHERE key = ? LIMIT 2", (key,))
        return len(rows.fetchall()) < 2

    def places_named(self, name: Name) -> list[int]:
        """Returns the places of the entries with a name of a work."""
        return self._positions(*duplicate_name(name.type, name.text))

    def superseded_by(self, uuid: str) -> list[int]:
        """Returns the places of the entries that name this UUID as their successor."""
        return self._positions("superseded", uuid)

    def _positions(self, kind: str, text: str) -> list[int]:
        rows = self._connection.execute(
            "SELECT place FROM names JOIN entries ON entry = id WHERE text = ? AND kind = ? "
            "ORDER BY place",
            (text, kind),
        )
        return [position for (position,) in rows]


def keys_like(key: str, connection: sqlite3.Connection) -> list[str]:
    """Returns keys that begin like this one, at most 1,000."""
    start = key.casefold()[:3]
    rows = connection.execute(
        "SELECT key FROM entries WHERE folded >= ? AND folded < ? LIMIT 1000",
        (start, f"{start}\U0010ffff"),
    )
    return [found for (found,) in rows]


def source_of(connection: sqlite3.Connection, key: str) -> bytes | None:
    """Returns the JSON text of the entry with a key or UUID."""
    row = connection.execute(
        "SELECT source FROM entries JOIN sources USING (id) WHERE key = ?1 OR uuid = ?1 "
        "ORDER BY key = ?1 DESC, place LIMIT 1",
        (key,),
    ).fetchone()
    return row[0] if row and key else None


def listed(
    connection: sqlite3.Connection,
    *,
    sort: Sort,
    order: Order,
    limit: int,
    offset: int,
    superseded: bool,
) -> Found:
    """Returns entries in an order."""
    [total] = connection.execute("SELECT count(*) FROM entries").fetchone()
    where = ""
    if not superseded:
        hidden = "SELECT id FROM entries WHERE superseded"
        [fewer] = connection.execute(f"SELECT count(*) FROM ({hidden})").fetchone()  # noqa: S608
        total -= fewer
        where = f"WHERE id NOT IN ({hidden})" if fewer else ""
    rows = connection.execute(
        f"SELECT id FROM entries {where} ORDER BY {_by(sort, order)} LIMIT ? OFFSET ?",  # noqa: S608
        (limit or -1, offset),
    )
    return Found(_sources(connection, [number for (number,) in rows]), total)


def searched(
    connection: sqlite3.Connection,
    terms: Sequence[Term],
    *,
    sort: Sort,
    order: Order,
    limit: int,
    offset: int,
) -> Found:
    """Returns the entries that all terms match, in an order."""
    if not terms:
        return Found([], 0)
    numbers, exact, phrases = matching(connection, terms)
    if numbers is None:  # every entry matches
        if sort != "relevance":
            return listed(
                connection, sort=sort, order=order, limit=limit, offset=offset, superseded=True
            )
        rows = connection.execute("SELECT id FROM entries ORDER BY id DESC")
        numbers = [number for (number,) in rows]
    if sort == "relevance":
        numbers = _by_relevance(connection, numbers, exact, phrases)
        if order == "asc":
            numbers.reverse()
        page = numbers[offset : offset + limit if limit else None]
    else:
        page = _sorted_page(connection, numbers, _by(sort, order), limit=limit, offset=offset)
    return Found(_sources(connection, page), len(numbers))


def _by_relevance(
    connection: sqlite3.Connection,
    numbers: list[int],
    exact: Sequence[ExactName],
    phrases: Sequence[tuple[str, ...]],
) -> list[int]:
    """Returns matches, the best first: those of which a term is an identifier, then by rank."""
    first: dict[int, None] = {}
    there = set(numbers) if exact else set()
    for name in exact:
        rows = connection.execute(
            "SELECT entry FROM names WHERE text = ? AND kind = ? ORDER BY entry DESC",
            (name.text, name.kind),
        )
        first |= {number: None for (number,) in rows if number in there}
    latest = [number for number in numbers[:_RANKED] if number not in first]
    scored = sorted(
        (-_score(body, phrases), published, number)
        for number, published, body in _bodies(connection, latest)
    )
    ranked = [number for _, _, number in scored]
    rest = numbers[_RANKED:]
    return [
        *first,
        *ranked,
        *((number for number in rest if number not in first) if first else rest),
    ]


def _bodies(
    connection: sqlite3.Connection, numbers: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Yields number, publication date, later ones lower, and texts of entries."""
    rows = connection.execute(
        "SELECT entries.id, published, body, abstract FROM json_each(?) "
        "CROSS JOIN entries ON entries.id = value JOIN texts ON texts.id = value",
        (str([*numbers]),),
    )
    for number, published, body, abstract in rows:
        date = published.replace("-", "")
        yield number, -int(date) if date.isdigit() else 0, f"{body}{COLUMN_END}{abstract}"


def _score(body: str, terms: Sequence[tuple[str, ...]]) -> int:
    """Returns how well an entry matches: for each term, where it is found first."""
    columns = body.split(COLUMN_END)
    score = 0
    for phrases in terms:
        first, rest = (phrases[0], phrases[1:]) if phrases else ("", ())
        for column, weight in _WEIGHTS:
            text = columns[column]
            if first in text and (not rest or all(phrase in text for phrase in rest)):
                score += weight
                break
    return score


def _sorted_page(
    connection: sqlite3.Connection, numbers: Sequence[int], by: str, *, limit: int, offset: int
) -> list[int]:
    """Returns a page of matches in an order."""
    if len(numbers) <= _SORTED:
        rows = connection.execute(
            "SELECT entries.id FROM json_each(?) CROSS JOIN entries ON entries.id = value "  # noqa: S608
            f"ORDER BY {by} LIMIT ? OFFSET ?",
            (str([*numbers]), limit or -1, offset),
        )
        return [number for (number,) in rows]
    there = set(numbers)
    rows = connection.execute(f"SELECT id FROM entries ORDER BY {by}")  # noqa: S608
    matches = (number for (number,) in rows if number in there)
    return [*islice(matches, offset, offset + limit if limit else None)]


def _by(sort: Sort, order: Order) -> str:
    """Returns the terms of an SQL order, for which there is an index."""
    direction = "ASC" if order == "asc" else "DESC"
    if sort == "relevance":
        return f"place {direction}"
    return f"{sort} {direction}, place {direction}"


def _sources(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[bytes]:
    found: list[bytes] = []
    for start in range(0, len(numbers), _AT_ONCE):
        found += sources_of(connection, numbers[start : start + _AT_ONCE])
    return found
