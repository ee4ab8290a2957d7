"""Tests `arxiv_query` with the built-in component, the real fetch layer and a TLS upstream."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.errors import CarrelError
from carrel.tools import Result, Toolbox
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Seen, Upstream

Query = Callable[..., Result]

ENTRY = """
<entry><id>http://arxiv.org/abs/{id}</id><title>Paper {id}
  on  shelves</title><summary>Short.</summary><published>{date}</published>
<updated>{date}</updated><author><name>A. Reader</name></author>
<arxiv:primary_category term="cs.DL"/><category term="cs.DL"/>
<link href="http://arxiv.org/abs/{id}" rel="alternate"/>
<link title="pdf" href="http://arxiv.org/pdf/{id}"/></entry>"""


def feed(*ids: str, total: int | None = None, start: int = 0) -> bytes:
    entries = "".join(
        ENTRY.format(id=one, date=f"2020-01-{1 + number:02d}T00:00:00Z")
        for number, one in enumerate(ids)
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<opensearch:totalResults>{len(ids) if total is None else total}</opensearch:totalResults>
<opensearch:startIndex>{start}</opensearch:startIndex>
<opensearch:itemsPerPage>10</opensearch:itemsPerPage>{entries}</feed>""".encode()


def error_feed(status: int) -> Reply:
    body = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/api/errors#incorrect_id_format_for_abc</id><title>Error</title>
