"""References in every form in which people and pages write them; nothing else is one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.records import parse_id

SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"
ENCODED = "10.1002/(SICI)1097-0258(19980815/30)17:15/16%3C1661::AID-SIM968%3E3.0.CO;2-2"

FORMS: dict[str, tuple[str, ...]] = {
    "doi 10.1000/182": (
        "10.1000/182",
        " doi:10.1000/182 ",
        "DOI: 10.1000/182",
        "DOI 10.1000/182",
        "https://doi.org/10.1000/182",
        "http://dx.doi.org/10.1000/182",
        "doi.org/10.1000/182",
        "www.doi.org/10.1000/182",
        "https://doi.org/10.1000%2F182",
        "10.1000%2F182",
        "doi:10.1000%2f182",
        "<https://doi.org/10.1000/182>",
        '"10.1000/182"',
        "[doi:10.1000/182]",
        "info:doi/10.1000/182",
        "https://doi.org/10.1000/182?nosfx=y",
    ),
    f"doi {SICI}": (
        SICI,
        f"doi:{SICI}",
        f"https://doi.org/{ENCODED}",
        f"dx.doi.org/{ENCODED}",
        ENCODED,
        f"https://doi.org/{ENCODED.replace('/', '%2F')}",
    ),
    "arxiv 2401.12345": (
        "2401.12345",
        "arXiv:2401.12345",
        "arXiv 2401.12345",
        "arxiv: 2401.12345",
        "https://arxiv.org/abs/2401.12345",
        "arxiv.org/abs/2401.12345",
        "http://export.arxiv.org/abs/2401.12345",
        "https://www.arxiv.org/pdf/2401.12345.pdf",
        "https://arxiv.org/html/2401.12345",
        "https://ar5iv.labs.arxiv.org/html/2401.12345",
        "https://doi.org/10.48550/arXiv.2401.12345",
        "10.48550/arXiv.2401.12345",
    ),
    "arxiv 2401.12345v2": (
        "2401.12345v2",
        "arXiv:2401.12345V2",
        "https://arxiv.org/pdf/2401.12345v2",
        "https://arxiv.org/pdf/2401.12345v2.pdf",
    ),
    "arxiv hep-th/9901001": (
        "hep-th/9901001",
        "arXiv:hep-th/9901001",
        "https://arxiv.org/abs/hep-th/9901001",
        "http://xxx.lanl.gov/abs/hep-th/9901001",
        "https://arxiv.org/ps/hep-th/9901001",
    ),
    "arxiv math/0309136v1": ("math.GT/0309136v1", "https://arxiv.org/abs/math.GT/0309136v1"),
    "pmid 31452104": (
        "31452104",
        "PMID:31452104",
        "PMID 31452104",
        "pmid: 31452104",
        "PubMed ID: 31452104",
        "https://pubmed.ncbi.nlm.nih.gov/31452104/",
        "pubmed.ncbi.nlm.nih.gov/31452104",
        "https://pubmed.ncbi.nlm.nih.gov/31452104/?from_term=x",
        "https://www.ncbi.nlm.nih.gov/pubmed/31452104",
        "https://www.ncbi.nlm.nih.gov/m/pubmed/31452104/",
        "https://europepmc.org/article/MED/31452104",
        "https://europepmc.org/abstract/med/31452104",
    ),
    "pmcid PMC7096803": (
        "PMC7096803",
        "pmc7096803",
        "PMCID: PMC7096803",
        "PMCID PMC7096803",
        "PMC7096803.1",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC7096803/",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7096803/",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC7096803/pdf/main.pdf",
        "https://europepmc.org/article/PMC/PMC7096803",
        "https://europepmc.org/articles/PMC7096803",
        "europepmc.org/article/PMC/7096803",
    ),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [(text, expected) for expected, texts in FORMS.items() for text in texts],
)
def test_a_reference_is_read_in_every_form(text: str, expected: str) -> None:
    found = parse_reference(text)
    assert f"{found.type} {found.id}" == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "desks",
        "10.1000",
        "10.1000/",
        "10.10/182",
        "see 10.1000/182",
        "10.1000/182 and 10.1000/183",
        "https://example.org/10.1000/182",
        "https://doi.org.evil.example/10.1000/182",
        "https://evil-arxiv.org/abs/2401.12345",
        "https://arxiv.org/abs/2413.12345",
        "https://pubmed.ncbi.nlm.nih.gov/",
        "PMC",
        "0",
        "file:///etc/passwd",
        "../../etc/passwd",
        "10.1000/a\nb",
        "10.1000/a\0b",
        "10.1000%2F%0a",
        "\ud800",
        "x" * 3000,
        None,
        182,
        ["10.1000/182"],
    ],
    ids=repr,
)
def test_what_is_no_reference_is_refused(text: object) -> None:
    with pytest.raises(PaperError) as caught:
        parse_reference(text)
    assert caught.value.paper_code == "INVALID_REF"
    assert caught.value.message


@given(st.text(max_size=60) | st.text(st.sampled_from("10.2/arxiv:orgpmc%Fdhts?#<>v"), max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    try:
        found = parse_reference(text)
    except PaperError as error:
        assert error.paper_code == "INVALID_REF"
    else:
        assert parse_id(found.id) == found
