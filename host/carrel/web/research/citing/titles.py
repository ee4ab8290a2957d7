"""Compares the text of a citation with title and year of the work that its identifier names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from carrel.web.research.words import terms_of, words_of

if TYPE_CHECKING:
    from carrel.records import Work

TitleMatch = Literal["match", "mismatch", "not_checked"]
TITLE_MATCHES: Final[tuple[TitleMatch, ...]] = ("match", "mismatch", "not_checked")
#: Share of a title's words in the text from which it is the same title.
_SAME: Final = 0.8
#: Words that are in no title of the work from which it is another one.
_STRANGE: Final = 2
_NUMBER: Final = re.compile(r"[0-9]+[a-z]?")
#: A year; not a part of a longer number, and no page of a range.
_YEAR: Final = re.compile(
    r"(?<![0-9\u2013-])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9\u2013])(?!-[0-9]{4})"
)
#: Words of citations that belong to no title.
_PARTS: Final = frozenset(
    str.split("""
    accessed available doi ed eds edition et al http https issn isbn issue journal no org page pages
    pp preprint press proceedings pub published retrieved url vol volume www
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
""")
)


def compare_title(text: str, work: Work) -> TitleMatch:
    """Returns whether a text names the title of a work.

    `mismatch` needs two words that are neither in the title nor in what else is known of the work:
    authors, container, publisher. One word alone says nothing.

    Args:
        text: of the citation, without the identifier.
        work: that the identifier names.
    """
    title = set(terms_of(f"{work.title or ''} {work.subtitle or ''}"))
    cited = [term for term in terms_of(text) if not _NUMBER.fullmatch(term)]
    if not title or not cited:
        return "not_checked"
    main = set(terms_of(work.title or "")) or title
    if len(main & set(cited)) / len(main) >= _SAME:
        return "match"
    strange = [term for term in cited if term not in title and term not in _other_words(work)]
    return "mismatch" if len(strange) >= _STRANGE else "not_checked"


def other_year(text: str, work: Work) -> str:
    """Returns in words that a text names another year than a work has; empty if it does not.

    Args:
        text: of the citation, without the identifier and without addresses.
        work: that the identifier names.
    """
    years = list(dict.fromkeys(_YEAR.findall(text)))
    year = (work.issued or "")[:4]
    if not years or not year or year in years:
        return ""
    return f"the citation has the year {' and '.join(years[:3])}, the record {year}"


def _other_words(work: Work) -> set[str]:
    """Returns the words of a work that are not its title, and those of any citation."""
    names = " ".join(
        " ".join(filter(None, (person.family, person.given, person.literal)))
        for person in (*work.authors, *work.editors)
    )
    venues = " ".join(filter(None, (work.container_title, work.publisher)))
    plain = set(words_of(f"{names} {venues}"))
    initials = {word[0] for word in plain}
    return plain | set(terms_of(f"{names} {venues}")) | initials | _PARTS | set(map(_stem, _PARTS))


def _stem(word: str) -> str:
    return next(iter(terms_of(word)), word)
