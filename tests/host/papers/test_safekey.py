"""Names of entries: the document's, but for references whose names would collide."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.store.safekey import document_safekey, is_safekey, safekey
from carrel.records import Id, IdFault, parse_id

#: Published vectors whose names belong to one reference only.
KEPT = {
    "doi:10.1234/example": "doi_10.1234_example",
    "doi:10.1103/PhysRevLett.130.200601": "doi_10.1103_PhysRevLett.130.200601",
    "doi:10.1016/S0370-1573(98)00122-3": "doi_10.1016_S0370-1573_98_00122-3",
    "arxiv:2401.12345": "arxiv_2401.12345",
    "arxiv:2401.12345v2": "arxiv_2401.12345v2",
    "arxiv:cond-mat/9501001": "arxiv_cond-mat_9501001",
}

#: Published vectors whose names another reference has too; with the name by the document.
COLLIDING = {
    "10.1234/foo bar": "doi_10.1234_foo_bar",
    "10.1234/foo  bar": "doi_10.1234_foo_bar",
    "10.1234/_leading": "doi_10.1234_leading",
    "10.1234/trailing_": "doi_10.1234_trailing",
    "10.2001/\u6a5f\u68b0\u5b66": "doi_10.2001",
}


@pytest.mark.parametrize(("reference", "name"), KEPT.items(), ids=str)
def test_a_published_vector_keeps_its_name(reference: str, name: str) -> None:
    identifier = parse_id(reference)
    assert safekey(identifier) == document_safekey(identifier) == name


@pytest.mark.parametrize(("doi", "name"), COLLIDING.items(), ids=str)
def test_a_vector_that_collides_gets_a_hash_behind_its_name(doi: str, name: str) -> None:
    identifier = Id("doi", doi)
    assert document_safekey(identifier) == name
    assert re.fullmatch(f"{re.escape(name)}_[0-9a-f]{{16}}", safekey(identifier))


def test_the_vectors_that_collide_have_different_names() -> None:
    references = [Id("doi", doi) for doi in COLLIDING]
    references += [Id("doi", f"10.1234/{word}") for word in ("foo_bar", "leading", "trailing")]
    references += [
        parse_id(f"10.1016/S0370-1573{year}00122-3") for year in ("_98_", "(98)", "/98/")
    ]
    names = [safekey(one) for one in references]
    assert len(set(names)) == len(names)


def test_a_name_that_looks_hashed_gets_a_hash_of_its_own() -> None:
    other = safekey(parse_id("10.1234/foo(bar)"))
    copied = parse_id(f"10.1234/{other.removeprefix('doi_10.1234_')}")
    assert document_safekey(copied) == other
    assert safekey(copied) != other


def test_a_long_reference_has_the_document_s_hash() -> None:
    identifier = parse_id("10.1234/" + "a" * 220)
    name = safekey(identifier)
    assert name == document_safekey(identifier)
    assert re.fullmatch("doi_10.1234_a{180}_[0-9a-f]{8}", name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a..b", "-a", "a\0", "a" * 252, "é", "a b", ".toml"]
)
def test_what_is_no_name_of_an_entry_is_refused(name: str) -> None:
    assert not is_safekey(name)


_suffixes = st.text(
    st.sampled_from("aB0._-/():;<>#%é\u6a5f~+,"), min_size=1, max_size=12
) | st.from_regex(r"[SB]\d{4}-\d{3}[\dX][_(/]\d{2}[_)/]\d{5}-[\dX]", fullmatch=True)


@pytest.mark.property
@given(st.lists(_suffixes, min_size=2, max_size=30))
def test_different_references_have_different_safe_names(suffixes: list[str]) -> None:
    found: dict[str, Id] = {}
    for suffix in suffixes:
        try:
            identifier = parse_id(f"10.1234/{suffix}")
        except IdFault:
            continue
        name = safekey(identifier)
        assert is_safekey(name)
        assert found.setdefault(name, identifier) == identifier, name


def test_short_suffixes_have_different_names_all_of_them() -> None:
    letters = "a_(/."
    found: dict[str, str] = {}
    for length in range(1, 6):
        for letter in itertools.product(letters, repeat=length):
            doi = f"10.1234/{''.join(letter)}"
            assert found.setdefault(safekey(Id("doi", doi)), doi) == doi
