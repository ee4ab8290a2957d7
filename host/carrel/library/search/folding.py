"""Folds texts for matching: no case, no accents, no punctuation; and finds runs of capitals."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from carrel.text.folding import folded_letters

_PUNCTUATION: Final = re.compile(r"[^\w/]|_")
_BLANKS: Final = re.compile(r"\s+")
_CAPITALS: Final = re.compile(r"[A-Z]{2,}")


def folded(text: str) -> str:
    """Returns the text in the form in which texts are compared.

    Compatible characters are one (NFKC), case and accents do not count, punctuation is a blank, and
    so is any run of blanks.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(_PUNCTUATION.sub(" ", folded_letters(text)).split())


def capitals(text: str) -> list[str]:
    """Returns the runs of two or more capitals (A to Z, accents removed), which match with case."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = "".join(character for character in plain if not unicodedata.combining(character))
    return _CAPITALS.findall(text)
