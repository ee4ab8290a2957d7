"""The query language: what a query means, and where one that means nothing is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.library.errors import LibraryError
from carrel.library.search.query import MAX_LENGTH, Term, parse_query, unknown_fields


@pytest.mark.requirement("reference-manager:query:terms")
@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("", []),
        (" \t\n ", []),
        ("desks", [Term("desks")]),
        ("desks  chairs", [Term("desks"), Term("chairs")]),
        ('"oak desks"', [Term("oak desks")]),
        ('title:"oak desks" x', [Term("oak desks", "title"), Term("x")]),
        ("author:smith year:2020", [Term("smith", "author"), Term("2020", "year")]),
        ("DOI:10.1/x", [Term("10.1/x", "doi")]),
        ("url:https://a.example/?a=b:c", [Term("https://a.example/?a=b:c", "url")]),
        ("https://a.example", [Term("https://a.example")]),
        ("nobody:smith", [Term("nobody:smith")]),
        ('oak"desks"', [Term("oak"), Term("desks")]),
        ('"" x', [Term("x")]),
    ],
)
def test_a_query_is_a_list_of_terms(query: str, terms: list[Term]) -> None:
    assert list(parse_query(query)) == terms


@pytest.mark.parametrize(
    ("query", "offset"),
    [
        ('oak "desks', 4),
        ('title:"oak', 6),
        ("oak title:", 4),
        ("title: oak", 0),
        ('year:""', 0),
        ("x" * (MAX_LENGTH + 1), MAX_LENGTH),
        ("x " * 100, 128),
    ],
)
def test_a_malformed_query_says_where(query: str, offset: int) -> None:
    with pytest.raises(LibraryError) as caught:
        parse_query(query)
    assert caught.value.library_code == "INVALID"
    assert caught.value.position == {"offset": offset}
    assert f"character {offset + 1}" in caught.value.message


def test_words_before_a_colon_that_are_no_fields_are_named() -> None:
    query = 'titel:holm Author:x tags:"a b" https://a.example doi:10.1/x arXiv:2301.00001 a:b'
    assert unknown_fields(query) == ["titel:", "tags:"]


@pytest.mark.property
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(' ":titledo')), max_size=40))
def test_any_text_is_terms_or_a_typed_error(query: str) -> None:
    try:
        terms = parse_query(query)
    except LibraryError as error:
        assert error.position is not None
        assert 0 <= error.position["offset"] <= len(query)
    else:
        assert all(term.text.strip() and '"' not in term.text for term in terms)
