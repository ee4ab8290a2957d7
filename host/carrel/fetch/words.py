"""Tables of words, written as text: one word a line would hide the code around them."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
