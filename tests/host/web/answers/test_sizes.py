"""Tests of the sizes of texts."""

from __future__ import annotations

import pytest

from carrel.web.answers import SIZES, estimated_tokens, size_category


@pytest.mark.requirement("web-researcher:sizes")
@pytest.mark.parametrize(
    ("tokens", "size"),
    [
        (0, "small"),
        (4_999, "small"),
        (5_000, "medium"),
        (19_999, "medium"),
        (20_000, "large"),
        (49_999, "large"),
        (50_000, "very_large"),
        (10**9, "very_large"),
    ],
)
def test_a_size_begins_at_its_number_of_tokens(tokens: int, size: str) -> None:
    assert size_category(tokens) == size
    assert size in SIZES


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("\u6f22" * 5, 2)])
def test_a_token_is_four_characters(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens
