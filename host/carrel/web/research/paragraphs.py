"""Cuts texts at the borders of paragraphs, and drops paragraphs that occurred before."""

from __future__ import annotations

import re
from typing import Final

_BORDER: Final = re.compile(r"\n[ \t]*\n+")


def without_repeated(text: str, seen: set[str]) -> str:
    """Returns a text without the paragraphs that are in `seen`, and adds its own to that.

    Paragraphs are the same if their words are, in the same order; whitespace does not count.
    """
    paragraphs = []
    for paragraph in _BORDER.split(text):
        normalized = " ".join(paragraph.split())
        if normalized and normalized not in seen:
            seen.add(normalized)
            paragraphs.append(paragraph.strip("\n"))
    return "\n\n".join(paragraphs)


def cut(text: str, most: int) -> tuple[str, bool]:
    """Returns at most `most` bytes of a text in UTF-8, and whether something was cut.

    The cut is behind a paragraph, or a line or a word if that would lose more than a third.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most:
        return text, False
    head = encoded[: max(0, most)].decode("utf-8", "ignore")
    for border in ("\n\n", "\n", " "):
        end = head.rfind(border)
        if end > len(head) * 2 // 3:
            return head[:end].rstrip(), True
    return head, True
