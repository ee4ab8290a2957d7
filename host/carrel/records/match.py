"""Groups records that describe the same work.

By identifier: records with a common DOI, arXiv id (ignoring its version), PMID or PMCID are joined,
transitively. Then by title, first author and year, for records that no identifier joins, and only
if unambiguous: all records that agree in these three are one work. If two of them have different
identifiers of one kind (two DOIs: a series, a reprint, two editorials), none of them is joined.
Both steps use the whole set, so the order of records does not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from itertools import combinations
from typing import Final

from .ids import Kind
from .merge import MergedWork, flat, merge
from .order import json_text
from .work import Work

#: Minimum number of letters and digits in a title that identifies a work, more than in "Table of
#: contents". Scripts with one or two characters per word need fewer.
_TITLE_LENGTH: Final = 20
_TITLE_LENGTH_IDEOGRAPHIC: Final = 8

_Names = dict[Kind, set[str]]


def same_work(first: Work, second: Work) -> bool:
    """Returns whether two records, on their own, describe one work."""
    return len(group([first, second])) == 1


def group(
    records: Iterable[Work | MergedWork], *, same: Iterable[Sequence[Work]] = ()
) -> list[MergedWork]:
    """Returns the works that these records are of, each merged, in an order of their own.

    A merged work is split into its records first, so earlier merges do not change the result.

    Args:
        records: any number, in any order.
        same: records that are known to be of one work whatever they say, such as several sources'
            answers to one identifier; each is among `records`.
    """
    distinct = {json_text(record): record for record in flat(records)}
    known = [distinct[text] for text in sorted(distinct)]
    joined = _Sets(len(known))
    place = {json_text(record): at for at, record in enumerate(known)}
    for together in same:
        for other in together[1:]:
            joined.join(place[json_text(together[0])], place[json_text(other)])
    first: dict[Hashable, int] = {}
    for at, record in enumerate(known):
        for one in record.ids.known():
            joined.join(at, first.setdefault(one.work, at))
    _join_by_title(known, joined)
    return [merge(known[at] for at in members) for members in joined.all()]


def fingerprint(work: Work) -> tuple[str, str, str, str] | None:
    """Title, first author, year and the sort of work, each reduced to what sources agree on.

    None if one of them is unknown, or the title is too short to identify a work.
    """
    if work.title is None or work.issued is None or not work.authors:
        return None
    title = _letters(f"{work.title} {work.subtitle or ''}")
    ideographic = sum(character >= "\u2e80" for character in title)
    if len(title) < _TITLE_LENGTH and ideographic < _TITLE_LENGTH_IDEOGRAPHIC:
        return None
    author = work.authors[0]
    # A name in one piece usually ends with the family name; otherwise nothing is joined.
    name = author.family or (author.literal or "").partition(",")[0]
    words = [_letters(word) for word in name.split()]
    if not words or not words[-1]:
        return None
    sort = "article" if work.type.startswith(("article", "paper-")) else work.type
    return title, words[-1], work.issued[:4], sort


def _join_by_title(known: Sequence[Work], joined: _Sets) -> None:
    """Joins sets with a common fingerprint, unless two of them contradict each other."""
    sets = joined.all()
    names: list[_Names] = []
    first: dict[Hashable, int] = {}
    linked = _Sets(len(sets))
    for at, members in enumerate(sets):
        found: _Names = {}
        for record in (known[member] for member in members):
            for one in record.ids.known():
                kind, name = one.work
                found.setdefault(kind, set()).add(name)
            mark = fingerprint(record)
            if mark is not None:
                linked.join(at, first.setdefault(mark, at))
        names.append(found)
    for alike in linked.all():
        pairs = combinations(alike, 2)
        if not any(_contradict(names[one], names[other]) for one, other in pairs):
            for other in alike[1:]:
                joined.join(sets[alike[0]][0], sets[other][0])


def _contradict(one: _Names, other: _Names) -> bool:
    return any(not (one[kind] & other[kind]) for kind in one.keys() & other.keys())


def _letters(text: str) -> str:
    """Returns letters and digits without case, accents and typography."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


class _Sets:
    """Disjoint sets of the numbers below `count`."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def join(self, one: int, other: int) -> None:
        """Makes one set of the sets that hold these two."""
        first, second = sorted((self._top(one), self._top(other)))
        self._above[second] = first

    def all(self) -> list[list[int]]:
        """Returns the sets, each sorted, by their smallest number."""
        found: dict[int, list[int]] = {}
        for number in range(len(self._above)):
            found.setdefault(self._top(number), []).append(number)
        return list(found.values())

    def _top(self, number: int) -> int:
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number
