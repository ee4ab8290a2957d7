"""Text from outside made safe for a log line or a terminal."""

from __future__ import annotations

import re

#: C0, C1, DEL, line and paragraph separators, bidi controls, zero-width and tag characters: what
#: can forge a line, move a cursor, or hide what a person reads.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)

_UNSAFE_IN_LINES = re.compile(r"(?![\t\n])" + _UNSAFE.pattern)


def printable(text: str, limit: int = 500) -> str:
    """`text` on one line, without control and invisible characters, cut to `limit` characters."""
    clean = _UNSAFE.sub(" ", text[: limit + 1])
    return clean if len(text) <= limit else clean[:limit] + "…"


def printable_lines(text: str) -> str:
    """`text` without control and invisible characters, its line feeds and tabs kept."""
    return _UNSAFE_IN_LINES.sub(" ", text)
