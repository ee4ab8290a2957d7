"""Folds texts for the search index: no accents, no case, one word for each Chinese character."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

#: Letters that Unicode does not decompose → how they are typed without them.
_LETTERS: Final = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h",
    "\u0131": "i", "ŋ": "n", "ŧ": "t",
})  # fmt: skip
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
    if text.isascii():
        folded = text.lower()
    else:
        plain = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
        folded = "".join(one for one in plain if not unicodedata.combining(one))
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
            # The words of one part, as of `x-ray` or of a Chinese name, stand side by side.
            terms.append(f'"{" ".join(words)}" *')
    return " AND ".join(terms)
