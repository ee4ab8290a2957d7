"""Cuts texts at the borders of paragraphs, and drops paragraphs that occurred before."""

from __future__ import annotations

import re
from typing import Final

_BORDER: Final = re.compile(r"\n[ \t]*\n+")


def without_repeated(text: str, seen: set[str]) -> str:
    """Returns a text without the paragraphs that are in `seen`, and adds its own to that.

    Paragraphs are the same if their words are, in the same order; blanks do not count.
    """
    kept = []
    for paragraph in _BORDER.split(text):
        known = " ".join(paragraph.split())
        if known and known not in seen:
            seen.add(known)
            kept.append(paragraph.strip("\n"))
    return "\n\n".join(kept)


def cut(text: str, most: int) -> tuple[str, bool]:
    """Returns at most `most` bytes of a text in UTF-8, and whether something was cut.

    The cut is behind a paragraph, or a line or a word if that would lose more than a third.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most:
        return text, False
    head = encoded[: max(0, most)].decode("utf-8", "ignore")
    for border in ("\n\n", "\n", " "):
        place = head.rfind(border)
        if place > len(head) * 2 // 3:
            return head[:place].rstrip(), True
    return head, True
