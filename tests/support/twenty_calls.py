"""The twenty most frequent calls, and an upstream with documents of realistic length for them.

The documents are those of `bench/`, invented and always the same: ten e-prints with abstracts,
works with references, articles with MeSH terms.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from bench.articles import record_set_of_size
from bench.documents import entry_ids, feed
from bench.works import answer_of_size

from .pubmed import BASE, IDCONV, found, links, summaries
from .toolboxes import parameters
from .upstream import Reply, Seen, Upstream

_IDS: Final = entry_ids(10)
_DOI: Final = "10.5555/desk.000000"
_PMIDS: Final = [str(90_000_001 + number) for number in range(20)]
_OMITTED: Final = ["abstracts", "affiliations"]

#: Tool name and arguments of each.
CALLS: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    ("arxiv_query", {"search_query": "all:desk"}),
    ("arxiv_query", {"id_list": ",".join(_IDS[:3])}),
    ("arxiv_query", {"search_query": "all:desk", "max_results": 5, "omit": _OMITTED}),
    ("crossref_works", {"query": "desk", "rows": 5}),
    ("crossref_works", {"query": "desk", "rows": 10, "omit": _OMITTED}),
    ("crossref_work", {"doi": _DOI}),
    ("crossref_updates", {"doi": _DOI}),
    ("crossref_citation_match", {"citation": "Reader, On desks. Annals of Desks 2024."}),
    ("pubmed_search", {"query_term": "attention[mh]"}),
    ("pubmed_search", {"query_term": "attention[mh]", "fetch_brief_summaries": 10}),
    ("pubmed_fetch", {"pmids": _PMIDS[:1]}),
    ("pubmed_fetch", {"pmids": _PMIDS[:5]}),
    ("pubmed_fetch", {"pmids": _PMIDS[:5], "detail_level": "citation_data"}),
    ("pubmed_fetch", {"pmids": _PMIDS[:5], "omit": _OMITTED}),
    ("pubmed_related", {"source_pmid": _PMIDS[0]}),
    (
        "pubmed_related",
        {
            "source_pmid": _PMIDS[0],
            "relationship_type": "citation_formats",
            "citation_styles": ["ris", "bibtex", "apa_string", "mla_string"],
        },
    ),
    ("pubmed_convert_ids", {"ids": _PMIDS[:5]}),
    ("pubmed_mesh", {"term": "furniture"}),
    ("pubmed_info", {}),
    ("work_lookup", {"ids": [_DOI, _PMIDS[0]]}),
)


def answer_calls(upstream: Upstream) -> None:
    """Sets an upstream's responses to all of them."""
    upstream.on("/api/query", _arxiv)
    upstream.on("/works", _works)
    upstream.on("*", _other)
    upstream.on(IDCONV, _converted)
    upstream.on(f"{BASE}/esearch.fcgi", _searched)
    upstream.on(f"{BASE}/esummary.fcgi", _summarised)
    upstream.on(f"{BASE}/efetch.fcgi", _fetched)
    upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", *_PMIDS[1:9])))
    upstream.on(f"{BASE}/einfo.fcgi", Reply(body=_info()))


def _arxiv(seen: Seen) -> Reply:
    asked = parameters(seen)
    count = 3 if asked.get("id_list") else int(asked["max_results"])
    return Reply(body=feed(count).encode())


def _items() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(answer_of_size(100_000))["message"]["items"]
    return items


def _works(seen: Seen) -> Reply:
    asked = parameters(seen)
    items = [] if "updates:" in asked.get("filter", "") else _items()[: int(asked["rows"])]
    message = {"total-results": 370, "items-per-page": len(items), "items": items}
    return Reply(body=json.dumps({"message-type": "work-list", "message": message}).encode())


