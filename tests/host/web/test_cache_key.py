"""The cache key has everything that changes what is kept of a page."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.web.reading import PageKey
from carrel.web.schema import INPUT_SCHEMA
from support.upstream import Reply, Seen, Upstream

from .conftest import OpenWeb
from .test_read import PAGE, URL, page

#: Argument → another value, and the field of the key that it changes; None for an argument that
#: only selects a part of what is kept.
ARGUMENTS = {
    "url": "url",
    "mode": "raw",
    "format": "plain",
    "max_length": None,
    "section": None,
    "from": None,
    "links": None,
}


def test_every_argument_is_in_the_key_or_only_selects_a_part() -> None:
    assert set(ARGUMENTS) == set(INPUT_SCHEMA["properties"])
    named = {name for name in ARGUMENTS.values() if name is not None}
    assert named | {"version"} == set(PageKey._fields)


@pytest.mark.parametrize("changed", [{"version": 2}, {"url": "y"}, {"raw": True}, {"plain": True}])
def test_each_field_makes_another_key(changed: dict[str, Any]) -> None:
    key = PageKey(1, "x", raw=False, plain=False)
    assert key._replace(**changed) != key


#: Values of each argument besides its default.
OTHERS: dict[str, list[Any]] = {
    "url": ["https://example.org/lamps"],
    "mode": ["preview", "raw"],
    "format": ["text"],
    "max_length": [300, 2000],
    "section": ["Walls", "Lamps"],
    "from": [0, 500],
    "links": [True],
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.requirement("web-researcher:cache-length")
def test_a_kept_page_never_answers_for_another_argument(
    open_web: OpenWeb, upstream: Upstream, name: str
) -> None:
    """What is answered from the cache is what is answered without it, one argument at a time."""

    def answer(seen: Seen) -> Reply:
        body = PAGE.replace(b"On walled desks", seen.path.encode())
        return Reply(404) if seen.path == "/robots.txt" else page(body)

    upstream.on("*", answer)
    warm = open_web()
    warm.read(URL)
    for value in OTHERS[name]:
        arguments = {"url": URL, name: value}
        cached, fresh = warm.read(**arguments), open_web().read(**arguments)
        for one in (cached, fresh):
            del one["cached"], one["age_seconds"]
        assert cached == fresh
        warm.read(URL)


def test_every_argument_is_tried_with_another_value() -> None:
    assert set(OTHERS) == set(INPUT_SCHEMA["properties"])
