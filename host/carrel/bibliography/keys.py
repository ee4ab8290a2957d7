"""Names the records of a bibliography: author, year and the first word of the title."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from .dates import date_of
from .item import Item, names_of, text_of

_LETTERS: Final = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
    "\u0131": "i",
})  # fmt: skip
_UNSAFE = re.compile(r"[^a-z0-9]+")
_TAG = re.compile(r"<[^<>]*>")
_STOP_WORDS: Final = frozenset({
    "a", "an", "and", "at", "by", "das", "de", "der", "des", "die", "du", "ein", "eine", "et",
    "for", "from", "in", "la", "le", "les", "of", "on", "the", "to", "un", "und", "une", "von",
    "with", "zu",
})  # fmt: skip


def with_keys(
    items: Sequence[Item], safe: Callable[[str], str] = str
) -> Iterator[tuple[Item, str]]:
    """Yields each item with its key: its `id`, or one made of author, year and title.

    Items with the same one get a, b, …, z, aa behind it.

    Args:
        items: in any order.
        safe: returns what a format can hold of a key; empty for nothing.
    """
    keys = [safe(text_of(item, "id").strip()) or _key(item) for item in items]
    yield from zip(items, distinct(keys), strict=True)


def distinct(keys: Sequence[str]) -> list[str]:
    """Returns the keys with a, b, …, z, aa behind those that occur more than once."""
    often = Counter(keys)
    used = {key for key in keys if often[key] == 1}
    letters = {key: _letters() for key in keys if often[key] > 1}
    found = []
    for key in keys:
        name = key
        while key in letters and (name == key or name in used):
            name = key + next(letters[key])
        used.add(name)
        found.append(name)
    return found


def _key(item: Item) -> str:
    author = next(iter(names_of(item, "author")), {})
    name = folded(author.get("family") or author.get("literal") or author.get("given") or "")
    date = date_of(item.get("issued")) or {}
    year = str(date["date-parts"][0][0]) if "date-parts" in date else ""
    words = (folded(word) for word in _TAG.sub("", text_of(item, "title")).split())
    word = next((word for word in words if word and word not in _STOP_WORDS), "")
    if name or word:
        return f"{name or 'anon'}{year}{word}"[:64]
    variables = ("DOI", "PMID", "PMCID", "archive_location", "ISBN", "URL")
    identifier = next(
        (folded(text_of(item, variable)) for variable in variables if text_of(item, variable)), ""
    )
    return (identifier or f"anon{year}")[:64]


def folded(text: str) -> str:
    """Returns the letters and digits of a text in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS))
    return _UNSAFE.sub("", plain)


def _letters() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        name, rest = "", number
        while rest:
            rest, letter = divmod(rest - 1, 26)
            name = chr(ord("a") + letter) + name
        yield name
