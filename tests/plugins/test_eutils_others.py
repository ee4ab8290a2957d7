"""Tests PubMed's smaller tools with the built-in component and a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable

from carrel.tools import Result
from support.pubmed import BASE, IDCONV, found, summaries
from support.toolboxes import parameters
from support.upstream import Reply, Seen, Upstream

Call = Callable[..., Result]


def test_identifiers_are_converted_by_pmc_and_what_it_lacks_by_pubmed(
    pubmed: Call, upstream: Upstream
) -> None:
    def converter(seen: Seen) -> Reply:
        if parameters(seen)["idtype"] == "doi":
            return Reply(
                body=b'{"status":"ok","records":[{"requested-id":"10.5555/OAK.8","status":"error","errmsg":"no"}]}'
            )
        return Reply(
            body=b'{"status":"ok","records":[{"pmid":7,"pmcid":"PMC70","doi":"10.5555/x","requested-id":"7"}]}'
        )

    upstream.on(IDCONV, converter)
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("8", "9")))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("8", "9")))
    data = pubmed("convert_ids", ids=["7", "doi:10.5555/OAK.8", "10.5555/none", "desk"]).data
    assert data["records"] == [
        {"requested_id": "7", "pmid": "7", "pmcid": "PMC70", "doi": "10.5555/x"},
        {"requested_id": "doi:10.5555/OAK.8", "pmid": "8", "doi": "10.5555/oak.8"},
    ]
    assert (data["not_found"], data["invalid"]) == (["10.5555/none"], ["desk"])
    search = next(seen for seen in upstream.seen if "esearch" in seen.path)
    assert parameters(search)["term"] == '"10.5555/OAK.8"[doi] OR "10.5555/none"[doi]'


def test_without_the_converter_pubmed_still_answers(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(IDCONV, Reply(404))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7")))
    data = pubmed("convert_ids", ids=["7"]).data
    assert data["records"][0]["doi"] == "10.5555/oak.7"
    assert data["notices"]


def test_citations_are_matched(pubmed: Call, upstream: Upstream) -> None:
    body = b"ann desks|2024|12|737|reader a|c0|1\n|2020||||c1|NOT_FOUND\n"
    upstream.on(f"{BASE}/ecitmatch.cgi", Reply(body=body))
    data = pubmed(
        "citation_match",
        citations=[
            {"journal": "ann desks", "year": 2024, "volume": "12", "first_page": "737",
             "author_name": "reader a", "key": "mine"},
            {"year": 2020},
        ],
    ).data  # fmt: skip
    assert parameters(upstream.seen[0])["bdata"] == (
        "ann desks|2024|12|737|reader a|c0|\r|2020||||c1|"
    )
    assert data["matches"] == [
        {"index": 0, "key": "mine", "status": "matched", "pmid": "1"},
        {"index": 1, "status": "not_found", "reason": "NOT_FOUND"},
    ]
    assert (data["total_matched"], data["total_submitted"]) == (1, 2)


def test_spelling_is_checked(pubmed: Call, upstream: Upstream) -> None:
    body = b"<eSpellResult><Query>atention</Query><CorrectedQuery>attention</CorrectedQuery><SpelledQuery><Replaced>attention</Replaced></SpelledQuery><ERROR/></eSpellResult>"  # noqa: E501
    upstream.on(f"{BASE}/espell.fcgi", Reply(body=body))
    data = pubmed("spell", term="atention").data
    assert (data["has_suggestion"], data["corrected_term"]) == (True, "attention")


def test_mesh_terms_are_looked_up(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("68007405")))
    body = b'<eSummaryResult><DocumentSummarySet><DocumentSummary uid="68007405"><DS_IdxLinks><LinksType><TreeNum>J01.494</TreeNum></LinksType></DS_IdxLinks><DS_MeSHTerms><string>Interior Design</string><string>Furniture</string></DS_MeSHTerms><DS_ScopeNote>Rooms.</DS_ScopeNote></DocumentSummary></DocumentSummarySet></eSummaryResult>'  # noqa: E501
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=body))
    [term] = pubmed("mesh", term="furniture").data["terms"]
    assert term == {
        "ui": "D007405",
        "name": "Interior Design",
        "scope_note": "Rooms.",
        "entry_terms": ["Furniture"],
        "tree_numbers": ["J01.494"],
        "search_term": '"Interior Design"[MeSH Terms]',
    }
    assert [parameters(seen)["db"] for seen in upstream.seen] == ["mesh", "mesh"]


def test_pubmed_offers_these_resources(pubmed: Call, upstream: Upstream) -> None:
    body = b"<eInfoResult><DbInfo><DbName>pubmed</DbName><Count>39</Count></DbInfo></eInfoResult>"
    upstream.on(f"{BASE}/einfo.fcgi", Reply(body=body))
    data = pubmed("info").data
    assert (data["db_name"], data["count"], data["fields"]) == ("pubmed", 39, [])
    listed = b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>"
    upstream.on(f"{BASE}/einfo.fcgi", Reply(body=listed))
    assert pubmed("info", db="all").data == {"databases": ["pubmed"]}


def test_two_spellings_of_an_identifier_are_one_question(pubmed: Call, upstream: Upstream) -> None:
    upstream.on(IDCONV, Reply(404))
    upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7")))
    spellings = ["7", "https://pubmed.ncbi.nlm.nih.gov/7/", "PMID: 7"]
    data = pubmed("convert_ids", ids=spellings).data
    assert [one["requested_id"] for one in data["records"]] == spellings
    assert parameters(upstream.seen[-1])["id"] == "7"
