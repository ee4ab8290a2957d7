"""Removes characters that nobody sees from the texts of a document.

Such characters can spell a text for a model (tag characters, variation selectors, zero-width
characters), divide a word so that a search does not find it, or show a text in another order than
it is read. What a script needs stays: joiners between letters of scripts that join, and variation
selectors behind characters that have variants. `docs/reference/characters.md` has the rule.
"""

from __future__ import annotations

import re
from typing import Any, Final

from carrel.text.printable import printable_lines

#: Joiners between characters of ASCII, which do not join; selectors behind those without variants;
#: soft hyphens and the grapheme joiner, which are not seen either.
_USELESS: Final = re.compile(
    r"(?<=[\x20-\x7e])[\u200c\u200d]|[\u200c\u200d](?=[\x21-\x7e])"
    r"|(?<=[\x20-\x22\x24-\x29\x2b-\x2f\x3a-\x7e])[\ufe00-\ufe0f]"
    r"|(?<=[\x20-\x7e])[\U000e0100-\U000e01ef]"
    r"|[\u00ad\u034f]"
)
#: A character that is not of ASCII, or an escape, without which nothing is invisible.
_SUSPECT: Final = re.compile(rb"[\x80-\xff]|\\u")


def remove_invisible(document: dict[str, Any], raw: memoryview) -> int:
    """Removes invisible characters from all texts of a document; returns how many.

    Args:
        document: is changed.
        raw: its JSON, by which documents without such characters are known quickly.
    """
    if _SUSPECT.search(raw) is None:
        return 0
    removed = 0
    stack: list[Any] = [document]
    while stack:
        value = stack.pop()
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        changes = []
        for key, inner in entries:
            if isinstance(inner, str):
                clean = visible(inner)
                if clean != inner:
                    removed += len(inner) - len(clean)
                    changes.append((key, clean))
            elif isinstance(inner, dict | list):
                stack.append(inner)
        for key, clean in changes:
            value[key] = clean or " "
    return removed


def visible(text: str) -> str:
    """Returns a text without invisible characters; line feeds and tabs stay."""
    return text if text.isascii() else _USELESS.sub("", printable_lines(text))
