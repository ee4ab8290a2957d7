"""Finds the entries that all terms of a query match.

A term that few entries have is looked up in the index; if there is one, the other terms are tried
on its entries only. If all terms are frequent, they are tried on the texts of all entries.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import compress, repeat
from operator import contains
from typing import Final

from .blocks import Lines, read_blocks, read_lines
from .fields import COLUMN_END, SHORT_COLUMNS, ExactName, exact_name, text_question
from .query import EXACT_FIELDS, Term

#: Entries up to which a term is rare.
_RARE: Final = 2000
#: Fields in which a term without prefix may be the whole value.
_ANY_EXACT: Final = tuple(field for field in EXACT_FIELDS if field != "type")


def matching(
    connection: sqlite3.Connection, terms: Sequence[Term]
) -> tuple[list[int] | None, list[ExactName], list[tuple[str, ...]]]:
    """Returns the entries that all terms match.

    Returns:
        Their numbers, the highest first, None for all entries; the names that a term is as a
        whole; of each term for texts, what is looked for.
    """
    exact: list[ExactName] = []
    phrases: list[tuple[str, ...]] = []
    by_term: dict[Term, _Question] = {}
    for term in terms:
        if term.field in EXACT_FIELDS:
            by_term[term] = _ValueQuestion(connection, exact_name(term.field, term.text))
            continue
        pattern = text_question(term.text)
        phrases.append((pattern.part,) if pattern.part else pattern.phrases)
        # A term with neither letters nor digits is in every text.
        if phrases[-1] and term not in by_term:
            text = _TextQuestion(connection, term, pattern.phrases, pattern.part)
            exact += [name for name in text.names if name.kind != "year"]
            by_term[term] = text
    if not by_term:
        return None, exact, phrases
    questions = [*by_term.values()]
    found = [(question.rare(), question) for question in questions]
    candidates = min(
        (numbers for numbers, _ in found if numbers is not None), key=len, default=None
    )
    if candidates is not None:
        remaining = [question for numbers, question in found if numbers is not candidates]
        numbers = (
            _tried(read_lines(connection, sorted(candidates)), remaining)
            if remaining
            else candidates
        )
        return sorted(numbers, reverse=True), exact, phrases
    for question in questions:
        question.prepare()
    columns = list(dict.fromkeys(name for question in questions for name in question.columns))
    numbers = []
    for lines in read_blocks(connection, columns):
        numbers += _tried(lines, questions)
    numbers.reverse()
    return numbers, exact, phrases


def _tried(lines: Lines, questions: Sequence[_Question]) -> Sequence[int]:
    positions: Sequence[int] = range(len(lines.ids))
    for question in questions:
        positions = question.tried(lines, positions)
    ids = lines.ids
    return ids if len(positions) == len(ids) else [ids[position] for position in positions]


class _Question(ABC):
    """The condition of one term.

    Attributes:
        columns: those of `BLOCK_COLUMNS` that it reads.
    """

    columns: Sequence[str]

    @abstractmethod
    def rare(self) -> set[int] | None:
        """Returns the entries that match; None if there are many."""

    @abstractmethod
    def prepare(self) -> None:
        """Looks up what the blocks do not have."""

    @abstractmethod
    def tried(self, lines: Lines, positions: Sequence[int]) -> list[int]:
        """Returns those of the positions in `lines` that match."""


class _ValueQuestion(_Question):
    """A term that must be the whole value of a field."""

    def __init__(self, connection: sqlite3.Connection, name: ExactName) -> None:
        self._connection = connection
        self._name = name
        self._numbers: set[int] | None = None
        self.columns = [name.kind if name.kind in ("type", "year") else "type"]

    def rare(self) -> set[int] | None:
        most = _RARE if self._name.kind in ("type", "year") else -1
        numbers = _named(self._connection, self._name, most)
        self._numbers = None if 0 <= most < len(numbers) else numbers
        return self._numbers

    def prepare(self) -> None:
        """Does nothing: a value that many entries have is in the blocks."""

    def tried(self, lines: Lines, positions: Sequence[int]) -> list[int]:
        if self._numbers is not None:
            ids, numbers = lines.ids, self._numbers
            return [at for at in positions if ids[at] in numbers]
        texts, expected = lines.texts[self._name.kind], self._name.text
        return [at for at in positions if texts[at] == expected]


class _TextQuestion(_Question):
    """A term that must be a part of a text, or without a field a whole value.

    Attributes:
        names: what it is the whole value of.
    """

    def __init__(
        self, connection: sqlite3.Connection, term: Term, phrases: tuple[str, ...], part: str
    ) -> None:
        self._connection = connection
        self._phrases = (part,) if part else phrases
        self._is_short = bool(part)
        self._column = term.field or "any"
        #: Entries that match by something else than the text in the block.
        self._other_numbers: set[int] = set()
        self._year = ""
        self._has_abstracts = False
        self.names: list[ExactName] = []
        self.columns = [self._column]
        if not term.field:
            for name in dict.fromkeys(exact_name(field, term.text) for field in _ANY_EXACT):
                numbers = _named(connection, name, _RARE if name.kind == "year" else -1)
                if numbers:
                    self.names.append(name)
                if len(numbers) > _RARE and name.kind == "year":
                    self._year = name.text
                    self.columns = ["any", "year"]
                else:
                    self._other_numbers |= numbers

    def rare(self) -> set[int] | None:
        if self._is_short or self._year:
            return None
        numbers: set[int] = set()
        for table, expression in self._expressions():
            more = f"SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?"  # noqa: S608
            rows = self._connection.execute(more, (expression, _RARE + 1)).fetchall()
            if len(rows) > _RARE:
                return None
            numbers |= {number for (number,) in rows}
        return numbers | self._other_numbers

    def prepare(self) -> None:
        if self._column != "any":
            return
        [self._has_abstracts] = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM abstracts_docsize)"
        ).fetchone()
        if self._has_abstracts and not self._is_short:
            [_, (table, expression)] = self._expressions()
            question = f"SELECT group_concat(rowid) FROM {table} WHERE {table} MATCH ?"  # noqa: S608
            [numbers] = self._connection.execute(question, (expression,)).fetchone()
            self._other_numbers |= set(map(int, numbers.split(",") if numbers else ()))

    def tried(self, lines: Lines, positions: Sequence[int]) -> list[int]:
        texts, year = lines.texts[self._column], self._year
        other_numbers, ids = self._other_numbers, lines.ids
        if len(self._phrases) == 1:
            [phrase] = self._phrases
            if len(positions) == len(texts):
                found = [*compress(positions, map(contains, texts, repeat(phrase)))]
            else:
                found = [at for at in positions if phrase in texts[at]]
        else:
            found = [at for at in positions if self._has_all(texts[at])]
        reads_abstracts = self._is_short and self._has_abstracts
        if len(found) == len(positions) or not (other_numbers or year or reads_abstracts):
            return found
        here = {*found}
        if other_numbers:
            here.update(at for at in positions if ids[at] in other_numbers)
        if year:
            years = lines.texts["year"]
            here.update(at for at in positions if years[at] == year)
        if reads_abstracts:
            here.update(self._in_abstracts([at for at in positions if at not in here], ids))
        return sorted(here)

    def _has_all(self, text: str) -> bool:
        """Returns whether one column has all phrases."""
        return all(phrase in text for phrase in self._phrases) and any(
            all(phrase in column for phrase in self._phrases) for column in text.split(COLUMN_END)
        )

    def _in_abstracts(self, positions: Sequence[int], ids: Sequence[int]) -> list[int]:
        """Returns the positions of entries that have a short term in their abstracts."""
        if not positions:
            return []
        marks = ", ".join(str(ids[at]) for at in positions)
        rows = self._connection.execute(
            f"SELECT id FROM texts WHERE id IN ({marks}) AND instr(abstract, ?)",  # noqa: S608
            self._phrases,
        )
        numbers = {number for (number,) in rows}
        return [at for at in positions if ids[at] in numbers]

    def _expressions(self) -> list[tuple[str, str]]:
        """Returns tables of trigrams, and what to ask them."""
        quoted = " AND ".join(f'"{phrase}"' for phrase in self._phrases)
        if self._column != "any":
            return [("words", f"{self._column} : ({quoted})")]
        short = quoted
        if len(self._phrases) > 1:
            short = " OR ".join(f"({column} : ({quoted}))" for column in SHORT_COLUMNS)
        return [("words", short), ("abstracts", quoted)]


def _named(connection: sqlite3.Connection, name: ExactName, most: int) -> set[int]:
    """Returns the entries with a name; `most` and one more, if there are more."""
    rows = connection.execute(
        "SELECT entry FROM names WHERE text = ? AND kind = ? LIMIT ?",
        (name.text, name.kind, most + 1 if most >= 0 else -1),
    )
    return {number for (number,) in rows}
