"""Folds letters for comparison: without case and accents."""

from __future__ import annotations

import unicodedata
from typing import Final

#: Letters that Unicode does not decompose → how they are typed without them.
LETTERS: Final = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
    "\u0131": "i", "ŋ": "n", "ŧ": "t",
})  # fmt: skip


def folded_letters(text: str) -> str:
    """Returns the text without case and accents; everything else is as it was."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold()).translate(LETTERS)
    return "".join(character for character in plain if not unicodedata.combining(character))
