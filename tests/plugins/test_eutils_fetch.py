"""Tests `pubmed_fetch` with the built-in component, the real fetch layer and a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel import __version__
from carrel.config import Config
from carrel.errors import CarrelError
from carrel.tools import Result
from support.pubmed import ARTICLE, BASE, PROLOG, articles
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Upstream

Call = Callable[..., Result]


def test_an_article_has_its_abstract_and_the_requested_details(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    data = pubmed("fetch", pmids=["1", "2", "1"], include_grant_info=True).data
    [article] = data["articles"]
    assert article["abstract_text"] == "Readers looked up."
    assert article["authors"][0]["affiliations"] == ["Library."]
    assert article["journal_info"]["publication_date"] == {
        "year": 2024,
        "month": "Mar",
        "day": 15,
    }
    assert article["mesh_terms"][0]["ui"] == "D006801"
    assert article["grant_list"] == [{"grant_id": "G1", "agency": "Fund"}]
    assert (article["doi"], article["pmcid"]) == ("10.5555/oak.1", "PMC1")
    assert "references" not in article
    assert data["requested_pmids"] == ["1", "2", "1"]
    assert data["not_found_pmids"] == ["2"]
    assert data["e_fetch_details"]["request_method"] == "GET"
    assert parameters(upstream.seen[0]) == {
        "db": "pubmed",
        "retmode": "xml",
        "id": "1,2",
        "tool": f"carrel/{__version__}",
    }


@pytest.mark.requirement("result:typed:retractions")
@pytest.mark.parametrize("level", ["abstract_plus", "citation_data"])
def test_a_retracted_article_is_flagged_at_every_level(
    pubmed: Call, upstream: Upstream, level: str
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1", "2", retracted=("2",))))
    sound, retracted = pubmed("fetch", pmids=["1", "2"], detail_level=level).data["articles"]
    assert "is_retracted" not in sound
    assert retracted["is_retracted"] is True
    assert retracted["comments_corrections"][0]["pmid"] == "99"


def test_disabled_resources_are_left_out(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    [article] = pubmed("fetch", pmids=["1"], include_mesh_terms=False).data["articles"]
    assert "mesh_terms" not in article
    assert "grant_list" not in article


def test_citation_data_has_the_fields_of_a_citation(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    [article] = pubmed("fetch", pmids=["1"], detail_level="citation_data").data["articles"]
    assert "abstract_text" not in article
    assert article["authors"][0] == {
        "last_name": "Reader",
        "first_name": "Ada Mae",
        "initials": "AM",
    }
    assert article["mesh_terms"]


@pytest.mark.parametrize("pmid", [1, "1", " 1 ", "PMID:1", "pmid: 1"])
def test_a_pmid_is_understood_as_people_write_it(
    pubmed: Call, upstream: Upstream, pmid: object
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    data = pubmed("fetch", pmids=[pmid]).data
    assert parameters(upstream.seen[0])["id"] == "1"
    assert (data["requested_pmids"], data["not_found_pmids"]) == (["1"], [])


def test_too_many_pmids_are_refused_with_the_limit(pubmed: Call) -> None:
    with pytest.raises(CarrelError, match="pmids: at most 200 pmids, 201 given"):
        pubmed("fetch", pmids=["1"] * 201)


def test_full_xml_is_the_unchanged_record(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1", "2")))
    data = pubmed("fetch", pmids=["1", "2"], detail_level="full_xml").data
    first, second = data["documents"]
    assert first == {
        "pmid": "1",
        "media_type": "application/xml",
        "text": ARTICLE.format(pmid="1"),
    }
    assert second["text"].startswith("<PubmedArticle>")
    assert "articles" not in data


def test_medline_text_is_cut_into_records(pubmed: Call, upstream: Upstream) -> None:
    body = b"\nPMID- 1\nTI  - Oak and\n      attention.\n\nPMID- 2\nTI  - Shelves.\n"
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=body))
    data = pubmed("fetch", pmids=["1", "2", "3"], detail_level="medline_text").data
    assert data["documents"][0]["text"] == "PMID- 1\nTI  - Oak and\n      attention."
    assert data["not_found_pmids"] == ["3"]
    sent = parameters(upstream.seen[0])
    assert (sent["retmode"], sent["rettype"]) == ("text", "medline")


def test_many_pmids_go_into_the_body_of_a_post(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("30000001")))
    pmids = [str(30_000_001 + number) for number in range(200)]
    data = pubmed("fetch", pmids=pmids).data
    [seen] = upstream.seen
    assert (seen.method, seen.headers["content-type"]) == (
        "POST",
        "application/x-www-form-urlencoded",
    )
    assert parameters(seen)["id"].split(",") == pmids
    assert data["e_fetch_details"]["request_method"] == "POST"
    assert len(data["not_found_pmids"]) == 199


@pytest.mark.parametrize(
    "arguments",
    [
        {"pmids": []},
        {"pmids": ["PMC1"]},
        {"pmids": [str(number) for number in range(1, 202)]},
        {"pmids": ["1"], "detail_level": "all"},
    ],
)
def test_invalid_arguments_make_no_request(
    pubmed: Call, upstream: Upstream, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CarrelError) as caught:
        pubmed("fetch", **arguments)
    assert caught.value.error_code == "invalid_arguments"
    assert upstream.seen == []


@pytest.mark.requirement("result:typed:no-false-empty")
def test_a_body_that_ends_after_the_prolog_is_fetched_again(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=PROLOG), Reply(body=articles("1")))
    assert len(pubmed("fetch", pmids=["1"]).data["articles"]) == 1
    assert len(upstream.seen) == 2


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(500), id="500"),
        pytest.param(Reply(502, body=b"<html>Bad Gateway</html>"), id="502"),
        pytest.param(Reply(429), id="429"),
        pytest.param(
            Reply(body=b"<eFetchResult><ERROR>Search Backend failed</ERROR></eFetchResult>"),
            id="backend",
        ),
    ],
)
def test_temporary_failures_of_ncbi_are_retried(
    pubmed: Call, upstream: Upstream, reply: Reply
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", reply, Reply(body=articles("1")))
    assert len(pubmed("fetch", pmids=["1"]).data["articles"]) == 1
    assert len(upstream.seen) == 2


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(Reply(body=PROLOG), "upstream_invalid", id="prolog"),
        pytest.param(Reply(body=b""), "upstream_invalid", id="empty"),
        pytest.param(Reply(body=b"<html>busy</html>"), "upstream_invalid", id="html"),
        pytest.param(Reply(body=articles("1")[:600]), "upstream_invalid", id="truncated"),
        pytest.param(
            Reply(body=b"<eFetchResult><ERROR>ID list is empty!</ERROR></eFetchResult>"),
            "upstream_error",
            id="report",
        ),
        pytest.param(
            Reply(400, body=b'{"error":"API key invalid","api-key":"x"}'),
            "upstream_error",
            id="bad-key",
        ),
        pytest.param(
            Reply(body=b'{"error":"API rate limit exceeded"}'), "rate_limited", id="gateway"
        ),
        pytest.param(Reply(500), "upstream_unavailable", id="500"),
        pytest.param(Reply(429, [("Retry-After", "900")]), "rate_limited", id="429"),
        pytest.param(Reply(302, [("Location", "https://evil.example/")]), "denied", id="302"),
    ],
)
def test_an_upstream_that_fails_is_a_typed_error_and_never_no_articles(
    pubmed: Call, upstream: Upstream, reply: Reply, code: str
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", reply)
    with pytest.raises(CarrelError) as caught:
        pubmed("fetch", pmids=["1"])
    assert caught.value.error_code == code


@pytest.mark.requirement("replay:exact:pubmed")
def test_a_replayed_call_returns_the_same_bytes(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
    pmids = [str(number) for number in range(1, 150)]
    folder = tmp_path / "recording"
    recorded = make_toolbox("eutils", record_dir=folder).call_sync("pubmed_fetch", {"pmids": pmids})
    seen = len(upstream.seen)
    replaying = make_toolbox("eutils", replay_dir=folder)
    assert replaying.call_sync("pubmed_fetch", {"pmids": pmids}).text == recorded.text
    assert len(upstream.seen) == seen
