"""Folds texts for the search index: no accents, no case, one word for each Chinese character."""

from __future__ import annotations

import re
from typing import Final

from carrel.text.folding import folded_letters

#: Scripts without spaces between words: Han, kana, Thai, Lao, Khmer, Myanmar.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"[^\W_]+")
#: Words of one query.
_MOST: Final = 32


def folded_text(text: str) -> str:
    """Returns the text without accents and case; characters of unspaced scripts are apart."""
    folded = folded_letters(text)
    if not folded.isascii():
        folded = _UNSPACED.sub(r" \g<0> ", folded)
    return folded.replace("\n", " ").replace("\0", " ")


def search_expression(query: str) -> str:
    """Returns the FTS5 expression for all words of a query; each may be the beginning of a word.

    Characters with a meaning in such an expression are no part of the words. It is empty for a
    query without words.
    """
    terms = []
    for part in query.split()[:_MOST]:
        words = _WORD.findall(folded_text(part))
        if words:
            # The words of one part, as of `x-ray` or of a Chinese name, are adjacent.
            terms.append(f'"{" ".join(words)}" *')
    return " AND ".join(terms)
