"""Makes citation keys: author and year, or a template's.

A key is made when an entry is added, and never changes by itself: documents cite it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter
from typing import Final

from carrel.bibliography.item import Item

from .errors import LibraryError
from .names import family_of, people_of, text_of, year_of

#: Characters of the longest key that is made.
LONGEST: Final = 32

#: Placeholders of a template → what they are.
PLACEHOLDERS: Final = {
    "author": "family name of the first author",
    "Author": "the same, beginning with a capital",
    "authors": "family names of the first three authors",
    "year": "year of publication",
    "shortyear": "its last two digits",
    "title": "first word of the title of more than three letters",
    "Title": "the same, beginning with a capital",
    "words": "first three such words",
    "type": "the CSL type",
}

#: Words that say nothing about a work.
_FILLERS: Final = frozenset(
    {"about", "and", "for", "from", "into", "over", "that", "the", "their", "this", "towards",
     "under", "upon", "using", "what", "when", "with", "without"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyTemplate:
    """A template such as `{author}{year}{title}`, checked.

    Raises:
        LibraryError: `INVALID`; it names an unknown placeholder, has none, or characters that no
            key may have.
    """

    text: str

    def __post_init__(self) -> None:
        try:
            parts = list(Formatter().parse(self.text))
        except ValueError as error:
            raise _fault(self.text, str(error)) from None
        names = [name for _, name, _, _ in parts if name is not None]
        if any(options or conversion for _, _, options, conversion in parts):
            raise _fault(self.text, "a placeholder has no options")
        unknown = [name for name in names if name not in PLACEHOLDERS]
        if unknown:
            raise _fault(
                self.text,
                f"there is no placeholder {{{unknown[0]}}}; there are: "
                + ", ".join(f"{{{name}}}" for name in PLACEHOLDERS),
            )
        if not names:
            raise _fault(self.text, "it has no placeholder")
        stray = re.search(r"[^A-Za-z0-9_.:+/-]", "".join(plain for plain, *_ in parts))
        if stray:
            raise _fault(self.text, f"a key cannot contain {stray[0]!r}")

    def key(self, item: Item) -> str:
        """Returns the key of an item, not yet made unique."""
        people = [plain_name(family_of(person)) for person in people_of(item)]
        year = re.sub(r"[^0-9]", "", year_of(item))
        words = _title_words(text_of(item, "title"))
        author = people[0] if people else ""
        values = {
            "author": author,
            "Author": author[:1].upper() + author[1:],
            "authors": "_".join(name for name in people[:3] if name),
            "year": year,
            "shortyear": year[-2:],
            "title": words[0] if words else "",
            "Title": words[0].capitalize() if words else "",
            "words": "_".join(words[:3]),
            "type": plain_name(text_of(item, "type")),
        }
        made = self.text.format(**values)[:LONGEST].strip("_-.:+/")
        return made or "anon"


def make_key(item: Item, taken: Callable[[str], bool], template: KeyTemplate | None = None) -> str:
    """Returns a key that is not taken: with `a`, `b`, … `z`, `aa` if others have the plain one.

    Args:
        item: the entry.
        taken: whether an entry has a key; keys that differ in case only are the same.
        template: of the key; None for author and year.
    """
    plain = template.key(item) if template else _plain_key(item)
    key, number = plain, 0
    while taken(key):
        number += 1
        suffix = _suffix(number)
        key = plain[: LONGEST - len(suffix)] + suffix
    return key


def plain_name(text: str) -> str:
    """Returns a name in lower-case ASCII letters and digits, with underscores for spaces.

    Letters of other scripts are transliterated: `Müller` is `muller`, `田中` is `tianzhong`.
    """
    if not text.isascii():
        # Imported here, because its tables are only needed for these names.
        from anyascii import anyascii

        text = anyascii(text)
    text = re.sub(r"\s+", "_", text.lower())
    text = re.sub(r"[^a-z0-9_]", "", text)
    return re.sub(r"_+", "_", text).strip("_")


def _plain_key(item: Item) -> str:
    people = people_of(item)
    author = plain_name(family_of(people[0])) if people else ""
    year = re.sub(r"[^0-9]", "", year_of(item))
    if author and year:
        return f"{author[: LONGEST - len(year) - 1].rstrip('_')}-{year}"
    title = plain_name(text_of(item, "title"))
    if not title and not author and not year:
        title = "untitled"
    parts = [(author or "anon")[: LONGEST - 3].rstrip("_"), year or "nd"]
    return "-".join([*parts, title] if title else parts)[:LONGEST].rstrip("_-")


def _title_words(title: str) -> list[str]:
    words = [word for word in plain_name(re.sub(r"[^\w\s]", " ", title)).split("_") if word]
    return [word for word in words if len(word) > 3 and word not in _FILLERS] or words


def _suffix(number: int) -> str:
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def _fault(template: str, problem: str) -> LibraryError:
    return LibraryError(
        "INVALID",
        f"the template of keys {template!r} cannot be used: {problem}",
        advice="correct the setting library.key_template",
    )
