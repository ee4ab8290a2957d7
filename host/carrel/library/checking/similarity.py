"""Compares titles and authors as sets of words, so that spelling and order do not count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

#: Thresholds of reference-manager: titles are alike at this share of common words, or if one holds
#: this share of the other's; authors at this share of common family names.
TITLE_JACCARD: Final = 0.5
TITLE_CONTAINMENT: Final = 0.8
AUTHOR_OVERLAP: Final = 0.5

_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"<[^<>]{1,40}>")


def words(text: str) -> list[str]:
    """Returns the words of a text in lower case, without accents and markup."""
    plain = unicodedata.normalize("NFKD", _MARKUP.sub(" ", text).casefold())
    bare = "".join(character for character in plain if not unicodedata.combining(character))
    found = _WORD.findall(bare)
    # Scripts without blanks: every character is a word.
    return [part for word in found for part in (word if _is_ideographic(word) else [word])]


def titles_alike(first: str, second: str) -> bool:
    """Returns whether two titles are of one work."""
    left, right = set(words(first)), set(words(second))
    if not left or not right:
        return True
    common = len(left & right)
    jaccard = common / len(left | right)
    return jaccard >= TITLE_JACCARD or common / min(len(left), len(right)) >= TITLE_CONTAINMENT


def authors_alike(first: Sequence[str], second: Sequence[str]) -> bool:
    """Returns whether two lists of names overlap; an empty list contradicts nothing."""
    left, right = _keys(first), _keys(second)
    if not left or not right:
        return True
    return len(left & right) / min(len(left), len(right)) >= AUTHOR_OVERLAP


def same_text(first: object, second: object) -> bool:
    """Returns whether two values are the same text for a reader."""
    return words(str(first)) == words(str(second))


def _keys(names: Iterable[str]) -> set[str]:
    """Returns family names as they are compared: the last word of what is before a comma."""
    found = set()
    for name in names:
        family = words(name.split(",")[0])
        if family:
            found.add(family[-1])
    return found


def _is_ideographic(word: str) -> bool:
    return any(
        "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in word
    )
