"""Finds hidden characters by the table in the documentation, independently of the code."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "characters.md"
_RANGE = re.compile(r"U\+([0-9A-F]{4,6})(?:\u2013([0-9A-F]{4,6}))?")


def _listed() -> frozenset[int]:
    table = _PAGE.read_text("utf-8").partition("## Hidden characters")[2].partition("**Not")[0]
    found = [
        range(int(first, 16), int(last or first, 16) + 1) for first, last in _RANGE.findall(table)
    ]
    return frozenset(code for one in found for code in one)


#: Code points of the table.
HIDDEN = _listed()
JOINERS = frozenset({0x200C, 0x200D})
SELECTORS = frozenset({*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)})
#: In a JSON text they are white space between tokens.
WHITE_SPACE = frozenset({0x09, 0x0A})


def hidden_in(text: str, *, white_space: bool = True) -> list[str]:
    """Returns the hidden characters of a text in order; line feed and tab count unless they are
    allowed.
    """
    allowed = WHITE_SPACE if white_space else frozenset[int]()
    found = []
    before = -1
    for character in text:
        code = ord(character)
        repeated = any(code in kind and before in kind for kind in (JOINERS, SELECTORS))
        if (code in HIDDEN and code not in allowed) or repeated:
            found.append(f"U+{code:04X}")
        before = code
    return found
