"""Says how much of a claim a text speaks about: words in common, and the sentences that have them.

Coverage is no stance: a text that denies a claim speaks about it too, so the sentences are evidence
that a reader judges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from .words import sentences_of, terms_of

Support = Literal["addressed", "partially_addressed", "not_addressed", "source_unavailable"]
SUPPORTS: Final[tuple[Support, ...]] = (
    "addressed", "partially_addressed", "not_addressed", "source_unavailable",
)  # fmt: skip
#: Share of a claim's terms in one passage from which the text addresses the claim.
_ADDRESSED: Final = 0.6
#: Sentences of a passage, and sentences that are returned as evidence.
_PASSAGE: Final = 5
_MOST: Final = 5
#: Words that may turn a statement round.
_CONTRASTS: Final = frozenset(
    str.split("""
    although but cannot contradict contradicts contrary despite fail failed fails however
    inconsistent instead lack lacks neither never no nor not refute refuted refutes unable unlike
    without
""")
)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The sentences of a text that concern a claim.

    Attributes:
        support: one of `SUPPORTS`.
        sentences: with words of the claim, in the order of the text.
        contrast: whether one of them has a word such as `not` or `however`.
        strongest: the sentence with the most words of the claim; empty if there is none.
    """

    support: Support
    sentences: Sequence[str] = ()
    contrast: bool = False
    strongest: str = ""


UNAVAILABLE: Final = Coverage("source_unavailable")


def cover(claim: str, text: str) -> Coverage:
    """Returns how much of a claim a text speaks about.

    The words are counted in passages of five sentences: words that are spread over a long text say
    nothing about the claim.
    """
    terms = set(terms_of(claim))
    if not terms or not text.strip():
        return UNAVAILABLE
    passage: deque[set[str]] = deque(maxlen=_PASSAGE)
    best = 0.0
    found: list[tuple[int, int, str]] = []
    for index, sentence in enumerate(sentences_of(text)):
        here = terms & set(terms_of(sentence))
        passage.append(here)
        best = max(best, len(set().union(*passage)) / len(terms))
        if here:
            found.append((len(here), index, sentence))
    if not found:
        return Coverage("not_addressed")
    found.sort(key=lambda hit: (-hit[0], hit[1]))
    shown = [sentence for _, _, sentence in sorted(found[:_MOST], key=lambda hit: hit[1])]
    support: Support = "addressed" if best >= _ADDRESSED else "partially_addressed"
    return Coverage(support, shown, any(map(_contrasts, shown)), found[0][2])


def _contrasts(sentence: str) -> bool:
    words = sentence.casefold().replace("\u2019", "'").split()
    return any(word.strip(".,;:()") in _CONTRASTS or word.endswith("n't") for word in words)
