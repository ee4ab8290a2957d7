"""Tests lookups over the three built-in components, whose records of a work are merged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carrel.config import PluginConfig
from carrel.tools import Toolbox
from support import pubmed
from support.guests import guest
from support.lookups import lookup_of
from support.manifests import manifest_text
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Seen, Upstream

ARXIV = b"""<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<opensearch:totalResults>1</opensearch:totalResults>
<opensearch:startIndex>0</opensearch:startIndex><entry>
<id>http://arxiv.org/abs/2001.00001v3</id><title>On desks</title><summary>A draft's.</summary>
<published>2020-01-02T00:00:00Z</published><author><name>Ada Reader</name></author>
<category term="cs.DL"/><arxiv:doi>10.5555/Desk.1</arxiv:doi></entry></feed>"""

CROSSREF = {
    "status": "ok",
    "message-type": "work",
    "message-version": "1.0.0",
    "message": {
        "DOI": "10.5555/desk.1",
        "type": "journal-article",
        "title": ["On Desks"],
        "author": [{"family": "Reader", "given": "Ada", "sequence": "first"}],
        "container-title": ["Journal of Furniture"],
        "publisher": "Furniture Press",
        "issued": {"date-parts": [[2020, 6]]},
        "volume": "7",
        "is-referenced-by-count": 3,
    },
}

EFETCH = b"""<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN"
 "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">7654321</PMID><Article PubModel="Print"><Journal>
<JournalIssue CitedMedium="Print"><Volume>7</Volume><PubDate><Year>2020</Year>
<Month>Jun</Month></PubDate></JournalIssue><Title>Journal of Furniture</Title></Journal>
<ArticleTitle>On Desks.</ArticleTitle><Abstract><AbstractText>The whole abstract.</AbstractText>
</Abstract><AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Reader</LastName>
<ForeName>Ada</ForeName><Initials>A</Initials></Author></AuthorList><Language>eng</Language>
<PublicationTypeList><PublicationType UI="D016428">Journal Article</PublicationType>
</PublicationTypeList></Article></MedlineCitation><PubmedData><PublicationStatus>ppublish
</PublicationStatus><ArticleIdList><ArticleId IdType="pubmed">7654321</ArticleId>
<ArticleId IdType="doi">10.5555/desk.1</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
</PubmedArticleSet>"""

IDCONV = {
    "status": "ok",
    "request": {"format": "json"},
    "records": [{"doi": "10.5555/desk.1", "pmid": 7654321, "requested-id": "10.5555/desk.1"}],
}


def json_reply(value: object) -> Reply:
    return Reply(body=json.dumps(value).encode(), headers=[("Content-Type", "application/json")])


@pytest.fixture
def toolbox(make_toolbox: MakeToolbox, upstream: Upstream) -> Toolbox:
    upstream.on("/api/query", Reply(body=ARXIV))
    upstream.on("/works/10.5555%2FDesk.1", json_reply(CROSSREF))
    upstream.on("/works/10.5555%2Fdesk.1", json_reply(CROSSREF))
    upstream.on("/entrez/eutils/efetch.fcgi", Reply(body=EFETCH))
    upstream.on("/tools/idconv/api/v1/articles/", json_reply(IDCONV))
    return make_toolbox("crossref", "eutils", "arxiv")


@pytest.mark.parametrize("text", ["arXiv:2001.00001", "10.5555/DESK.1", "pmid:7654321"])
def test_any_identifier_of_a_work_finds_the_records_of_all_sources(
    toolbox: Toolbox, upstream: Upstream, text: str
) -> None:
    upstream.on("/works/10.5555%2FDESK.1", json_reply(CROSSREF))
    result = lookup_of(toolbox).run([text], lookup_of(toolbox).new_call())
    [item] = result.items
    outcomes = {step.source: (step.outcome, step.reason) for step in item.steps}
    [merged] = result.works
    by_arxiv = text.startswith("arXiv")
    # Only arXiv has the e-print's identifier, so it is found only if the e-print was asked for.
    assert outcomes == {
        "crossref": ("found", None),
        "eutils": ("found", None),
        "arxiv": ("found", None) if by_arxiv else ("not_asked", "no_matching_identifier"),
    }
    work = merged.work
    assert (work.ids.doi, work.ids.pmid) == ("10.5555/desk.1", "7654321")
    assert work.ids.arxiv == ("2001.00001v3" if by_arxiv else None)
    assert (work.type, work.title, work.publisher) == (
        "article-journal",
        "On Desks",
        "Furniture Press",
    )
    assert work.abstract == "The whole abstract."
    assert merged.provenance["abstract"] == ("eutils",)
    assert merged.provenance["ids.doi"] == merged.sources
    assert merged.sources == ("crossref", "eutils", "arxiv")[: 3 if by_arxiv else 2]


def test_works_requested_by_different_identifiers_are_merged(toolbox: Toolbox) -> None:
    ids = ["2001.00001", "https://doi.org/10.5555/desk.1", "7654321"]
    result = lookup_of(toolbox).run(ids, lookup_of(toolbox).new_call())
    assert [item.work for item in result.items] == [0, 0, 0]


@pytest.mark.requirement("result:typed:no-false-empty")
def test_a_source_that_is_down_is_a_failure_beside_other_sources_results(
    toolbox: Toolbox, upstream: Upstream
) -> None:
    upstream.on("/entrez/eutils/efetch.fcgi", Reply(503))
    [item] = lookup_of(toolbox).run(["10.5555/desk.1"], lookup_of(toolbox).new_call()).items
    assert item.outcome == "found"
    outcomes = {step.source: step.outcome for step in item.steps}
    assert (outcomes["crossref"], outcomes["eutils"]) == ("found", "failed")


def test_every_built_in_plugin_declares_what_it_resolves(toolbox: Toolbox) -> None:
    lookups = {state.name: state.manifest.lookup for state in toolbox.plugins() if state.manifest}
    assert {name: spec.identifiers for name, spec in lookups.items() if spec} == {
        "crossref": ("doi",),
        "eutils": ("pmid", "pmcid", "doi"),
        "arxiv": ("arxiv",),
    }


def test_an_added_plugin_is_queried_with_the_built_in_ones(
    make_toolbox: MakeToolbox, upstream: Upstream, toolbox: Toolbox, tmp_path: Path
) -> None:
    """Only its manifest says that it resolves DOIs; values of the built-in sources come first."""
    doi = {"type": "doi", "id": "10.5555/desk.1"}
    work = {"ids": {"doi": "10.5555/DESK.1"}, "type": "article", "authors": [], "source": "x"}
    work |= {"title": "Pulte", "volume": "7", "pages": "9"}
    answer = {"works": [{"id": doi, "work": work}], "not_found": []}
    lookup = {"identifiers": ["doi"], "batch": 5}
    path = tmp_path / "libris.wasm"
    path.write_bytes(
        guest(
            result=json.dumps(answer),
            manifest=manifest_text(name="libris", hosts=[], lookup=lookup),
        ).wasm
    )
    entry = PluginConfig("libris", path.as_uri())
    toolbox = make_toolbox("crossref", "eutils", "arxiv", entry)
    data = toolbox.call_sync("work_lookup", {"ids": ["10.5555/desk.1"]}).data
    [item] = data["items"]
    assert {step["source"]: step["outcome"] for step in item["trace"]} == {
        "crossref": "found",
        "eutils": "found",
        "arxiv": "not_asked",
        "libris": "found",
    }
    [merged] = data["works"]
    assert merged["sources"] == ["crossref", "eutils", "libris"]
    assert (merged["work"]["title"], merged["work"]["pages"]) == ("On Desks", "9")
    assert merged["provenance"]["volume"] == ["crossref", "eutils", "libris"]
    assert {"value": "Pulte", "sources": ["libris"]} in merged["alternatives"]["title"]


def every_doi(seen: Seen) -> Reply:
    """Returns Crossref's response to a search by DOIs: all but those marked as missing."""
    dois = [one.removeprefix("doi:") for one in parameters(seen)["filter"].split(",")]
    items = [{"DOI": doi, "type": "journal-article"} for doi in dois if "none" not in doi]
    message = {"total-results": len(items), "items": items}
    return json_reply({"message-type": "work-list", "message": message})


