"""The cache key has everything that changes what is kept of a page."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.web.reading import PageKey
from carrel.web.schema import INPUT_SCHEMA

#: Argument → another value, and the field of the key that it changes; None for an argument that
#: only selects a part of what is kept.
ARGUMENTS = {
    "url": "url",
    "mode": "raw",
    "format": "plain",
    "max_length": None,
    "section": None,
    "from": None,
}


def test_every_argument_is_in_the_key_or_only_selects_a_part() -> None:
    assert set(ARGUMENTS) == set(INPUT_SCHEMA["properties"])
    named = {name for name in ARGUMENTS.values() if name is not None}
    assert named | {"version"} == set(PageKey._fields)


@pytest.mark.parametrize("changed", [{"version": 2}, {"url": "y"}, {"raw": True}, {"plain": True}])
def test_each_field_makes_another_key(changed: dict[str, Any]) -> None:
    key = PageKey(1, "x", raw=False, plain=False)
    assert key._replace(**changed) != key
