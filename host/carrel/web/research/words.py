"""Divides texts into sentences and into the words that carry meaning."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])[\"'\u201d\u2019)\]]*\s+|\n{2,}")
#: Characters of a text that are looked at.
_MOST: Final = 400_000
#: Words that say nothing about the subject of a text.
_STOP_WORDS: Final = frozenset(
    str.split("""
    a about above after again all also although am among an and any are as at be because been before
    being below between both but by can could did do does doing down during each either else even
    ever every few for from further had has have having he her here hers him his how however i if in
    into is it its itself just least less like many may me might more most much must my neither no
    nor not now of off often on once one only or other our out over own per rather same shall she
    should since so some such than that the their them then there these they this those though
    through thus to too under until up upon us used using very was we well were what when where
    whether which while who whom whose why will with within without would yet you your
    al das de del den der des die du ein eine el en es et im in la las le les los mit ou par pour
    que sur un una und une von y zu
""")
)
#: Endings that are dropped, so that forms of one word are the same, the longest first.
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "ly", "s")
#: Letters of the shortest stem.
_STEM: Final = 4


def words_of(text: str) -> list[str]:
    """Returns the words of a text in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text[:_MOST].casefold())
    return _WORD.findall(
        "".join(character for character in plain if not unicodedata.combining(character))
    )


def stem(word: str) -> str:
    """Returns a word without its ending."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word


def terms_of(text: str) -> dict[str, None]:
    """Returns the stems of the words that carry meaning, in their order, each once."""
    return dict.fromkeys(
        stem(word) for word in words_of(text) if word not in _STOP_WORDS and len(word) > 1
    )


def sentences_of(text: str) -> Iterator[str]:
    """Yields the sentences of a text; a longer one than 600 characters is cut."""
    for piece in _SENTENCE_END.split(text[:_MOST]):
        sentence = " ".join(piece.split())
        if sentence:
            yield sentence[:600]
