"""Prepares an entry's texts and names for the index, and a term for the question to it.

The text of a field is folded. After it come the runs of capitals, which match with case, and the
pairs of neighbouring characters of scripts without spaces, because the index knows no shorter texts
than three characters:

    LEARNING OF RNA, 深層   →   learning of rna 深層 ␤ LEARNING ␤ LE⍿ EA⍿ … RNA ␤ RN⍿ NA⍿ 深層⍿
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, NamedTuple

from carrel.bibliography.item import Item
from carrel.library.identity import identifier_in, isbns_in, names_of
from carrel.library.names import (
    custom_of,
    family_of,
    key_of,
    people_of,
    plain_text,
    text_of,
    words_of,
    year_of,
)

from .folding import capitals, folded

#: The fields of the index with text; a term without prefix is looked up in all of them.
COLUMNS: Final = ("title", "author", "venue", "publisher", "keyword", "tag", "abstract")
#: Those but the last, which is much longer.
SHORT_COLUMNS: Final = COLUMNS[:-1]
#: Separates the columns of one entry; no folded text has it.
COLUMN_END: Final = "\x1e"

#: Follows a pair of characters.
_PAIR: Final = "\x02"
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_PAIRS: Final = re.compile(f"(?=([{_UNSPACED}]{{2}}))")
_IS_PAIR: Final = re.compile(f"[{_UNSPACED}]{{2}}")
#: Characters of the longest name that the index has in full.
_LONGEST_NAME: Final = 80


class ExactName(NamedTuple):
    """A value that a term must be as a whole, or by which duplicates are found."""

    kind: str
    text: str


def columns_of(item: Item) -> tuple[str, ...]:
    """Returns what the index has of each of `COLUMNS`."""
    return tuple(_column(values) for values in texts_of(item))


def texts_of(item: Item) -> tuple[list[str], ...]:
    """Returns the texts of each of `COLUMNS`, as the item has them."""
    return (
        [text_of(item, "title")],
        [f"{family_of(person)} {person.get('given', '')}".strip() for person in people_of(item)],
        [text_of(item, "container-title")],
        [text_of(item, "publisher")],
        words_of(item.get("keyword")),
        words_of(custom_of(item).get("tags")),
        [text_of(item, "abstract")],
    )


def exact_names_of(item: Item) -> set[ExactName]:
    """Returns all names of an entry; those of duplicates are of the kinds `same-…`."""
    custom = custom_of(item)
    found = {duplicate_name(*name) for name in names_of(item)}
    found.add(ExactName("id", key_of(item)))
    found.add(ExactName("year", year_of(item)))
    found.add(ExactName("type", type_of(item)))
    found.add(ExactName("superseded", plain_text(custom.get("superseded_by"))))
    for member in ("DOI", "PMID", "PMCID"):
        if text := text_of(item, member):
            found.add(exact_name(member.lower(), text))
    if text := text_of(item, "ISBN"):
        found |= {ExactName("isbn", isbn) for isbn in isbns_in(text)}
    more: Any = custom.get("additional_urls")
    for url in (text_of(item, "URL"), *(more if isinstance(more, list) else ())):
        found.add(ExactName("url", _short(plain_text(url))))
    return {name for name in found if name.text}


def type_of(item: Item) -> str:
    """Returns the type of an item as terms have it."""
    return text_of(item, "type").lower()


def exact_name(field: str, text: str) -> ExactName:
    """Returns the name that an entry must have for a term to be the whole value of a field."""
    if field in ("doi", "pmid", "pmcid"):
        return ExactName(field, _identifier(field, text))
    if field == "isbn":
        return ExactName(field, (isbns_in(text) or [text])[0])
    if field == "url":
        return ExactName(field, _short(text))
    return ExactName(field, text.lower() if field == "type" else text)


def duplicate_name(kind: str, text: str) -> ExactName:
    """Returns the index's form of a name by which duplicates are found."""
    # An identifier is the same text, whether it is searched or compared.
    same = kind in ("doi", "pmid", "pmcid")
    return ExactName(kind if same else f"same-{kind}", _short(text))


class TextQuestion(NamedTuple):
    """The condition of a term on a field's index text.

    Attributes:
        phrases: texts of at least three characters, all of which it contains.
        part: a shorter one, for which the index is of no use; empty if there is none.
    """

    phrases: tuple[str, ...]
    part: str


def text_question(text: str) -> TextQuestion:
    """Returns the parts of a field's index text that a term asks for; none if the term has neither
    letters nor digits.
    """
    term = folded(text)
    runs = dict.fromkeys(capitals(text))
    phrases = [run if len(run) > 2 else run + _PAIR for run in runs]
    if any(folded(run) == term for run in runs):
        return TextQuestion(tuple(phrases), "")  # a text with the run has the folded term too
    if len(term) > 2:
        phrases.append(term)
    elif _IS_PAIR.fullmatch(term):
        phrases.append(term + _PAIR)
    else:
        return TextQuestion((), term)
    return TextQuestion(tuple(phrases), "")


def _column(values: list[str]) -> str:
    plain = "\n".join(folded(value) for value in values)
    runs = dict.fromkeys(run for value in values for run in capitals(value))
    extra = [run for run in runs if len(run) > 2]
    pairs = dict.fromkeys(run[at : at + 2] for run in runs for at in range(len(run) - 1))
    if not plain.isascii():
        pairs |= dict.fromkeys(_PAIRS.findall(plain))
    if pairs:
        extra.append(_PAIR.join(pairs) + _PAIR)
    return "\n".join([plain, *extra]) if extra else plain


def _identifier(kind: str, text: str) -> str:
    found = identifier_in(kind, text.strip())
    return found.folded if found and found.type == kind else _short(text.strip().lower())


def _short(text: str) -> str:
    if len(text) <= _LONGEST_NAME:
        return text
    return "#" + hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
