"""Tests `carrel lookup` with the arXiv component, the real fetch layer and a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import parse_qs, urlsplit

import pytest

from carrel.exchange import Call
from carrel.lookup import LookupResult
from carrel.records import Link
from carrel.tools import Toolbox
from support.lookups import lookup_of
from support.toolboxes import MakeToolbox
from support.upstream import Reply, Seen, Upstream

Look = Callable[[Sequence[str]], LookupResult]

ENTRY = """
<entry><id>http://arxiv.org/abs/{id}</id><title>Paper {id}
  on  shelves</title><summary>Short.</summary><published>2020-01-02T00:00:00Z</published>
<updated>2021-01-02T00:00:00Z</updated><author><name>A. Reader</name></author>
<category term="cs.DL" scheme="http://arxiv.org/schemas/atom"/>
<link href="http://arxiv.org/abs/{id}" rel="alternate" type="text/html"/>
<link title="pdf" href="http://arxiv.org/pdf/{id}" rel="related" type="application/pdf"/>
<arxiv:doi>10.1000/Desk.{id}</arxiv:doi></entry>"""


def feed(*ids: str) -> bytes:
    entries = "".join(ENTRY.format(id=one) for one in ids)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<opensearch:totalResults>{len(ids)}</opensearch:totalResults>
<opensearch:startIndex>0</opensearch:startIndex>{entries}</feed>""".encode()


def asked(seen: Seen) -> list[str]:
    return parse_qs(urlsplit(seen.path).query)["id_list"][0].split(",")


@pytest.fixture
def toolbox(make_toolbox: MakeToolbox) -> Toolbox:
    return make_toolbox("arxiv")


@pytest.fixture
def look(toolbox: Toolbox) -> Look:
    def look(ids: Sequence[str]) -> LookupResult:
        lookup = lookup_of(toolbox)
        call: Call = lookup.new_call()
        return lookup.run(ids, call)

    return look


def test_an_eprint_becomes_a_record(look: Look, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v3")))
    result = look(["https://arxiv.org/abs/2001.00001"])
    assert [item.outcome for item in result.items] == ["found"]
    work = result.works[0].work
    assert (work.ids.arxiv, work.ids.doi) == ("2001.00001v3", "10.1000/Desk.2001.00001v3")
    assert (work.type, work.source_type, work.source) == ("article", "e-print", "arxiv")
    assert work.title == "Paper 2001.00001v3 on shelves"
    assert (work.abstract, work.issued, work.subjects) == ("Short.", "2020-01-02", ("cs.DL",))
    assert [author.literal for author in work.authors] == ["A. Reader"]
    assert work.links == (
        Link("http://arxiv.org/pdf/2001.00001v3", content_type="application/pdf"),
    )


def test_any_spelling_is_fetched_in_one_request_each_paper_once(
    look: Look, upstream: Upstream
) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v3", "hep-ex/0307015v1")))
    result = look(
        ["arXiv:2001.00001", "10.48550/arXiv.2001.00001", "hep-ex/0307015", "2001.00009", "x"]
    )
    assert [item.outcome for item in result.items] == [
        "found",
        "found",
        "found",
        "not_found",
        "failed",
    ]
    [seen] = upstream.seen
    assert asked(seen) == ["2001.00001", "hep-ex/0307015", "2001.00009"]
    assert [item.work for item in result.items] == [0, 0, 1, None, None]


@pytest.mark.requirement("result:typed:no-false-empty")
def test_an_unavailable_arxiv_is_a_failure_and_not_an_absence(
    look: Look, upstream: Upstream
) -> None:
    upstream.on("/api/query", Reply(503))
    [item] = look(["2001.00001"]).items
    assert item.outcome == "failed"
    assert item.problem is not None
    assert item.problem.code == "upstream_unavailable"


def test_a_client_gets_the_same_result_from_the_tool(toolbox: Toolbox, upstream: Upstream) -> None:
    upstream.on("/api/query", Reply(body=feed("2001.00001v3")))
    data = toolbox.call_sync("work_lookup", {"ids": ["2001.00001v3"]}).data
    assert data["items"][0]["trace"] == [
        {
            "source": "arxiv",
            "outcome": "found",
            "asked": {"type": "arxiv", "id": "2001.00001v3"},
        }
    ]
    assert data["works"][0]["work"]["ids"]["arxiv"] == "2001.00001v3"
