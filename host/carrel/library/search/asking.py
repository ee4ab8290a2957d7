"""Answers questions from the index: searches, lists, and entries by key, place or name."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from carrel.library.identity import Name

from .fields import COLUMNS, ExactName, duplicate_name, exact_name, text_question
from .index import COLUMN_END, sources_of
from .query import EXACT_FIELDS, Term

Sort = Literal["created", "updated", "published", "author", "title", "relevance"]
Order = Literal["asc", "desc"]
SORTS: Final = ("created", "updated", "published", "author", "title", "relevance")

#: Matches that are ranked: the latest ones; further ones follow them, the latest first.
_RANKED: Final = 1000
#: Fields in which a term without prefix may be the whole value.
_ANY_EXACT: Final = tuple(field for field in EXACT_FIELDS if field != "type")
_AT_ONCE: Final = 500
_MATCHES: Final = "id IN (SELECT rowid FROM words WHERE words MATCH ?)"
_SHORT: Final = "id IN (SELECT id FROM texts WHERE instr(body, ?))"
_SHORT_IN_COLUMN: Final = (
    "id IN (SELECT id FROM texts WHERE instr(body, ?) AND column_has(body, ?, ?))"
)
_NAMED: Final = "id IN (SELECT entry FROM names WHERE text = ? AND kind = ?)"
#: How much it counts in which column a term is found first, in the order of `COLUMNS`.
_WEIGHTS: Final = dict(
    zip(
        ("title", "author", "keyword", "tag", "venue", "publisher", "abstract"),
        (32, 16, 8, 8, 4, 2, 1),
        strict=True,
    )
)


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
        return self._places(*duplicate_name(name.type, name.text))

    def superseded_by(self, uuid: str) -> list[int]:
        """Returns the places of the entries that name this UUID as their successor."""
        return self._places("superseded", uuid)

    def _places(self, kind: str, text: str) -> list[int]:
        rows = self._connection.execute(
            "SELECT place FROM names JOIN entries ON entry = id WHERE text = ? AND kind = ? "
            "ORDER BY place",
            (text, kind),
        )
        return [place for (place,) in rows]


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
    # Only the order by the time of the change has an index; the plus keeps others from it.
    where = "1" if superseded else "superseded = 0" if sort == "updated" else "+superseded = 0"
    [total] = connection.execute(f"SELECT count(*) FROM entries WHERE {where}").fetchone()  # noqa: S608
    numbers = _ordered(connection, where, (), sort=sort, order=order, limit=limit, offset=offset)
    return Found(_sources(connection, numbers), total)


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
    condition = _Condition()
    for term in terms:
        condition.add(connection, term)
    where, values = condition.sql
    if sort != "relevance":
        rows = connection.execute(f"SELECT count(*) FROM entries WHERE {where}", values)  # noqa: S608
        [total] = rows.fetchone()
        numbers = _ordered(
            connection, where, values, sort=sort, order=order, limit=limit, offset=offset
        )
        return Found(_sources(connection, numbers), total)
    if condition.parts or not condition.expressions:
        question = f"SELECT id FROM entries WHERE {where} ORDER BY id DESC"  # noqa: S608
    else:  # the quickest way: the index alone
        question = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC"
    numbers = [number for (number,) in connection.execute(question, values)]
    numbers = _by_relevance(connection, numbers, condition)
    if order == "asc":
        numbers.reverse()
    page = numbers[offset : offset + limit if limit else None]
    return Found(_sources(connection, page), len(numbers))


class _Condition:
    """The SQL condition of several terms.

    Attributes:
        parts: conditions on `entries.id`, which must all hold.
        values: for their question marks.
        expressions: of the trigram index, which must all match.
        exact: names that a term is as a whole, by which matches come first.
        phrases: of each term for texts, by which the others are ranked.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: list[str] = []
        self.expressions: list[str] = []
        self.exact: list[ExactName] = []
        self.phrases: list[tuple[str, ...]] = []

    def add(self, connection: sqlite3.Connection, term: Term) -> None:
        """Adds a term."""
        if term.field in EXACT_FIELDS:
            self._add_any([(_NAMED, [*reversed(exact_name(term.field, term.text))])])
            return
        phrases, part = text_question(term.text)
        self.phrases.append((part,) if part else phrases)
        columns = [term.field] if term.field else [*COLUMNS]
        if part:
            question = (_SHORT, [part])
            if term.field:
                question = (_SHORT_IN_COLUMN, [part, part, str(COLUMNS.index(term.field))])
        elif phrases:
            question = (_MATCHES, [_expression(phrases, columns)])
        else:
            return  # neither letters nor digits: every text has it
        named = [] if term.field else _names_that_exist(connection, term.text)
        self.exact += [name for name in named if name.kind != "year"]
        if named or part:
            self._add_any([question, *((_NAMED, [name.text, name.kind]) for name in named)])
        else:
            self.expressions.append(question[1][0])

    def _add_any(self, questions: Sequence[tuple[str, list[str]]]) -> None:
        self.parts.append("(" + " OR ".join(sql for sql, _ in questions) + ")")
        self.values += [value for _, values in questions for value in values]

    @property
    def sql(self) -> tuple[str, list[str]]:
        """The whole condition and its values."""
        if not self.expressions:
            return " AND ".join(self.parts) or "1", self.values
        expression = " AND ".join(f"({one})" for one in self.expressions)
        return " AND ".join([_MATCHES, *self.parts]), [expression, *self.values]


