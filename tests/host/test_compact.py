"""Tests that compact text has the same content as the JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.text.compact import compact_text
from support.compact_reader import as_written, read_compact

FIXTURES = Path(__file__).parents[1] / "fixtures"

_KEYS = st.one_of(
    st.sampled_from(
        ["id", "doi", "url", "title", "pmids", "a.b", "", "x y", '"', "-", "*", "=", "é"]
    ),
    st.text(max_size=4),
)
_TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "10.1000/x",
            "https://doi.org/10.1000/x",
            "one; two, three | four",
            "two\nlines\n",
            "\n indented",
            "*1",
            "&1 x",
            "=x",
            "{}",
            "[]",
            "|",
            "true",
            "- x",
            'say "so"',
            "hidden \u202e text",
            "a long text, longer than most, which comes again",
        ]
    ),
    st.text(max_size=12),
)
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 99999), _TEXTS)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=30,
)


@given(result=st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_every_compact_text_can_be_parsed(result: dict[str, Any]) -> None:
    assert read_compact(compact_text(result)) == as_written(result)


@pytest.mark.parametrize(
    "case", sorted(FIXTURES.glob("*/*/expected*.json")), ids=lambda p: p.parent.name
)
def test_every_fixture_can_be_read_back(case: Path) -> None:
    expected = json.loads(case.read_text("utf-8"))
    if isinstance(expected, dict):
        assert read_compact(compact_text(expected)) == as_written(expected)