<summary>incorrect id format for abc</summary></entry></feed>"""
    return Reply(status, body=body)


@pytest.fixture
def query(make_toolbox: MakeToolbox) -> Query:
    toolbox = make_toolbox("arxiv")

    def query(**arguments: Any) -> Result:
        return toolbox.call_sync("arxiv_query", arguments)

    return query


def test_a_search_returns_entries_with_verified_sources(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v1", "hep-ex/0307015v2", total=250)))
    upstream.on("/e-print/2001.00001v1", Reply(200))
    result = query(search_query="all:desk", max_results=2)
    assert result.data["total_results"] == 250
    first, second = result.data["entries"]
    assert first["title"] == "Paper 2001.00001v1 on shelves"
    assert first["source_url"] == "https://arxiv.org/e-print/2001.00001v1"
    assert "source_url" not in second
    assert result.data["next_start"] == 2
    assert [seen.method for seen in upstream.seen] == ["GET", "HEAD", "HEAD"]
    assert parameters(upstream.seen[0]) == {
        "search_query": "all:desk",
        "start": "0",
        "max_results": "2",
    }


def test_every_argument_of_the_document_reaches_arxiv(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v1", total=1)))
    query(
        search_query='ti:"quantum criticality"',
        id_list="2001.00001, hep-ex/0307015",
        start=0,
        max_results=3,
        sortBy="submittedDate",
        sortOrder="ascending",
        verify_source_url=False,
    )
    [seen] = upstream.seen
    assert parameters(seen) == {
        "search_query": 'ti:"quantum criticality"',
        "id_list": "2001.00001,hep-ex/0307015",
        "start": "0",
        "max_results": "3",
        "sortBy": "submittedDate",
        "sortOrder": "ascending",
    }


def test_blank_arguments_count_as_absent(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed()))
    query(search_query="all:x", id_list=" ", sortBy="", verify_source_url=False)
    assert set(parameters(upstream.seen[0])) == {"search_query", "start", "max_results"}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"search_query": "", "id_list": ""},
        {"search_query": "x", "max_results": 2001},
        {"search_query": "x", "start": -1},
        {"search_query": "x", "sortBy": "size"},
        {"id_list": ",".join(f"2001.{number:05d}" for number in range(2001))},
    ],
)
def test_invalid_arguments_make_no_request(
    query: Query, upstream: Upstream, arguments: dict[str, Any]
) -> None:
    with pytest.raises(CarrelError) as caught:
        query(**arguments)
    assert caught.value.error_code == "invalid_arguments"
    assert upstream.seen == []


@pytest.mark.requirement("result:typed:upstream-error")
@pytest.mark.parametrize("status", [200, 400])
def test_an_error_feed_is_a_tool_error_with_either_status(
    query: Query, upstream: Upstream, status: int
) -> None:
    upstream.on("/api/query", error_feed(status))
    with pytest.raises(CarrelError, match="incorrect id format for abc") as caught:
        query(search_query="x")
    assert caught.value.error_code == "upstream_error"


@pytest.mark.requirement("result:typed:no-false-empty")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(Reply(body=b"<html><body>busy</body></html>"), "upstream_invalid", id="html"),
        pytest.param(Reply(body=b""), "upstream_invalid", id="empty"),
        pytest.param(Reply(body=feed("2001.00001v1")[:300]), "upstream_invalid", id="truncated"),
        pytest.param(Reply(body=b"\xff\xfe\xfd nonsense"), "upstream_invalid", id="not-text"),
        pytest.param(Reply(503), "upstream_unavailable", id="unavailable"),
        pytest.param(Reply(429, [("Retry-After", "900")]), "rate_limited", id="rate-limited"),
        pytest.param(Reply(404, body=b"gone"), "upstream_unavailable", id="gone"),
        pytest.param(Reply(body=feed("2001.00001v1"), cut=200), "upstream_unavailable", id="cut"),
        pytest.param(
            Reply(body=gzip.compress(b"0" * 80_000_000), headers=[("Content-Encoding", "gzip")]),
            "too_large",
            id="bomb",
        ),
        pytest.param(Reply(302, [("Location", "https://evil.example/")]), "denied", id="redirect"),
        pytest.param(
            Reply(302, [("Location", "http://export.arxiv.org/x")]), "denied", id="downgrade"
        ),
        pytest.param(Reply(302, [("Location", "/api/query?again")]), "denied", id="circle"),
    ],
)
def test_an_upstream_that_fails_is_a_typed_error_and_never_no_results(
    query: Query, upstream: Upstream, reply: Reply, code: str
) -> None:
    upstream.on("/api/query", reply)
    with pytest.raises(CarrelError) as caught:
        query(search_query="all:desk")
    assert caught.value.error_code == code
    if code == "rate_limited":
        assert caught.value.to_dict()["retry_after_seconds"] > 0
    if code == "denied":
        assert caught.value.to_dict()["denial_context"]["reason"]


@pytest.mark.requirement("sandbox:hosts:private-address")
def test_a_name_that_resolves_inside_is_denied(query: Query, upstream: Upstream) -> None:
    upstream.names.table["export.arxiv.org"] = ["151.101.131.42", "10.0.0.7"]
    with pytest.raises(CarrelError) as caught:
        query(search_query="all:desk")
    assert caught.value.error_code == "denied"
    assert caught.value.to_dict()["denial_context"]["reason"] == "private_address"
    assert upstream.seen == []


def test_an_ungranted_host_is_denied_with_the_grant_that_would_allow_it(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream
) -> None:
    [plugin] = config.plugins
    toolbox = make_toolbox(replace(plugin, allowed_hosts=("arxiv.org",)))
    with pytest.raises(CarrelError) as caught:
        toolbox.call_sync("arxiv_query", {"search_query": "x"})
    assert caught.value.error_code == "denied"
    assert "allowed_hosts" in caught.value.to_dict()["denial_context"]["grant"]
    assert upstream.seen == []


def test_an_unknown_id_is_an_empty_result_with_a_notice(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed()))
    data = query(id_list="0000.0000").data
    assert (data["entries"], data["not_found"]) == ([], ["0000.0000"])


@pytest.mark.requirement("result:typed:no-false-empty")
def test_an_empty_page_in_mid_paging_is_fetched_again(query: Query, upstream: Upstream) -> None:
    upstream.on(
        "/api/query",
        Reply(body=feed(total=250, start=100)),
        Reply(body=feed("2001.00001v1", total=250, start=100)),
    )
    data = query(search_query="x", start=100, verify_source_url=False).data
    assert len(data["entries"]) == 1
    assert len(upstream.seen) == 2


@pytest.mark.requirement("result:typed:no-false-empty")
def test_pages_that_stay_empty_are_an_error_worth_a_retry(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed(total=250, start=100)))
    with pytest.raises(CarrelError, match="empty page") as caught:
        query(search_query="x", start=100)
    assert caught.value.retryable


def test_a_start_after_the_end_is_an_empty_result(query: Query, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed(total=5, start=100)))
    data = query(search_query="x", start=100).data
    assert (data["entries"], data["total_results"]) == ([], 5)


def test_two_thousand_ids_are_split_over_requests_and_put_together(
    query: Query, upstream: Upstream
) -> None:
    def answer(seen: Seen) -> Reply:
        ids = parameters(seen)["id_list"].split(",")
        found = [one for one in ids if not one.endswith("7")]
        return Reply(body=feed(*(f"{one}v1" for one in found[:28]), total=len(found)))

    upstream.on("/api/query", answer)
    ids = [f"2001.{number:05d}" for number in range(300)]
    data = query(id_list=",".join(ids), max_results=2000, verify_source_url=False).data
    assert all(len("https://export.arxiv.org" + seen.path) <= 2000 for seen in upstream.seen)
    asked = [one for seen in upstream.seen for one in parameters(seen)["id_list"].split(",")]
    assert asked == ids
    assert len(upstream.seen) > 1
    assert data["total_results"] == 270
    assert len({entry["id"] for entry in data["entries"]}) == len(data["entries"])


def test_source_links_unverified_at_the_deadline_are_omitted_with_a_notice(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream
) -> None:
    """200 HEAD requests at five per second take longer than ten seconds."""
    ids = [f"2001.{number:05d}v1" for number in range(28)]
    upstream.on("/api/query", Reply(body=feed(*ids)))
    upstream.on("*", Reply(200))
    [plugin] = config.plugins
    toolbox = make_toolbox(replace(plugin, limits={"wall_seconds": 5.0}))
    data = toolbox.call_sync("arxiv_query", {"search_query": "x", "max_results": 28}).data
    verified = [entry for entry in data["entries"] if "source_url" in entry]
    assert 0 < len(verified) < 28
    assert re.search(rf"not checked for {28 - len(verified)} of 28", data["notices"][0])


@pytest.mark.requirement("replay:exact:tool")
def test_a_replayed_call_returns_the_same_bytes(
    make_toolbox: MakeToolbox, config: Config, upstream: Upstream, tmp_path: Path
) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v1", "2001.00002v1")))
    upstream.on("/e-print/2001.00001v1", Reply(200))
    arguments = {"search_query": "all:desk"}
    folder = tmp_path / "recording"
    recorded = make_toolbox("arxiv", record_dir=folder).call_sync("arxiv_query", arguments)
    seen = len(upstream.seen)
    replaying = Toolbox(replace(config, replay_dir=folder))
    assert replaying.call_sync("arxiv_query", arguments).text == recorded.text
    assert len(upstream.seen) == seen
    with pytest.raises(CarrelError) as caught:
        replaying.call_sync("arxiv_query", {"search_query": "all:other"})
    assert caught.value.error_code == "not_recorded"
