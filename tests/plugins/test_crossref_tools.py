"""Tests the `crossref_*` tools with the built-in component, the real fetch layer and TLS."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from carrel.config import Config, FetchConfig, builtin
from carrel.errors import CarrelError
from carrel.tools import Toolbox
from support.lookups import lookup_of
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Upstream

Ask = Callable[..., Any]

CONTACT = "desk@library.example"


def item(doi: str, **members: Any) -> dict[str, Any]:
    return {
        "DOI": doi,
        "type": "journal-article",
        "title": ["On the habits of quiet readers"],
        "author": [{"given": "A.", "family": "Núñez", "affiliation": []}],
        "container-title": ["Journal of Desks"],
        "issued": {"date-parts": [[2019, 4]]},
        "volume": "12",
        "page": "345-359",
        **members,
    }


def work(doi: str, **members: Any) -> Reply:
    message = item(doi, **members)
    return Reply(body=json.dumps({"message-type": "work", "message": message}).encode())


def works(*items: dict[str, Any], **members: Any) -> Reply:
    message = {"total-results": len(items), "items-per-page": 20, "items": items, **members}
    return Reply(body=json.dumps({"message-type": "work-list", "message": message}).encode())


MISSING = Reply(404, body=b"Resource not found.")
REFUSED = Reply(
    400,
    body=json.dumps(
        {
            "status": "failed",
            "message-type": "validation-failure",
            "message": [{"type": "filter-not-available", "message": "There is no such type"}],
        }
    ).encode(),
)


@pytest.fixture
def ask(make_toolbox: MakeToolbox) -> Ask:
    toolbox = make_toolbox("crossref", keep=True)

    def ask(tool: str, **arguments: Any) -> Any:
        return toolbox.call_sync(f"crossref_{tool}", arguments).data

    return ask


def test_a_search_sends_every_argument_and_returns_works(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works", works(item("10.5555/a"), **{"total-results": 250, "next-cursor": "n"}))
    found = ask(
        "works",
        query="quiet & loud",
        query_title="habits",
        query_author="Núñez",
        query_container_title="Desks",
        query_bibliographic="readers 2019",
        from_pub_date="2019-01",
        until_pub_date="2020",
        type="journal-article",
        issn="1234-5679",
        isbn="9780000000002",
        orcid="0000-0002-1825-0097",
        funder="10.13039/100009999",
        prefix="10.5555",
        member=78,
        license_url="https://creativecommons.org/licenses/by/4.0/",
        update_type="correction",
        is_update=False,
        has_abstract=True,
        has_full_text=True,
        has_references=False,
        sort="published",
        order="asc",
        rows=1,
        cursor="*",
        select=["DOI", "title"],
        facets=["type-name", "published:5"],
    )
    assert found["total_results"] == 250
    assert found["next_cursor"] == "n"
    assert found["works"][0]["ids"] == {"doi": "10.5555/a"}
    [seen] = upstream.seen
    assert parameters(seen) == {
        "query": "quiet & loud",
        "query.title": "habits",
        "query.author": "Núñez",
        "query.container-title": "Desks",
        "query.bibliographic": "readers 2019",
        "filter": "from-pub-date:2019-01,until-pub-date:2020,type:journal-article,issn:1234-5679,"
        "isbn:9780000000002,orcid:0000-0002-1825-0097,funder:10.13039/100009999,prefix:10.5555,"
        "member:78,license.url:https://creativecommons.org/licenses/by/4.0/,"
        "update-type:correction,is-update:false,has-abstract:true,has-full-text:true,"
        "has-references:false",
        "sort": "published",
        "order": "asc",
        "rows": "1",
        "cursor": "*",
        "select": "DOI,title,update-to,updated-by",
        "facet": "type-name:10,published:5",
    }


def test_blank_arguments_count_as_absent(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works", works())
    assert ask("works", query="x", type="", sort="", cursor=" ", select=[])["works"] == []
    assert parameters(upstream.seen[0]) == {"query": "x", "rows": "20"}


def test_cursor_pages_are_not_cached_and_other_searches_are(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works", works(item("10.5555/a"), **{"next-cursor": "abc+/=="}))
    for _ in range(2):
        ask("works", query="x")
    assert len(upstream.seen) == 1
    ask("works", query="x", cursor="*")
    assert ask("works", query="x", cursor="abc+/==")["next_cursor"] == "abc+/=="
    ask("works", query="x", cursor="abc+/==")
    assert [parameters(seen).get("cursor") for seen in upstream.seen] == [
        None,
        "*",
        "abc+/==",
        "abc+/==",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("works", {"rows": 101}),
        ("works", {"rows": 0}),
        ("works", {"sort": "size"}),
        ("works", {"offset": 10, "cursor": "*"}),
        ("works", {"license_url": "https://example.org/a,b"}),
        ("works", {"type": "book,member:78"}),
        ("works", {"select": ["DOI&rows=1000"]}),
        ("works", {"from_pub_date": "yesterday"}),
        ("works", {"queri": "x"}),
        ("work", {"doi": "no doi"}),
        ("work", {}),
        ("updates", {"doi": ""}),
        ("citation_match", {"citation": ""}),
        ("citation_match", {"citation": "x", "max_candidates": 50}),
    ],
)
def test_invalid_arguments_make_no_request(
    ask: Ask, upstream: Upstream, tool: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CarrelError) as caught:
        ask(tool, **arguments)
    assert caught.value.error_code == "invalid_arguments"
    assert upstream.seen == []


@pytest.mark.parametrize(
    "doi",
    [
        "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1",
        "10.5555/colon:comma,semi;colon",
        "10.5555/(paren)theses",
        "10.5555/100%",
        "10.5555/100%25",
        "10.5555/a#b?c&d=e",
        "10.5555/UPPER/lower",
        "10.5555/日本語-é",
        "10.5555/trailing/",
    ],
)
def test_any_doi_arrives_as_it_is(ask: Ask, upstream: Upstream, doi: str) -> None:
    upstream.on("*", work(doi, reference=[{"key": "1", "DOI": "10.5555/old"}]))
    for spelling in (doi, f"doi:{doi}"):
        found = ask("work", doi=spelling)["work"]
        assert found["ids"]["doi"] == doi
        assert found["references"] == [{"key": "1", "doi": "10.5555/old"}]
    prefix, _, segment = upstream.seen[0].path.rpartition("/")
    assert (prefix, unquote(segment)) == ("/works", doi)
    assert len(upstream.seen) == 1, "the second spelling is answered from the cache"


def test_a_work_of_another_agency_names_the_agency(ask: Ask, upstream: Upstream) -> None:
    agency = {"DOI": "10.5555/x", "agency": {"id": "datacite", "label": "DataCite"}}
    body = json.dumps({"message-type": "work-agency", "message": agency}).encode()
    upstream.on("/works/10.5555%2Fx", MISSING)
    upstream.on("/works/10.5555%2Fx/agency", Reply(body=body))
    with pytest.raises(CarrelError, match="registered with DataCite") as caught:
        ask("work", doi="10.5555/x")
    assert caught.value.error_code == "not_found"


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(REFUSED, "upstream_error", id="refused"),
        pytest.param(Reply(body=b"<html>busy</html>"), "upstream_invalid", id="html"),
        pytest.param(Reply(body=b""), "upstream_invalid", id="empty"),
        pytest.param(Reply(body=works(item("10.5555/a")).body[:80]), "upstream_invalid", id="cut"),
        pytest.param(Reply(body=b"\xff\xfe nonsense"), "upstream_invalid", id="not-text"),
        pytest.param(Reply(503), "upstream_unavailable", id="unavailable"),
        pytest.param(Reply(429, [("Retry-After", "900")]), "rate_limited", id="rate-limited"),
        pytest.param(
            Reply(body=gzip.compress(b"0" * 80_000_000), headers=[("Content-Encoding", "gzip")]),
            "too_large",
            id="bomb",
        ),
        pytest.param(Reply(302, [("Location", "https://evil.example/")]), "denied", id="redirect"),
        pytest.param(Reply(302, [("Location", "/members")]), "denied", id="other-path"),
    ],
)
def test_an_upstream_that_fails_is_a_typed_error_and_never_no_results(
    ask: Ask, upstream: Upstream, reply: Reply, code: str
) -> None:
    upstream.on("*", reply)
    for tool, arguments in (
        ("works", {"query": "x"}),
        ("updates", {"doi": "10.5555/x"}),
        ("citation_match", {"citation": "Núñez 2019"}),
    ):
        with pytest.raises(CarrelError) as caught:
            ask(tool, **arguments)
        assert caught.value.error_code == code, tool


def notice(source: str | None, day: int) -> dict[str, Any]:
    update = {"DOI": "10.5555/w", "type": "retraction", "updated": {"date-parts": [[2026, 6, day]]}}
    return {**update, "source": source} if source else update


def test_a_retraction_is_found_from_both_sides_and_listed_once_per_source(
    ask: Ask, upstream: Upstream
) -> None:
    by = [
        {**notice("publisher", 1), "DOI": "10.5555/n"},
        {**notice("retraction-watch", 3), "DOI": "10.5555/n"},
    ]
    upstream.on("/works/10.5555%2Fw", work("10.5555/w", **{"updated-by": by}))
    upstream.on(
        "/works", works(item("10.5555/n", title=["Retraction"], **{"update-to": [notice(None, 1)]}))
    )
    fate = ask("updates", doi="10.5555/w")
    assert (fate["is_retracted"], fate["is_corrected"], fate["is_of_concern"]) == (
        True,
        False,
        False,
    )
    assert fate["updates"] == [
        {
            "type": "retraction",
            "notice_doi": "10.5555/n",
            "notice_title": "Retraction",
            "date": "2026-06-01",
            "source": "publisher",
            "found_in": ["update-to", "updated-by"],
        },
        {
            "type": "retraction",
            "notice_doi": "10.5555/n",
            "date": "2026-06-03",
            "source": "retraction-watch",
            "found_in": ["updated-by"],
        },
    ]
    reverse = next(seen for seen in upstream.seen if "?" in seen.path)
    assert parameters(reverse) == {"filter": "updates:10.5555/w", "rows": "100"}


ITSELF = {**notice("publisher", 1), "DOI": "10.5555/W"}


@pytest.mark.requirement("result:typed:retractions")
def test_a_work_that_names_itself_as_retracted_is_the_retracted_one(
    ask: Ask, upstream: Upstream
) -> None:
    itself = item("10.5555/w", **{"update-to": [ITSELF]})
    upstream.on("/works/10.5555%2Fw", work("10.5555/w", **{"update-to": [ITSELF]}))
    upstream.on("/works", works(itself))
    fate = ask("updates", doi="10.5555/w")
    assert fate["is_retracted"]
    assert "notice_of" not in fate
    [listed] = fate["updates"]
    assert (listed["notice_doi"].lower(), listed["found_in"]) == ("10.5555/w", ["update-to"])
    update = {"type": "retraction", "doi": "10.5555/W", "date": "2026-06-01", "source": "publisher"}
    assert ask("work", doi="10.5555/w")["work"]["updated_by"] == [update]
    assert ask("works", query="quiet")["works"][0]["updated_by"] == [update]


@pytest.mark.requirement("result:typed:retractions")
def test_a_retracted_candidate_for_a_reference_says_so(ask: Ask, upstream: Upstream) -> None:
    by = [{**notice("publisher", 1), "DOI": "10.5555/n"}]
    upstream.on("/works", works(item("10.5555/right", **{"updated-by": by}), item("10.5555/same")))
    citation = "Nunez, A. (2019). On the Habits of Quiet Readers. J. Desks 12:345."
    retracted, sound = ask("citation_match", citation=citation)["candidates"]
    assert retracted["is_retracted"] is True
    assert retracted["updated_by"][0]["doi"] == "10.5555/n"
    assert "is_retracted" not in sound


def test_a_clean_record_and_a_notice_s_own(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works", works())
    upstream.on("/works/10.5555%2Fn", work("10.5555/n", **{"update-to": [notice("publisher", 2)]}))
    fate = ask("updates", doi="10.5555/n")
    assert fate["updates"] == []
    assert not fate["is_retracted"]
    assert fate["notice_of"] == [
        {"type": "retraction", "doi": "10.5555/w", "date": "2026-06-02", "source": "publisher"}
    ]


@pytest.mark.requirement("result:typed:no-false-empty")
def test_half_an_answer_about_retractions_is_an_error(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works/10.5555%2Fw", work("10.5555/w"))
    upstream.on("/works", Reply(503))
    with pytest.raises(CarrelError) as caught:
        ask("updates", doi="10.5555/w")
    assert caught.value.error_code == "upstream_unavailable"


def test_a_reference_is_matched_by_agreeing_fields(ask: Ask, upstream: Upstream) -> None:
    upstream.on(
        "/works",
        works(
            item("10.5555/other", title=["A history of chairs"], volume="1"),
            item("10.5555/right"),
            item("10.5555/near", title=["On the habits of quiet readers: part two"]),
        ),
    )
    citation = "Nunez, A. (2019). On the Habits of Quiet Readers. J. Desks 12:345."
    found = ask("citation_match", citation=citation)["candidates"]
    assert found[0]["doi"] == "10.5555/right"
    assert found[0]["score"] == 1
    assert {"title", "author", "year", "volume", "page"} <= set(found[0]["agreed"])
    assert all(0.5 <= candidate["score"] <= 1 for candidate in found)
    assert parameters(upstream.seen[0]) == {"query.bibliographic": citation, "rows": "20"}


def test_a_reference_without_agreeing_fields_has_no_candidate(ask: Ask, upstream: Upstream) -> None:
    upstream.on("/works", works(item("10.5555/right")))
    found = ask("citation_match", citation="Birds of Norway. Oslo 1950.")
    assert found["candidates"] == []
    assert "nothing" in found["notices"][0]


def test_a_lookup_distinguishes_absent_from_failed(
    make_toolbox: MakeToolbox, upstream: Upstream
) -> None:
    upstream.on("/works", works(item("10.5555/a"), item("10.5555/b")))
    upstream.on("/works/10.5555%2Fgone", MISSING)
    upstream.on("/works/10.5555%2Fdown", Reply(503))
    upstream.on("/works/10.5555%2Fx%2Cy", work("10.5555/x,y"))
    dois = ["10.5555/a", "https://doi.org/10.5555/B", "10.5555/gone", "10.5555/down", "10.5555/x,y"]
    looked = lookup_of(make_toolbox("crossref", keep=True))
    result = looked.run(dois, looked.new_call())
    assert [item.outcome for item in result.items] == [
        "found",
        "found",
        "not_found",
        "failed",
        "found",
    ]
    [search] = [seen for seen in upstream.seen if "?" in seen.path]
    assert parameters(search)["filter"].count("doi:") == 4
    assert "x,y" not in parameters(search)["filter"]


@pytest.mark.requirement("sandbox:secrets:contact")
def test_the_contact_address_is_sent_to_its_upstream_only(
    make_toolbox: MakeToolbox, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("/works", works(item("10.5555/a")))
    folder = tmp_path / "recording"
    toolbox = make_toolbox("crossref", fetch=FetchConfig(contact=CONTACT), record_dir=folder)
    result = toolbox.call_sync("crossref_works", {"query": "x"})
    assert parameters(upstream.seen[0])["mailto"] == CONTACT
    assert f"mailto:{CONTACT}" in upstream.seen[0].headers["user-agent"]
    assert CONTACT not in result.text
    recorded = [path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()]
    assert recorded
    assert CONTACT not in "".join(recorded)


@pytest.mark.requirement("replay:exact:tool")
def test_recorded_calls_replayed_offline_give_the_same_bytes(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("/works", works(item("10.5555/n", **{"update-to": [notice(None, 1)]})))
    upstream.on("/works/10.5555%2Fw", work("10.5555/w"))
    calls = [
        ("crossref_works", {"query": "x", "cursor": "*"}),
        ("crossref_work", {"doi": "10.5555/w"}),
        ("crossref_updates", {"doi": "10.5555/w"}),
        ("crossref_citation_match", {"citation": "Núñez 2019 On the habits of quiet readers"}),
    ]
    folder = tmp_path / "recording"
    recording = make_toolbox("crossref", record_dir=folder)
    recorded = [recording.call_sync(*call).text for call in calls]
    seen = len(upstream.seen)
    replaying = Toolbox(replace(config, plugins=(builtin("crossref"),), replay_dir=folder))
    assert [replaying.call_sync(*call).text for call in calls] == recorded
    assert len(upstream.seen) == seen