def _other(seen: Seen) -> Reply:
    """Responds with a work by its DOI, or an e-print's source; every third source is missing."""
    path = unquote(seen.path)
    if path.startswith("/works/"):
        item = next(one for one in _items() if path.startswith(f"/works/{one['DOI']}"))
        return Reply(body=json.dumps({"message-type": "work", "message": item}).encode())
    return Reply(404 if sum(path.encode()) % 3 == 0 else 200)


def _searched(seen: Seen) -> Reply:
    asked = parameters(seen)
    if asked["db"] == "mesh":
        return Reply(body=found("68007405"))
    return Reply(body=found(*_PMIDS[: int(asked.get("retmax", 20))], count=4711))


def _summarised(seen: Seen) -> Reply:
    asked = parameters(seen)
    if asked["db"] == "mesh":
        return Reply(body=_MESH.encode())
    ids = asked.get("id", ",".join(_PMIDS[: int(asked.get("retmax", 10))])).split(",")
    return Reply(body=summaries(*ids))


def _fetched(seen: Seen) -> Reply:
    head, *records = re.split(r"(?=<PubmedArticle>)", record_set_of_size(200_000))
    wanted = parameters(seen)["id"].split(",")
    kept = [
        record.replace("</PubmedArticleSet>", "")
        for record in records
        if any(f">{pmid}</PMID>" in record for pmid in wanted)
    ]
    return Reply(body=f"{head}{''.join(kept)}</PubmedArticleSet>".encode())


def _converted(seen: Seen) -> Reply:
    records: list[dict[str, Any]] = [
        {"requested-id": one, "pmid": int(one), "pmcid": f"PMC{one}", "doi": f"10.5555/ad.{one}"}
        if one.isdigit()
        else {"requested-id": one, "status": "error", "errmsg": "not in PMC"}
        for one in parameters(seen)["ids"].split(",")
    ]
    return Reply(body=json.dumps({"status": "ok", "records": records}).encode())


def _info() -> bytes:
    """Returns EInfo's response for a database with as many fields and links as PubMed."""
    fields = "".join(
        f"<Field><Name>F{number:03d}</Name><FullName>Field number {number}</FullName>"
        f"<Description>What readers know as field {number}</Description>"
        f"<TermCount>{number * 977}</TermCount><IsDate>{'Y' if number % 8 == 0 else 'N'}</IsDate>"
        "<IsNumerical>N</IsNumerical><SingleToken>N</SingleToken><Hierarchy>N</Hierarchy>"
        "<IsHidden>N</IsHidden><IsTruncatable>Y</IsTruncatable><IsRangable>N</IsRangable></Field>"
        for number in range(48)
    )
    found_links = "".join(
        f"<Link><Name>pubmed_db{number}</Name><Menu>Database {number}</Menu>"
        f"<Description>Records of database {number}</Description><DbTo>db{number}</DbTo></Link>"
        for number in range(30)
    )
    return (
        "<eInfoResult><DbInfo><DbName>pubmed</DbName><MenuName>PubMed</MenuName>"
        "<Description>Bibliographic records</Description><DbBuild>Build-1</DbBuild>"
        "<Count>39000000</Count><LastUpdate>2026/01/02 06:33</LastUpdate>"
        f"<FieldList>{fields}</FieldList><LinkList>{found_links}</LinkList></DbInfo></eInfoResult>"
    ).encode()


_MESH: Final = """<eSummaryResult><DocumentSummarySet><DocumentSummary uid="68007405">
<DS_ScopeNote>The design, selection and arrangement of desks, chairs and shelves of a place where
people read.</DS_ScopeNote><DS_YearIntroduced>1975</DS_YearIntroduced>
<DS_MeSHTerms><string>Interior Design and Furnishings</string><string>Furniture</string>
<string>Desks</string></DS_MeSHTerms><DS_MeSHUI>D007405</DS_MeSHUI>
<DS_IdxLinks><LinksType><Parent>1</Parent><TreeNum>J01.494</TreeNum></LinksType></DS_IdxLinks>
</DocumentSummary></DocumentSummarySet></eSummaryResult>"""
