"""Matches a pasted citation with works that a search found.

A work matches when its title is in the citation, word by word, and nothing else contradicts: the
year, if the citation has one, and the first author's family name. Words are compared in lower case,
without accents and punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from carrel.records import Work

#: Words of the shortest title that can identify a work.
_SHORTEST_TITLE: Final = 3
_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Match:
    """How well a work matches a citation.

    Attributes:
        place: of the work among those that were compared.
        score: 0 to 1; the share of what was compared that agrees, the title counting for half.
        sure: whether title, and author or year, agree and nothing contradicts.
        is_title: whether the citation is the work's title and nothing else.
    """

    place: int
    score: float
    sure: bool
    is_title: bool = False


def match_citation(citation: str, works: Sequence[Work]) -> list[Match]:
    """Returns the works that may be meant, the best first."""
    words = _words(citation)
    years = {int(year) for year in _YEAR.findall(citation)}
    found = []
    for index, work in enumerate(works):
        matched = _match(words, years, work, index)
        if matched is not None:
            found.append(matched)
    return sorted(found, key=lambda match: (-match.sure, -match.score, match.place))


def _match(words: Sequence[str], years: set[int], work: Work, index: int) -> Match | None:
    title = _words(work.title or "")
    if not title:
        return None
    present = set(words)
    share = sum(word in present for word in title) / len(title)
    if share < 0.5:
        return None
    whole = len(title) >= _SHORTEST_TITLE and _contains(words, title)
    year = int(work.issued[:4]) if work.issued is not None else None
    # A preprint's year is often that before; more than one off is another work.
    agrees_in_year = year is not None and any(abs(year - cited_year) <= 1 for cited_year in years)
    contradicts = bool(years) and year is not None and not agrees_in_year
    author = _words(_family(work))
    agrees_in_author = bool(author) and _contains(words, author)
    score = 0.5 * share + 0.25 * agrees_in_year + 0.25 * agrees_in_author
    sure = whole and not contradicts and (agrees_in_author or agrees_in_year)
    return Match(index, round(score, 3), sure, whole and list(words) == title)


def _family(work: Work) -> str:
    if not work.authors:
        return ""
    author = work.authors[0]
    if author.family:
        return author.family
    name = author.literal or ""
    before, comma, _ = name.partition(",")
    return before if comma else name.rpartition(" ")[2]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall(
        "".join(character for character in plain if not unicodedata.combining(character))
    )


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether `part` is in `words` in one piece."""
    text, piece = f" {' '.join(words)} ", f" {' '.join(part)} "
    return piece in text
