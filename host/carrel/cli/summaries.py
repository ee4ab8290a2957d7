"""Shortens several descriptions to one line each, without a common beginning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

#: A label such as `WHEN TO USE:` or `Purpose -`; what follows it is the description.
_LABEL = re.compile(r"[^\s:.,;][^:.,;\n]{0,39}(?::|\s[-\u2013\u2014])\s+")
#: A sequence of words that begins more than half of the descriptions is not informative.
_WORDS = range(12, 1, -1)


def summaries(descriptions: Sequence[str]) -> list[str]:
    """Returns the first line of each description, without a common beginning.

    Removed are a label that begins two descriptions, and two or more words that begin most of three
    or more.
    """
    counts = Counter(start for description in descriptions for start in _starts(description))
    most = len(descriptions) // 2 + 1 if len(descriptions) > 2 else 3
    lines = []
    for description in descriptions:
        rest = description.strip()
        for start in _starts(description):
            is_label = _LABEL.fullmatch(start) is not None
            needed = 2 if is_label else most
            if counts[start] >= needed and len(start.rstrip()) < len(rest):
                rest = rest[len(start) :].lstrip()
                rest = rest[:1].upper() + rest[1:]
                break
        lines.append(rest.splitlines()[0].strip() if rest else "")
    return lines


def _starts(description: str) -> Iterator[str]:
    """Yields the candidate beginnings of a description, the longest first."""
    text = description.strip()
    first_line = text.splitlines()[0] if text else ""
    label = _LABEL.match(text)
    if label is not None:
        yield label[0]
    words = list(re.finditer(r"\S+\s+", first_line))
    yield from (first_line[: words[count - 1].end()] for count in _WORDS if count <= len(words))
