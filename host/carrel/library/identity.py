"""Recognises entries of one work: by identifiers, then by title, authors and year."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from carrel.bibliography.item import Item
from carrel.records import Id, IdFault, parse_id

from .names import custom_of, family_of, people_of, plain_text, text_of, year_of
from .search.folding import folded

DuplicateType = Literal["doi", "pmid", "pmcid", "arxiv", "isbn", "title"]

#: In the order in which they decide.
ORDER: Final[tuple[DuplicateType, ...]] = ("doi", "pmid", "pmcid", "arxiv", "isbn", "title")
#: Types of which an ISBN names the whole work.
_BOOKS: Final = frozenset({"book", "classic", "collection"})
_ISBN = re.compile(r"(?<![0-9Xx])(?:97[89][- ]?(?:[0-9][- ]?){9}[0-9]|(?:[0-9][- ]?){9}[0-9Xx])(?![0-9Xx])")  # fmt: skip  # noqa: E501
#: Member → kind of its identifier.
_MEMBERS: Final[tuple[tuple[str, DuplicateType], ...]] = (
    ("DOI", "doi"),
    ("PMID", "pmid"),
    ("PMCID", "pmcid"),
)


class Name(NamedTuple):
    """One name of a work, in a form in which equal names are equal texts."""

    type: DuplicateType
    text: str


def names_of(item: Item) -> tuple[Name, ...]:
    """Returns the names of the item's work, in the order in which they decide."""
    found = dict.fromkeys((*_identifiers(item), *_isbn_names(item), *_title_names(item)))
    return tuple(sorted(found, key=lambda name: ORDER.index(name.type)))


def contradict(first: Iterable[Name], second: Iterable[Name]) -> bool:
    """Returns whether two entries with one title, authors and year are different works, because
    they have different identifiers of one kind: editorials, parts of a series.
    """
    kinds: dict[str, set[str]] = {}
    for name in first:
        kinds.setdefault(name.type, set()).add(name.text)
    other_kinds: dict[str, set[str]] = {}
    for name in second:
        other_kinds.setdefault(name.type, set()).add(name.text)
    return any(
        kind in other_kinds and not kinds[kind] & other_kinds[kind]
        for kind in kinds
        if kind in ("doi", "pmid", "pmcid", "arxiv")
    )


def isbns_in(text: str) -> list[str]:
    """Returns the ISBNs in a text, with 13 digits each."""
    found = (re.sub(r"[- ]", "", match[0]) for match in _ISBN.finditer(text))
    return list(dict.fromkeys(isbn13(isbn) for isbn in found))


def isbn13(isbn: str) -> str:
    """Returns an ISBN of 10 characters as one of 13 digits, and others as they are."""
    if len(isbn) != 10:
        return isbn
    digits = "978" + isbn[:9]
    total = sum(int(digit) * (3 if index % 2 else 1) for index, digit in enumerate(digits))
    return f"{digits}{-total % 10}"


def _identifiers(item: Item) -> list[Name]:
    found = []
    for member, kind in _MEMBERS:
        text = text_of(item, member).strip()
        if text:
            found.append(_parsed(kind, text))
    arxiv = plain_text(custom_of(item).get("arxiv_id")).strip()
    if arxiv:
        found.append(_parsed("arxiv", arxiv))
    number = text_of(item, "number").strip()
    if number.lower().startswith("arxiv:"):
        found.append(_parsed("arxiv", number))
    if not found and (url := text_of(item, "URL").strip()):
        try:
            identifier = parse_id(url)
        except IdFault:
            return []
        if identifier.type in ORDER and ":" in url:
            found.append(Name(*identifier.work))  # type: ignore[arg-type]
    return found


def identifier_in(kind: str, text: str) -> Id | None:
    """Returns the identifier in a member for one kind, which may be of another kind: an arXiv DOI.

    Digits alone are of the member's kind.
    """
    forms = [f"PMC{text}"] if kind == "pmcid" and text.isdigit() else [text, f"{kind}:{text}"]
    for form in forms:
        try:
            found = parse_id(form)
        except IdFault:
            continue
        if found.type != "pmid" or kind == "pmid":
            return found
    return None


def _parsed(kind: DuplicateType, text: str) -> Name:
    """Returns the name by an identifier; a text that is none is a name of its own."""
    found = identifier_in(kind, text)
    return Name(kind, text.lower()) if found is None else Name(*found.work)  # type: ignore[arg-type]


def _isbn_names(item: Item) -> list[Name]:
    isbns = isbns_in(text_of(item, "ISBN"))
    if not isbns or item.get("type") in _BOOKS:
        return [Name("isbn", isbn) for isbn in isbns]
    title = folded(text_of(item, "title"))
    return [Name("isbn", f"{isbn} {title}") for isbn in isbns] if title else []


def _title_names(item: Item) -> list[Name]:
    title = folded(text_of(item, "title"))
    people = [
        f"{folded(family_of(person))} {folded(person.get('given', ''))[:1]}".strip()
        for person in people_of(item)
    ]
    year = year_of(item)
    if not (title and year and any(people)):
        return []
    return [Name("title", f"{title}|{';'.join(people)}|{year}")]
