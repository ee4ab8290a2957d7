"""Tests that spellings of an identifier become one canonical form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.records import Id, IdFault, parse_id

SICI = "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1"

READ = [
    ("10.1000/182", "doi", "10.1000/182"),
    ("doi:10.1000/182", "doi", "10.1000/182"),
    (" DOI: 10.1000/182 ", "doi", "10.1000/182"),
    ("info:doi/10.1000/182", "doi", "10.1000/182"),
    ("urn:doi:10.1000/182", "doi", "10.1000/182"),
    ("https://doi.org/10.1103/PhysRevD.61.084004", "doi", "10.1103/PhysRevD.61.084004"),
    ("http://dx.doi.org/10.1000/a%3Cb%3E", "doi", "10.1000/a<b>"),
    ("HTTPS://WWW.DOI.ORG/10.1000/182?x=1#y", "doi", "10.1000/182"),
    ("doi.org/10.1000/182", "doi", "10.1000/182"),
    ("10.1000.10/123/456", "doi", "10.1000.10/123/456"),
    (SICI, "doi", SICI),
    ("10.1000/colon:comma,(paren)", "doi", "10.1000/colon:comma,(paren)"),
    ("10.1000/a%20b", "doi", "10.1000/a%20b"),
    ("10.2001/日本語", "doi", "10.2001/日本語"),
    ("https://doi.org/10.1000/%ff", "doi", "10.1000/%ff"),
    ("2301.00001", "arxiv", "2301.00001"),
    (" 2301.00001v2 ", "arxiv", "2301.00001v2"),
    ("arXiv:0704.0001", "arxiv", "0704.0001"),
    ("ARXIV: 0704.0001V3", "arxiv", "0704.0001v3"),
    ("http://arxiv.org/abs/2301.00001v1", "arxiv", "2301.00001v1"),
    ("https://arxiv.org/pdf/2301.00001v1.pdf", "arxiv", "2301.00001v1"),
    ("https://www.arxiv.org/pdf/2301.00001?download=1#page=2", "arxiv", "2301.00001"),
    ("https://export.arxiv.org/e-print/hep-ex/0307015/", "arxiv", "hep-ex/0307015"),
    ("math.GT/0309136", "arxiv", "math/0309136"),
    ("Cond-Mat/0011267v1", "arxiv", "cond-mat/0011267v1"),
    ("10.48550/arXiv.2301.00001", "arxiv", "2301.00001"),
    ("doi:10.48550/ARXIV.2301.00001", "arxiv", "2301.00001"),
    ("https://doi.org/10.48550/arxiv.hep-ex/0307015", "arxiv", "hep-ex/0307015"),
    ("pmid:123", "pmid", "123"),
    ("PMID: 31452104", "pmid", "31452104"),
    ("31452104", "pmid", "31452104"),
    ("00123", "pmid", "123"),
    ("https://pubmed.ncbi.nlm.nih.gov/31452104/", "pmid", "31452104"),
    ("https://www.ncbi.nlm.nih.gov/pubmed/31452104", "pmid", "31452104"),
    ("PMC123", "pmcid", "PMC123"),
    ("pmcid: pmc7096803", "pmcid", "PMC7096803"),
    ("PMC13901.2", "pmcid", "PMC13901"),
    ("https://pmc.ncbi.nlm.nih.gov/articles/PMC7096803/", "pmcid", "PMC7096803"),
    ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7096803/?report=r", "pmcid", "PMC7096803"),
    ("https://openalex.org/W2741809807", "openalex", "W2741809807"),
    ("w7", "openalex", "W7"),
    ("0123456789ABCDEF0123456789abcdef01234567", "s2", "0123456789abcdef0123456789abcdef01234567"),
    (
        "https://www.semanticscholar.org/paper/On-Desks/0123456789abcdef0123456789abcdef01234567",
        "s2",
        "0123456789abcdef0123456789abcdef01234567",
    ),
]


@pytest.mark.parametrize(("text", "kind", "canonical"), READ)
def test_pasted_identifiers_become_canonical(text: str, kind: str, canonical: str) -> None:
    found = parse_id(text)
    assert (found.type, found.id) == (kind, canonical)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "0",
        "123456789",
        "-1",
        "10.1000",
        "10.1000/",
        "10.12/x",
        "11.1000/x",
        "10.1000/a b",
        "10.1000/a\x00b",
        "2313.00001",
        "2301.00001v0",
        "hep-ex/0313015",
        "PMC",
        "PMC0",
        "\uff12\uff13\uff10\uff11.00001",
        "\u0663",
        "https://example.org/10.1000/182",
        "https://www.ncbi.nlm.nih.gov/31452104",
        "doi:",
        "10.1000/" + "x" * 3000,
    ],
)
def test_invalid_identifiers_are_refused_with_the_expected_forms(text: str) -> None:
    with pytest.raises(IdFault, match="expected a DOI such as") as caught:
        parse_id(text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10.1103/PhysRevD.61.084004", "doi:10.1103/physrevd.61.084004"),
        (SICI, SICI.lower()),
        ("https://doi.org/10.1000/a%2Cb", "10.1000/a,b"),
        ("10.48550/arXiv.2301.00001", "arXiv:2301.00001"),
        ("math.GT/0309136", "math/0309136"),
        ("pmid:0123", "123"),
        ("pmc123.1", "PMC123"),
    ],
)
def test_two_spellings_of_one_identifier_are_equal(one: str, other: str) -> None:
    assert parse_id(one) == parse_id(other)
    assert hash(parse_id(one)) == hash(parse_id(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10.1000/a", "10.1000/b"),
        ("10.1000/a,b", "10.1000/a;b"),
        ("10.1000/a%2Cb", "10.1000/a,b"),  # outside a URL a percent sign is literal
        ("10.1000/É", "10.1000/é"),  # the DOI handbook folds only ASCII
        ("2301.00001", "2301.00001v1"),
        ("123", "PMC123"),
    ],
)
def test_different_identifiers_are_not_equal(one: str, other: str) -> None:
    assert parse_id(one) != parse_id(other)


def test_the_case_of_a_doi_is_kept_for_display() -> None:
    found = parse_id("https://doi.org/10.1103/PhysRevD.61.084004")
    assert str(found) == "10.1103/PhysRevD.61.084004"
    assert found.folded == "10.1103/physrevd.61.084004"


def test_versions_of_an_eprint_are_one_work() -> None:
    assert parse_id("2301.00001v1").work == parse_id("2301.00001v12").work
    assert parse_id("math.GT/0309136v2").work == ("arxiv", "math/0309136")


DOIS = st.builds(
    "10.{}/{}".format,
    st.integers(1000, 999_999_999),
    st.text(st.characters(min_codepoint=33, exclude_categories=["C", "Z"]), min_size=1),
)
ARXIV = st.from_regex(
    r"(([0-9]{2}(0[1-9]|1[0-2])\.[0-9]{4,5})|([a-z]{2,8}(-[a-z]{2,4})?/[0-9]{2}(0[1-9]|1[0-2])"
    r"[0-9]{3}))(v[1-9][0-9]?)?",
    fullmatch=True,
    alphabet=st.characters(codec="ascii"),
)
NUMBERS = st.integers(1, 99_999_999).map(str)
IDENTIFIERS = DOIS | ARXIV | NUMBERS | NUMBERS.map("PMC{}".format)


@pytest.mark.property
@given(IDENTIFIERS)
def test_printing_and_reading_are_inverse(text: str) -> None:
    found = parse_id(text)
    if not text.lower().startswith("10.48550/arxiv."):
        assert found.id == text
    assert parse_id(str(found)) == found
    assert parse_id(found.url) == found
    assert parse_id(f" {found.type}:{found} ") == found


@pytest.mark.property
@given(st.text())
def test_any_text_is_an_identifier_or_a_fault(text: str) -> None:
    try:
        found = parse_id(text)
    except IdFault:
        return
    assert isinstance(found, Id)
    assert parse_id(str(found)) == found
