"""Tests `pubmed_search` with the built-in component, the real fetch layer and a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from carrel import __version__
from carrel.config import Config
from carrel.errors import CarrelError
from carrel.tools import Result
from support.pubmed import BASE, found, summaries
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Upstream

Call = Callable[..., Result]


def test_every_argument_of_the_document_reaches_ncbi(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2", "3", count=250)))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("2", "1")))
    data = pubmed(
        "search",
        query_term="oak desk OR chair",
        max_results=3,
        sort_by="pub_date",
        date_range={"min_date": "2020", "max_date": "2024-05-06", "date_type": "edat"},
        filter_by_publication_types=["Review", "Clinical Trial"],
        fetch_brief_summaries=2,
    ).data
    search, summary = upstream.seen
    term = (
        '(oak desk OR chair) AND ("Review"[Publication Type] OR "Clinical Trial"[Publication Type])'
    )
    assert parameters(search) == {
        "db": "pubmed",
        "term": term,
        "retmode": "xml",
        "retmax": "3",
        "retstart": "0",
        "sort": "pub_date",
        "datetype": "edat",
        "mindate": "2020",
        "maxdate": "2024/05/06",
        "usehistory": "y",
        "tool": f"carrel/{__version__}",
    }
    sent = parameters(summary)
    assert (sent["version"], sent["WebEnv"], sent["query_key"]) == ("2.0", "MCID_1", "1")
    assert (sent["retstart"], sent["retmax"]) == ("0", "2")
    assert data["effective_e_search_term"] == term
    assert (data["total_found"], data["retrieved_pmid_count"]) == (250, 3)
    assert data["pmids"] == ["1", "2", "3"]
    assert [one["pmid"] for one in data["brief_summaries"]] == ["1", "2"]
    assert data["brief_summaries"][0] == {
        "pmid": "1",
        "title": "Oak 1",
        "authors": "Reader AM",
        "source": "Ann Desks",
        "pub_date": "2024-03-15",
        "doi": "10.5555/oak.1",
    }
    assert data["next_offset"] == 3
    assert data["search_parameters"]["query_term"] == "oak desk OR chair"
    assert data["e_search_url"].startswith(f"https://eutils.ncbi.nlm.nih.gov{BASE}/esearch")
    assert data["e_summary_url"].startswith(f"https://eutils.ncbi.nlm.nih.gov{BASE}/esummary")


@pytest.mark.requirement("result:typed:retractions")
def test_a_retracted_article_among_summaries_is_flagged(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2")))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("1", "2", retracted=("2",))))
    data = pubmed("search", query_term="oak", fetch_brief_summaries=2).data
    sound, retracted = data["brief_summaries"]
    assert "is_retracted" not in sound
    assert retracted["is_retracted"] is True
    assert retracted["updated_by"] == [{"type": "retraction", "pmid": "99"}]


def test_a_summary_missing_from_the_history_is_fetched_by_id(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2")))
    upstream.on(
        f"{BASE}/esummary.fcgi",
        Reply(body=b"<eSummaryResult><ERROR>Unable to obtain query #1</ERROR></eSummaryResult>"),
        Reply(body=summaries("1", "2")),
    )
    data = pubmed("search", query_term="oak", fetch_brief_summaries=2).data
    assert [one["pmid"] for one in data["brief_summaries"]] == ["1", "2"]
    assert parameters(upstream.seen[-1])["id"] == "1,2"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(503), id="unavailable"),
        pytest.param(Reply(404), id="gone"),
        pytest.param(Reply(429, [("Retry-After", "900")]), id="rate-limited"),
        pytest.param(Reply(body=b"<html>busy</html>"), id="html"),
        pytest.param(Reply(302, [("Location", "https://evil.example/")]), id="redirect"),
        pytest.param(
            Reply(body=b"<eSummaryResult><ERROR>Invalid uid</ERROR></eSummaryResult>"), id="error"
        ),
    ],
)
def test_summaries_that_fail_leave_the_pmids_and_a_notice(
    pubmed: Call, upstream: Upstream, reply: Reply
) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2", count=250)))
    upstream.on(f"{BASE}/esummary.fcgi", reply)
    data = pubmed("search", query_term="oak", max_results=2, fetch_brief_summaries=2).data
    assert (data["pmids"], data["total_found"]) == (["1", "2"], 250)
    assert data["brief_summaries"] == []
    assert any(notice.startswith("no summaries of 2 articles") for notice in data["notices"])


def test_pages_continue_by_offset_and_by_history(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("9", count=41)))
    data = pubmed("search", query_term="oak", offset=40, web_env="MCID_1", query_key="1").data
    sent = parameters(upstream.seen[0])
    assert (sent["retstart"], sent["WebEnv"], sent["query_key"]) == ("40", "MCID_1", "1")
    assert "next_offset" not in data


def test_an_open_end_of_a_range_is_closed_far_away(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
    pubmed("search", query_term="oak", date_range={"min_date": "2024/05"})
    sent = parameters(upstream.seen[0])
    assert (sent["mindate"], sent["maxdate"], sent["datetype"]) == ("2024/05", "3000", "pdat")


def test_terms_that_ncbi_ignored_or_replaced_are_notices(pubmed: Call, upstream: Upstream) -> None:
    extra = (
        "<TranslationSet><Translation><From>desk</From><To>furniture[mh]</To></Translation>"
        "</TranslationSet><ErrorList><PhraseNotFound>oakx</PhraseNotFound></ErrorList>"
        "<WarningList><PhraseIgnored>of</PhraseIgnored></WarningList>"
    )
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", count=20_000, extra=extra)))
    notices = pubmed("search", query_term="desk of oakx", max_results=1).data["notices"]
    assert any("oakx" in notice for notice in notices)
    assert any("ignored" in notice for notice in notices)
    assert any("furniture[mh]" in notice for notice in notices)
    assert any("9999" in notice for notice in notices)


def test_a_query_with_a_loose_end_is_sent_alone_with_a_notice(
    pubmed: Call, upstream: Upstream
) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
    data = pubmed("search", query_term='5" nail').data
    assert parameters(upstream.seen[0])["term"] == '5" nail'
    assert any("odd number of double quotes" in notice for notice in data["notices"])


def test_nothing_found_is_an_empty_result(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found()))
    data = pubmed("search", query_term="oak", fetch_brief_summaries=5).data
    assert (data["total_found"], data["pmids"], data["brief_summaries"]) == (0, [], [])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query_term": "ab"},
        {"query_term": "oak", "max_results": 1001},
        {"query_term": "oak", "offset": 9999},
        {"query_term": "oak", "sort_by": "size"},
        {"query_term": "oak", "date_range": {"min_date": "24"}},
        {"query_term": "oak", "date_range": {"min_date": "2024/13"}},
        {"query_term": "oak", "date_range": {"min_date": "2024", "max_date": "2023"}},
        {"query_term": "oak", "date_range": {"min_date": "2020/02/30"}},
        {"query_term": "oak", "date_range": {"max_date": "2021-02-29"}},
        {"query_term": "a) OR (b", "filter_by_publication_types": ["Review"]},
        {"query_term": "(oak", "filter_by_publication_types": ["Review"]},
        {"query_term": 'oak "desk', "filter_by_publication_types": ["Review"]},
        {"query_term": "oak", "fetch_brief_summaries": 101},
        {"query_term": "oak", "web_env": "MCID_1"},
        {"query_term": "oak", "queryTerm": "oak"},
    ],
)
def test_invalid_arguments_make_no_request(
    pubmed: Call, upstream: Upstream, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CarrelError) as caught:
        pubmed("search", **arguments)
    assert caught.value.error_code == "invalid_arguments"
    assert upstream.seen == []


def test_the_contact_address_is_sent_and_not_in_the_result(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream
) -> None:
    toolbox = make_toolbox("eutils", fetch=config.fetch._replace(contact="desk@example.org"))
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
    result = toolbox.call_sync("pubmed_search", {"query_term": "oak"})
    assert parameters(upstream.seen[0])["email"] == "desk@example.org"
    assert "desk@example.org" not in result.text
