"""Parses the query language: terms that must all match, phrases in quotes, prefixes of fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from carrel.library.errors import LibraryError

#: Fields of which a term is a part of the text.
TEXT_FIELDS: Final = ("author", "title", "keyword", "tag")
#: Fields of which a term is the whole value.
EXACT_FIELDS: Final = ("id", "year", "doi", "pmid", "pmcid", "isbn", "url", "type")
#: Characters of the longest query.
MAX_LENGTH: Final = 4096
#: Terms of one query.
MAX_TERMS: Final = 64

_PREFIX: Final = re.compile(rf"({'|'.join((*TEXT_FIELDS, *EXACT_FIELDS))}):", re.IGNORECASE)
#: Not the scheme of a URL, and no identifier such as `arXiv:2301.00001`.
_LIKE_FIELD: Final = re.compile(r"(?<!\S)[A-Za-z]{2,20}:(?=[A-Za-z\"])(?!//)")
_WORD: Final = re.compile(r'[^\s"]+')


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query.

    Attributes:
        text: as it was written, without quotes.
        field: the field that must match; None for any.
    """

    text: str
    field: str | None = None


def parse_query(query: str) -> tuple[Term, ...]:
    """Returns the terms of a query; none for a query of blanks.

    Raises:
        LibraryError: `INVALID`, with the offset: a quote is not closed, a prefix has no value, or
            the query is too long.
    """
    if len(query) > MAX_LENGTH:
        raise _fault(query, MAX_LENGTH, f"the query is longer than {MAX_LENGTH} characters")
    terms: list[Term] = []
    at = 0
    while (at := _after_blanks(query, at)) < len(query):
        start = at
        prefix = _PREFIX.match(query, at)
        field = None
        if prefix:
            field, at = prefix[1].lower(), prefix.end()
        if query[at : at + 1] == '"':
            end = query.find('"', at + 1)
            if end < 0:
                raise _fault(query, at, "the quote is not closed")
            text, at = query[at + 1 : end], end + 1
        else:
            word = _WORD.match(query, at)
            text = word[0] if word else ""
            at += len(text)
        if field and not text.strip():
            raise _fault(query, start, f"nothing follows {field}: without a blank")
        if text.strip():
            terms.append(Term(text.strip(), field))
        if len(terms) > MAX_TERMS:
            raise _fault(query, start, f"the query has more than {MAX_TERMS} terms")
    return tuple(terms)


def unknown_fields(query: str) -> list[str]:
    """Returns the words before a colon that look like fields and are none, such as `titel:`."""
    found = dict.fromkeys(_LIKE_FIELD.findall(query))
    return [word for word in found if not _PREFIX.fullmatch(word)]


def _after_blanks(query: str, at: int) -> int:
    while at < len(query) and query[at].isspace():
        at += 1
    return at


def _fault(query: str, offset: int, problem: str) -> LibraryError:
    part = query[offset : offset + 20]
    return LibraryError(
        "INVALID",
        f"the query cannot be read at character {offset + 1}, {part!r}: {problem}",
        advice='write words, "phrases in quotes", or a field and its value such as author:smith',
        position={"offset": offset},
    )
