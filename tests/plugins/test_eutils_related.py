"""Tests `pubmed_related` with the built-in component, the real fetch layer and a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from carrel import __version__
from carrel.errors import CarrelError
from carrel.tools import Result
from support.pubmed import BASE, articles, links, summaries
from support.toolboxes import parameters
from support.upstream import Reply, Upstream

Call = Callable[..., Result]


@pytest.mark.parametrize(
    ("relationship", "name"),
    [
        ("pubmed_similar_articles", "pubmed_pubmed"),
        ("pubmed_citedin", "pubmed_pubmed_citedin"),
        ("pubmed_references", "pubmed_pubmed_refs"),
    ],
)
def test_links_have_titles_and_scores_and_omit_the_source(
    pubmed: Call, upstream: Upstream, relationship: str, name: str
) -> None:
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=links(name, "100", "7", "8", "9")))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7", "8")))
    data = pubmed(
        "related", source_pmid="100", relationship_type=relationship, max_related_results=2
    ).data
    assert parameters(upstream.seen[0]) == {
        "dbfrom": "pubmed",
        "db": "pubmed",
        "cmd": "neighbor",
        "linkname": name,
        "id": "100",
        "tool": f"carrel/{__version__}",
    }
    assert [one["pmid"] for one in data["related_articles"]] == ["7", "8"]
    assert data["related_articles"][0] == {
        "pmid": "7",
        "title": "Oak 7",
        "authors": "Reader AM",
        "source": "Ann Desks",
        "pub_date": "2024-03-15",
        "doi": "10.5555/oak.7",
        "score": 899,
        "link_url": "https://pubmed.ncbi.nlm.nih.gov/7/",
    }
    assert (data["retrieved_count"], data["total_found"]) == (2, 3)


def test_links_without_titles_are_better_than_none(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", "7")))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(404))
    data = pubmed("related", source_pmid="100").data
    assert [one["pmid"] for one in data["related_articles"]] == ["7"]
    assert data["notices"]


def test_spelling_scores_use_their_own_command(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", "7")))
    pubmed("related", source_pmid="100", include_scores=True, include_summaries=False)
    [seen] = upstream.seen
    assert parameters(seen)["cmd"] == "neighbor_score"


def test_an_uncited_article_has_no_citing_articles(pubmed: Call, upstream: Upstream) -> None:
    body = b"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>100</Id></IdList></LinkSet></eLinkResult>"  # noqa: E501
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=body))
    data = pubmed("related", source_pmid="100", relationship_type="pubmed_citedin").data
    assert (data["related_articles"], data["total_found"]) == ([], 0)


def test_citations_in_every_style(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    data = pubmed(
        "related",
        source_pmid="1",
        relationship_type="citation_formats",
        citation_styles=["ris", "bibtex", "apa_string", "mla_string"],
    ).data
    citations = data["citations"]
    assert citations["apa_string"] == (
        "Reader, A. M., & Shelf, J.-P. (2024). Oak & 5% attention. Annals of Desks, 12(3), "
        "737\u2013738. https://doi.org/10.5555/oak.1"
    )
    assert citations["mla_string"] == (
        "Reader, Ada Mae, and Jean-Paul Shelf. “Oak & 5% attention.” Annals of Desks, vol. 12, "
        "no. 3, 15 Mar. 2024, pp. 737-38, https://doi.org/10.5555/oak.1."
    )
    assert citations["ris"].splitlines() == [
        "TY  - JOUR", "AU  - Reader, Ada Mae", "AU  - Shelf, Jean-Paul",
        "TI  - Oak & 5% attention", "T2  - Annals of Desks", "JO  - Ann Desks", "VL  - 12",
        "IS  - 3", "SN  - 2049-3630", "PY  - 2024", "DA  - 2024/03/15", "SP  - 737",
        "EP  - 738", "DO  - 10.5555/oak.1", "AN  - 1", "C2  - PMC1",
        "UR  - https://pubmed.ncbi.nlm.nih.gov/1/", "LA  - eng", "AB  - Readers looked up.",
        "ER  - ",
    ]  # fmt: skip
    assert citations["bibtex"].startswith("@article{pmid1,\n")
    for line in (
        "  author = {Reader, Ada Mae and Shelf, Jean-Paul}",
        r"  title = {{Oak \& 5\% attention}}",
        "  month = mar",
        "  pages = {737--738}",
        "  doi = {10.5555/oak.1}",
    ):
        assert line in citations["bibtex"]


@pytest.mark.requirement("result:typed:retractions")
def test_the_citation_of_a_retracted_article_says_so_in_every_style(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1", retracted=("1",))))
    data = pubmed(
        "related",
        source_pmid="1",
        relationship_type="citation_formats",
        citation_styles=["ris", "bibtex", "apa_string", "mla_string"],
    ).data
    citations = data["citations"]
    assert citations["apa_string"] == (
        "Reader, A. M., & Shelf, J.-P. (2024). Oak & 5% attention [Retracted]. Annals of Desks, "
        "12(3), 737\u2013738. https://doi.org/10.5555/oak.1 (Retraction published 2025, Ann Desks, "
        "13[1], p. 2, https://doi.org/10.5555/notice)"
    )
    assert citations["mla_string"] == (
        "Reader, Ada Mae, and Jean-Paul Shelf. “Oak & 5% attention [Retracted].” Annals of Desks, "
        "vol. 12, no. 3, 15 Mar. 2024, pp. 737-38, https://doi.org/10.5555/oak.1. Retraction "
        "published in Ann Desks, vol. 13, no. 1, 2025, p. 2, https://doi.org/10.5555/notice."
    )
    note = "Retraction in: Ann Desks. 2025 Jan;13(1):2. doi: 10.5555/notice. PMID: 99"
    ris = citations["ris"].splitlines()
    assert "TI  - Oak & 5% attention [Retracted]" in ris
    assert f"N1  - {note}" in ris
    assert r"  title = {{Oak \& 5\% attention [Retracted]}}" in citations["bibtex"]
    assert f"  note = {{{note}}}" in citations["bibtex"]
    assert data["is_retracted"] is True
    assert data["updated_by"] == [{"type": "retraction", "pmid": "99", "doi": "10.5555/notice"}]


@pytest.mark.requirement("result:typed:retractions")
def test_a_retracted_article_among_related_ones_is_flagged(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", "7", "8")))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7", "8", retracted=("8",))))
    sound, retracted = pubmed("related", source_pmid="100").data["related_articles"]
    assert "is_retracted" not in sound
    assert retracted["is_retracted"] is True
    assert retracted["updated_by"] == [{"type": "retraction", "pmid": "99"}]


def test_the_citation_of_an_unknown_article_is_not_found(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles()))
    with pytest.raises(CarrelError) as caught:
        pubmed("related", source_pmid="1", relationship_type="citation_formats")
    assert caught.value.error_code == "not_found"


@pytest.mark.requirement("result:typed:no-false-empty")
def test_failed_links_of_ncbi_are_fetched_again_then_an_error(
    pubmed: Call, upstream: Upstream
) -> None:
    words = "Couldn't resolve #linkSrv, the address table is empty."
    body = links("pubmed_pubmed").replace(
        b"</LinkSetDb>", f"<ERROR>{words}</ERROR></LinkSetDb>".encode()
    )
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=body), Reply(body=links("pubmed_pubmed", "7")))
    data = pubmed("related", source_pmid="100", include_summaries=False).data
    assert [one["pmid"] for one in data["related_articles"]] == ["7"]
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=body))
    with pytest.raises(CarrelError, match="address table") as caught:
        pubmed("related", source_pmid="101", include_summaries=False)
    assert caught.value.error_code == "upstream_error"