def every_eprint(seen: Seen) -> Reply:
    entry = "<entry><id>http://arxiv.org/abs/{}v1</id><title>T</title></entry>"
    entries = "".join(map(entry.format, parameters(seen)["id_list"].split(",")))
    return Reply(body=f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'.encode())


def every_pmcid(seen: Seen) -> Reply:
    asked = parameters(seen)
    records = [
        {"requested-id": one, "pmcid": one, "pmid": int(one[3:])}
        if asked["idtype"] == "pmcid"
        else {"requested-id": one, "status": "error", "errmsg": "no"}
        for one in asked["ids"].split(",")
    ]
    return json_reply({"status": "ok", "records": records})


def test_a_hundred_identifiers_of_every_kind_each_have_their_own_answer(
    make_toolbox: MakeToolbox, upstream: Upstream
) -> None:
    upstream.on("/works", every_doi)
    upstream.on("*", Reply(404, body=b"Resource not found."))
    upstream.on("/api/query", every_eprint)
    upstream.on("/tools/idconv/api/v1/articles/", every_pmcid)
    upstream.on("/entrez/eutils/esearch.fcgi", Reply(body=pubmed.found()))
    upstream.on(
        "/entrez/eutils/efetch.fcgi",
        lambda seen: Reply(body=pubmed.articles(*parameters(seen)["id"].split(","))),
    )
    ids = [
        *(f"10.5555/{number}" for number in range(30)),
        *(f"pmid:{number}" for number in range(101, 131)),
        *(f"arXiv:2001.{number:05}" for number in range(1, 21)),
        *(f"PMC{number}" for number in range(201, 209)),
        *(f"10.5555/none.{number}" for number in range(4)),
        *("desk", "10.5555", "arXiv:2001.1", ""),
        *("https://doi.org/10.5555/1", "PMID 101", "doi:10.5555/2", "PMC201"),
    ]
    assert len(ids) == 100
    toolbox = make_toolbox("crossref", "eutils", "arxiv")
    result = lookup_of(toolbox).run(ids, lookup_of(toolbox).new_call())
    assert [item.given for item in result.items] == ids
    outcomes = [item.outcome for item in result.items]
    assert outcomes == ["found"] * 88 + ["not_found"] * 4 + ["failed"] * 4 + [
        "found",
        "failed",
        "found",
        "found",
    ]
    works = [item.work for item in result.items]
    assert works[96] == works[1]
    assert works[98] == works[2]
    assert works[99] == works[80]
    assert len(set(works) - {None}) == len(result.works) == 88
    for item in result.items:
        if item.id is not None:
            assert {step.source for step in item.steps} == {"crossref", "eutils", "arxiv"}
    # Batches, not one request per identifier.
    assert len(upstream.seen) < 30
