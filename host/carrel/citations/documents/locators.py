"""Reads the locator at the beginning of a text behind a key: `, pp. 3-5, and more`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Spellings of each label of CSL, without points.
_SPELLINGS: Final = {
    "act": "act",
    "appendix": "appendix app",
    "article-locator": "article art",
    "book": "book books bk bks",
    "chapter": "chapter chapters chap chaps ch",
    "column": "column columns col cols",
    "equation": "equation equations eq eqs",
    "figure": "figure figures fig figs",
    "folio": "folio folios fol fols f ff",
    "issue": "number numbers no nos issue issues",
    "line": "line lines l ll",
    "note": "note notes n nn",
    "opus": "opus opera op opp",
    "page": "page pages p pp",
    "paragraph": "paragraph paragraphs para paras ¶ ¶¶",
    "part": "part parts pt pts",
    "rule": "rule rules r rr",
    "scene": "scene sc",
    "section": "section sections sec secs § §§",
    "sub-verbo": "s.v s.vv",
    "supplement": "supplement supp",
    "table": "table tables tbl tbls",
    "timestamp": "timestamp",
    "title-locator": "title tit",
    "verse": "verse verses v vv",
    "volume": "volume volumes vol vols",
}
_LABELS: Final = {
    spelling: label for label, spellings in _SPELLINGS.items() for spelling in spellings.split()
}
_WORDS: Final = "|".join(map(re.escape, sorted(_LABELS, key=len, reverse=True)))
#: A label is followed by a point, a blank, or, as a sign, by the locator itself.
_LABEL: Final = re.compile(rf"(?P<word>{_WORDS})(?:\.\s*|\s+|(?<=[§¶])|(?=\{{))", re.IGNORECASE)
#: A number, or a word with one in it (`A3`, `12b`, `4:16`), or a Roman numeral.
_UNIT: Final = r"(?:[^\s,;&{}\[\]]*\d[^\s,;&{}\[\]]*|[ivxlcdm]+\b|[IVXLCDM]+\b)"
_NUMBERS: Final = re.compile(
    rf"{_UNIT}(?:(?:\s*[-\u2013\u2014]+\s*|\s*,\s*|\s*&\s*|\s+and\s+){_UNIT})*"
)
_BRACED: Final = re.compile(r"\{(?P<inner>[^{}]*)\}")
_START: Final = re.compile(r"\s*,?\s*")


class Located(NamedTuple):
    """A locator and what follows it."""

    locator: str | None
    label: str | None
    rest: str


def read_locator(text: str) -> Located:
    """Returns the locator that a text begins with, its label, and the rest.

    Braces hold a locator that is not a number: `{ch. A, B}`. Empty braces mean that there is none.
    """
    begin = _START.match(text)
    at = begin.end() if begin else 0
    braced = _BRACED.match(text, at)
    if braced:
        inner = braced["inner"].strip()
        label = _LABEL.match(inner)
        locator = inner[label.end() :].strip() if label else inner
        name = _name(label) if label else "page"
        return Located(locator or None, name if locator else None, text[braced.end() :])
    label = _LABEL.match(text, at)
    start = label.end() if label else at
    braced = _BRACED.match(text, start)
    if braced and label:
        return Located(braced["inner"].strip(), _name(label), text[braced.end() :])
    numbers = _NUMBERS.match(text, start)
    if numbers is None:
        return Located(None, None, text)
    return Located(
        re.sub(r"[.:]+$", "", numbers[0]),
        _name(label) if label else "page",
        numbers[0][len(re.sub(r"[.:]+$", "", numbers[0])) :] + text[numbers.end() :],
    )


def _name(label: re.Match[str]) -> str:
    return _LABELS[label["word"].lower()]