def _expression(phrases: Sequence[str], columns: Sequence[str]) -> str:
    """Returns the FTS5 expression of phrases that are all in one of the columns."""
    quoted = " AND ".join(f'"{phrase}"' for phrase in phrases)
    if len(phrases) == 1:
        return quoted if len(columns) > 1 else f"{columns[0]} : {quoted}"
    return " OR ".join(f"({column} : ({quoted}))" for column in columns)


def _names_that_exist(connection: sqlite3.Connection, text: str) -> list[ExactName]:
    """Returns the names that a term without prefix may be and that an entry has."""
    names = dict.fromkeys(exact_name(field, text) for field in _ANY_EXACT)
    return [
        name
        for name in names
        if connection.execute(
            "SELECT 1 FROM names WHERE text = ? AND kind = ?", (name.text, name.kind)
        ).fetchone()
    ]


def _by_relevance(
    connection: sqlite3.Connection, numbers: list[int], condition: _Condition
) -> list[int]:
    """Returns matches, the best first: those of which a term is an identifier, then by rank."""
    first: dict[int, None] = {}
    there = set(numbers)
    for name in condition.exact:
        rows = connection.execute(
            "SELECT entry FROM names WHERE text = ? AND kind = ? ORDER BY entry DESC",
            (name.text, name.kind),
        )
        first |= {number: None for (number,) in rows if number in there}
    latest = [number for number in numbers[:_RANKED] if number not in first]
    scored = sorted(
        (-_score(body, condition.phrases), published, number)
        for number, published, body in _bodies(connection, latest)
    )
    ranked = [number for _, _, number in scored]
    return [*first, *ranked, *(number for number in numbers[_RANKED:] if number not in first)]


def _bodies(
    connection: sqlite3.Connection, numbers: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Yields number, publication date, later ones lower, and texts of entries."""
    rows = connection.execute(
        "SELECT entries.id, published, body FROM json_each(?) "
        "CROSS JOIN entries ON entries.id = value JOIN texts ON texts.id = value",
        (str([*numbers]),),
    )
    for number, published, body in rows:
        date = published.replace("-", "")
        yield number, -int(date) if date.isdigit() else 0, body


def _score(body: str, terms: Sequence[tuple[str, ...]]) -> int:
    """Returns how well an entry matches: for each term, where it is found first."""
    columns = dict(zip(COLUMNS, body.split(COLUMN_END), strict=True))
    return sum(
        next(
            (
                weight
                for name, weight in _WEIGHTS.items()
                if all(phrase in columns[name] for phrase in phrases)
            ),
            0,
        )
        for phrases in terms
    )


def _ordered(
    connection: sqlite3.Connection,
    where: str,
    values: Sequence[str],
    *,
    sort: Sort,
    order: Order,
    limit: int,
    offset: int,
) -> list[int]:
    column = "place" if sort == "relevance" else sort
    direction = "ASC" if order == "asc" else "DESC"
    rows = connection.execute(
        f"SELECT id FROM entries WHERE {where} "  # noqa: S608 - conditions of this file
        f"ORDER BY {column} {direction}, place {direction} LIMIT ? OFFSET ?",
        (*values, limit or -1, offset),
    )
    return [number for (number,) in rows]


def _sources(connection: sqlite3.Connection, numbers: Sequence[int]) -> list[bytes]:
    found: list[bytes] = []
    for start in range(0, len(numbers), _AT_ONCE):
        found += sources_of(connection, numbers[start : start + _AT_ONCE])
    return found
