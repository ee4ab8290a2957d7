"""Names the records of a bibliography: author, year and the first word of the title."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from carrel.records import Work

_LETTERS: Final = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th",
    "\u0131": "i",
})  # fmt: skip
_UNSAFE = re.compile(r"[^a-z0-9]+")
_STOP_WORDS: Final = frozenset({
    "a", "an", "and", "at", "by", "das", "de", "der", "des", "die", "du", "ein", "eine", "et",
    "for", "from", "in", "la", "le", "les", "of", "on", "the", "to", "un", "und", "une", "von",
    "with", "zu",
})  # fmt: skip


def citation_keys(works: Sequence[Work]) -> list[str]:
    """Returns a key for each work; works with the same one get a, b, …, z, aa behind it."""
    keys = [_key(work) for work in works]
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


def _key(work: Work) -> str:
    author = next(iter(work.authors), None)
    name = folded(author.family or author.literal or author.given or "") if author else ""
    year = work.issued[:4] if work.issued else ""
    words = (folded(word) for word in (work.title or "").split())
    word = next((one for one in words if one and one not in _STOP_WORDS), "")
    if name or word:
        return f"{name or 'anon'}{year}{word}"[:64]
    identifier = next((folded(one.folded) for one in work.ids.known()), "")
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
