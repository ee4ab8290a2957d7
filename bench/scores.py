"""Scores extracted text: F1 of the words of a page or paper.

Words are a multiset: NFKC, lower case, `\\w+`. Precision and recall are those of the multisets, F1
is their harmonic mean; the score of a set of pages is the mean of its pages. If a truth consists
of snippets, a required one that is found is a true positive, one that is missing a false negative,
and a forbidden one that is found a false positive, counted over the whole set.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_WORD = re.compile(r"\w+")


class Score(NamedTuple):
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float


class Snippets(NamedTuple):
    """A page's truth as snippets: required ones and forbidden ones."""

    required: Sequence[str]
    forbidden: Sequence[str]


def words(text: str) -> Counter[str]:
    """Returns the words of a text with their counts."""
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def score(found: str, truth: str) -> Score:
    """Compares a text with the truth."""
    ours, theirs = words(found), words(truth)
    if not theirs.total():
        return Score(1.0, 1.0, 1.0) if not ours.total() else Score(0.0, 1.0, 0.0)
    common = (ours & theirs).total()
    return _score(common, ours.total() - common, theirs.total() - common)


def mean(scores: Sequence[Score]) -> Score:
    """Returns the mean score of a set of pages."""
    return Score(*(sum(values) / len(scores) for values in zip(*scores, strict=True)))


def snippets(pages: Iterable[tuple[str, Snippets]]) -> Score:
    """Scores a set whose truth is snippets."""
    positive = wrong = missing = 0
    for found, truth in pages:
        text = _line(found)
        has = sum(_line(snippet) in text for snippet in truth.required)
        positive, missing = positive + has, missing + len(truth.required) - has
        wrong += sum(_line(snippet) in text for snippet in truth.forbidden)
    return _score(positive, wrong, missing)


def text_of(document: Mapping[str, Any]) -> str:
    """Returns the main text of a document: headings and blocks, without figures' captions."""
    return "\n".join(_of_sections(document.get("sections", [])))


def _of_sections(sections: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for section in sections:
        yield from (section[key] for key in ("label", "heading") if key in section)
        yield from _of_blocks(section["blocks"])


def _of_blocks(blocks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        if block["kind"] != "figure":
            yield from (block[key] for key in ("label", "caption", "text") if key in block)
            if "text" not in block and "tex" in block:
                yield block["tex"]
            for row in block.get("rows", ()):
                yield from row
            for item in block.get("items", ()):
                yield from (item[key] for key in ("label", "text") if key in item)
                yield from _of_blocks(item.get("blocks", ()))
        yield from _of_blocks(block.get("blocks", ()))


def _line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _score(common: int, extra: int, missing: int) -> Score:
    if not common:
        return Score(0.0, 0.0, 0.0)
    precision, recall = common / (common + extra), common / (common + missing)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))
