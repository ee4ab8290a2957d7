"""The arguments of `web_search`, and the key of the cache."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import ArgumentError
from carrel.web.search import query as queries
from carrel.web.search.query import read_query
from carrel.web.search.schema import INPUT_SCHEMA, SAFE, TIME_RANGES

WORDS = st.text("abcdefgh äß", min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
#: Argument → values that it may have. Each argument of the schema needs a row.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "query": WORDS,
    "num_results": st.integers(1, 10),
    "time_range": st.sampled_from(TIME_RANGES),
    "safe": st.sampled_from(SAFE),
    "language": st.sampled_from(["de", "en", "fr"]),
    "site": st.sampled_from(["example.org", "desks.example.org", "möbel.example"]),
    "exact_terms": WORDS,
    "exclude_terms": WORDS,
    "country": st.sampled_from(["AT", "DE", "US"]),
    "lens": st.sampled_from(["academic", "legal"]),
    "provider": st.sampled_from(["brave", "exa"]),
    "claim": WORDS,
}
ARGUMENTS = st.fixed_dictionaries(
    {"query": VALUES["query"]},
    optional={name: one for name, one in VALUES.items() if name not in {"query", "lens"}},
)


def spelled(name: str, value: Any) -> Any:
    """Returns a value in the spelling that is compared."""
    return " ".join(value.split()) if isinstance(value, str) else value


def test_every_argument_of_the_schema_is_changed_by_these_tests() -> None:
    assert set(VALUES) == set(INPUT_SCHEMA["properties"])


@given(ARGUMENTS, st.sampled_from(sorted(VALUES)), st.data())
def test_changing_one_argument_changes_the_key(
    arguments: dict[str, Any], name: str, data: st.DataObject
) -> None:
    if name == "lens":
        arguments.pop("site", None)
    before = read_query(arguments)
    value = data.draw(VALUES[name])
    after = read_query({**arguments, name: value})
    default = {"num_results": 5, "safe": "medium"}.get(name)
    same = spelled(name, arguments.get(name, default)) == spelled(name, value)
    assert (after.key == before.key) == same


@given(ARGUMENTS)
def test_leaving_an_argument_out_changes_the_key(arguments: dict[str, Any]) -> None:
    whole = read_query(arguments)
    defaults = {"num_results": 5, "safe": "medium"}
    for name, value in arguments.items():
        if name == "query" or value == defaults.get(name):
            continue
        rest = {key: one for key, one in arguments.items() if key != name}
        assert read_query(rest).key != whole.key


@pytest.mark.requirement("web-researcher:search-key")
def test_an_argument_that_is_new_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {**INPUT_SCHEMA["properties"], "colour": {"type": "string"}}
    monkeypatch.setattr(queries, "INPUT_SCHEMA", {**INPUT_SCHEMA, "properties": members})
    queries._validator.cache_clear()
    try:
        keys = {read_query({"query": "x", "colour": one}).key for one in ("red", "blue")}
    finally:
        queries._validator.cache_clear()
    assert len(keys) == 2


def test_the_version_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_query({"query": "x"}).key
    monkeypatch.setattr(queries, "VERSION", queries.VERSION + 1)
    assert read_query({"query": "x"}).key != before


def test_spellings_of_one_search_have_one_key() -> None:
    one = {"query": "walled  desks\n", "country": "at", "language": "DE", "lens": "Academic"}
    other = {"query": "walled desks", "country": "AT", "language": "de", "lens": "academic"}
    assert read_query(one).key == read_query({**other, "num_results": 5, "safe": "medium"}).key
    sites = ("https://Example.org/", "example.org.", "*.example.org", "site:example.org")
    assert {read_query({"query": "x", "site": one}).get("site") for one in sites} == {"example.org"}


@pytest.mark.parametrize(
    ("asked", "count", "requested"),
    [(1, 1, None), (10, 10, None), (0, 1, 0), (-3, 1, -3), (50, 10, 50), (7.0, 7, None)],
)
@pytest.mark.requirement("web-researcher:search-count")
def test_a_number_outside_1_to_10_is_clamped_and_reported(
    asked: float, count: int, requested: int | None
) -> None:
    found = read_query({"query": "x", "num_results": asked})
    assert (found.count, found.requested) == (count, requested)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"query": ""}, "query"),
        ({"query": "x" * 501}, "500"),
        ({"query": "\u200b \u202e"}, "query"),
        ({"query": "x", "time_range": "decade"}, "time_range"),
        ({"query": "x", "language": "german"}, "language"),
        ({"query": "x", "country": "AUT"}, "country"),
        ({"query": "x", "site": "example.org/desks"}, "site"),
        ({"query": "x", "site": "localhost"}, "site"),
        ({"query": "x", "site": "example.org", "lens": "academic"}, "lens is a list of sites"),
        ({"query": "x", "num_results": "many"}, "num_results"),
    ],
)
@pytest.mark.requirement("web-researcher:search-lens-site")
@pytest.mark.requirement("web-researcher:search-query")
def test_wrong_arguments_are_named(arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(ArgumentError, match=word):
        read_query(arguments)


def test_hidden_characters_do_not_reach_a_provider() -> None:
    assert read_query({"query": "a\u200bb\U000e0041 \ud800c\x07"}).text == "ab ?c"
