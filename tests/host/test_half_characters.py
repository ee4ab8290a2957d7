"""Tests strings with lone surrogates, which Python makes from undecodable command arguments."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import carrel
from carrel.errors import ArgumentError


@pytest.fixture(scope="module")
def api() -> Iterator[carrel.Carrel]:
    with carrel.Carrel() as api:
        yield api


@pytest.mark.parametrize(
    ("tool", "arguments", "behind"),
    [
        ("arxiv_query", {"search_query": "all:desk\ud800"}, "all:desk"),
        ("crossref_work", {"doi": "10.1000/\udcff"}, "10.1000/"),
        ("pubmed_citation_match", {"citations": [{"journal": "J. Desk\udfff"}]}, "J. Desk"),
    ],
)
def test_an_argument_with_a_lone_surrogate_is_named_by_the_text_before_it(
    api: carrel.Carrel, tool: str, arguments: dict[str, object], behind: str
) -> None:
    with pytest.raises(ArgumentError, match=f"half of a character .* behind '.*{behind}'"):
        api.call(tool, arguments)


def test_a_format_that_is_no_text_is_an_error_of_the_caller(api: carrel.Carrel) -> None:
    with pytest.raises(ArgumentError, match="half of a character"):
        api.parse("arxiv", "feed\ud800", "<feed/>")


def test_an_identifier_that_is_no_text_is_one_items_fault(api: carrel.Carrel) -> None:
    ids = ["10.1000/\udcff", "neither"]
    one, other = api.lookup(ids).items
    assert (one.outcome, one.given) == ("failed", "10.1000/\udcff")
    assert one.problem is not None
    assert one.problem.code == "invalid_arguments"
    assert other.given == "neither"
    items = api.call("work_lookup", {"ids": ids}).data["items"]
    assert [item["given"] for item in items] == ["10.1000/?", "neither"]
    assert [item["error"]["code"] for item in items] == ["invalid_arguments"] * 2
