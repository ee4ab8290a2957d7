"""Defines what is found in a manuscript: keys with their places, and how each is cited."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CitedKey:
    """A key at a place of a manuscript.

    Attributes:
        key: of the work.
        line: from 1.
        column: in characters, from 1.
    """

    key: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class CitedWork:
    """One work of a citation.

    Attributes:
        at: its key and place.
        locator: such as `12-15`.
        label: what the locator counts, such as `page`.
        prefix: a text before it.
        suffix: a text behind it.
        suppress_author: leave out the author.
        author_only: only the author.
    """

    at: CitedKey
    locator: str | None = None
    label: str | None = None
    prefix: str = ""
    suffix: str = ""
    suppress_author: bool = False
    author_only: bool = False


@dataclass(frozen=True, slots=True)
class DocumentCitation:
    """A citation of a manuscript.

    Attributes:
        works: the works, in the order of the text.
        author_in_text: the first work's author belongs to the sentence, as in "Doe (2020)".
    """

    works: tuple[CitedWork, ...]
    author_in_text: bool = False

    @property
    def at(self) -> CitedKey:
        """Returns the first key and its place."""
        return self.works[0].at


@dataclass(frozen=True, slots=True)
class DocumentCitations:
    """All citations of a manuscript.

    Attributes:
        citations: in the order of the text.
        uncited: keys that are for the bibliography only.
        everything: whether the bibliography has all works that there are.
    """

    citations: tuple[DocumentCitation, ...]
    uncited: tuple[CitedKey, ...] = ()
    everything: bool = False

    def first_places(self) -> tuple[CitedKey, ...]:
        """Returns every key with its first place, in the order of the text."""
        found = [work.at for citation in self.citations for work in citation.works]
        first: dict[str, CitedKey] = {}
        for at in sorted([*found, *self.uncited], key=lambda at: (at.line, at.column)):
            first.setdefault(at.key, at)
        return tuple(first.values())


class Places:
    """Converts offsets of a text to lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def key(self, key: str, offset: int) -> CitedKey:
        """Returns a key at an offset."""
        line = bisect.bisect_right(self._starts, offset)
        return CitedKey(key, line, offset - self._starts[line - 1] + 1)


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """Replaces what matches by blanks; line breaks and offsets stay."""
    return pattern.sub(lambda match: blanks(match[0]), text)


def blanks(text: str) -> str:
    """Returns as many blanks, with the line breaks of the text."""
    return re.sub(r"[^\r\n]", " ", text)


class Brackets:
    """The brackets of a text that belong together, each pair within one paragraph.

    All are found in one pass, so that a text of opening brackets takes no longer than another.
    """

    def __init__(self, text: str, pair: str) -> None:
        self._closing: dict[int, int] = {}
        opened: list[int] = []
        sign = re.compile(rf"\\.|[{re.escape(pair)}]|\n[ \t\r]*\n", re.DOTALL)
        for match in sign.finditer(text):
            if match[0] == pair[0]:
                opened.append(match.start())
            elif match[0] == pair[1]:
                if opened:
                    self._closing[opened.pop()] = match.start()
            elif match[0][0] == "\n":
                opened.clear()

    def closing(self, start: int) -> int | None:
        """Returns the offset of the bracket that closes the one at `start`."""
        return self._closing.get(start)


def split_top(text: str, separator: str, pairs: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the parts between separators that are in no brackets, with their offsets."""
    depth = start = 0
    openers, closers = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    for offset, letter in enumerate(text):
        if letter in openers:
            depth += 1
        elif letter in closers:
            depth -= 1
        elif letter == separator and depth <= 0:
            yield start, text[start:offset]
            start = offset + 1
    yield start, text[start:]
