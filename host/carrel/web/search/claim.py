"""Finds the sentence of a snippet that is closest to a claim. Evidence, never a verdict."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: Between two sentences: a full stop and a capital, an ellipsis of a search engine.
_BORDER: Final = re.compile(
    r"(?<=[.!?])\s+(?=[^\sa-z])|\s*(?:\u2026|\.\.\.)\s*|(?<=[\u3002\uff01\uff1f])\s*"
)
_WORD: Final = re.compile(r"\w+")
#: Words that say nothing about a sentence.
_STOP: Final = frozenset(
    str.split("""
    a about all also an and any are as at be been but by can could did do does for from had has
    have he her his how i if in into is it its may might more most no not of on one or our she
    should so some such than that the their them then there these they this those to was we were
    what when which who will with would you your aber als am an auch auf aus bei bis das dass
    dem den der des die du ein eine einem einen einer er es für hat ich ihr im in ist mit nach
    nicht noch oder sich sie sind so und von war wie wird wir zu zum zur au aux avec ce ces dans
    de des du elle en est et il ils la le les leur mais ne nous ou par pas pour qu que qui sa se
    ses son sont sur un une vous con del el ha las lo los más no para por su una y
""")
)


def claim_signal(claim: str, snippet: str) -> str:
    """Returns the sentence of a snippet that has most of a claim's words; empty if none has one.

    Of several with equally many the first; numbers count twice, because a claim with
    another number is another claim.
    """
    claim_words = _words(claim)
    if not claim_words:
        return ""
    best, most = "", 0
    for sentence in _BORDER.split(snippet):
        shared = claim_words & _words(sentence)
        score = sum(2 if any(character.isdigit() for character in word) else 1 for word in shared)
        if score > most:
            best, most = sentence.strip(), score
    return best


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """Returns the words that carry meaning, without plural endings."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in found if word not in _STOP)


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word
