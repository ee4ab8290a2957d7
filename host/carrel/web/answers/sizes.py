"""Estimates the tokens of a text, and names its size by them."""

from __future__ import annotations

from typing import Final

#: By which tokens are estimated.
CHARACTERS_PER_TOKEN: Final = 4
#: Size → the tokens below which a text has it.
_BELOW: Final = {"small": 5_000, "medium": 20_000, "large": 50_000}
SIZES: Final = (*_BELOW, "very_large")


def estimated_tokens(text: str) -> int:
    """Returns the estimated number of a model's tokens: a quarter of the characters."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def size_category(tokens: int) -> str:
    """Returns the size of a text with so many tokens."""
    return next((name for name, most in _BELOW.items() if tokens < most), SIZES[-1])
