"""Tests the three PubMed tools of the original specification with the official client.

A server answers every call of `CALLS` from `examples/recordings/pubmed`, whose articles are
invented. `DOCUMENT` lists the arguments of sections 3.1 to 3.3 of the specification in snake_case.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

RECORDING = Path(__file__).parents[2] / "examples" / "recordings" / "pubmed"

#: Each argument of the specification; an enumeration with its values.
DOCUMENT: dict[str, dict[str, set[str]]] = {
    "pubmed_search": {
        "query_term": set(),
        "max_results": set(),
        "sort_by": {"relevance", "pub_date", "author", "journal_name"},
        "date_range.min_date": set(),
        "date_range.max_date": set(),
        "date_range.date_type": {"pdat", "mdat", "edat"},
        "filter_by_publication_types": set(),
        "fetch_brief_summaries": set(),
    },
    "pubmed_fetch": {
        "pmids": set(),
        "detail_level": {"abstract_plus", "full_xml", "medline_text", "citation_data"},
        "include_mesh_terms": set(),
        "include_grant_info": set(),
    },
    "pubmed_related": {
        "source_pmid": set(),
        "relationship_type": {
            "pubmed_similar_articles",
            "pubmed_citedin",
            "pubmed_references",
            "citation_formats",
        },
        "max_related_results": set(),
        "citation_styles": {"ris", "bibtex", "apa_string", "mla_string"},
    },
}

TRIAL, RETRACTED, MISSING = "99000101", "99000102", "99000999"
PMIDS = [TRIAL, RETRACTED, MISSING]
STYLES = ["ris", "bibtex", "apa_string", "mla_string"]

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "ranked": (
        "pubmed_search",
        {
            "query_term": "reading desk AND posture",
            "max_results": 3,
            "sort_by": "relevance",
            "date_range": {"min_date": "2019", "max_date": "2024/06/30", "date_type": "pdat"},
            "filter_by_publication_types": ["Review", "Clinical Trial"],
            "fetch_brief_summaries": 2,
        },
    ),
    "newest": (
        "pubmed_search",
        {
            "query_term": "reading desk",
            "max_results": 2,
            "sort_by": "pub_date",
            "date_range": {"min_date": "2020/05", "date_type": "edat"},
        },
    ),
    "by author": (
        "pubmed_search",
        {
            "query_term": "reading desk",
            "max_results": 2,
            "sort_by": "author",
            "date_range": {"max_date": "2023", "date_type": "mdat"},
        },
    ),
    "by journal": (
        "pubmed_search",
        {
            "query_term": "reading desk",
            "max_results": 2,
            "sort_by": "journal_name",
            "use_history": True,
        },
    ),
    "next page": (
        "pubmed_search",
        {
            "query_term": "reading desk",
            "max_results": 2,
            "sort_by": "journal_name",
            "offset": 2,
            "web_env": "MCID_99desk",
            "query_key": "1",
        },
    ),
    "rewritten": ("pubmed_search", {"query_term": "the desk AND qwzxdesk", "max_results": 1}),
    "nothing": ("pubmed_search", {"query_term": "qwzxdesk[tiab]", "fetch_brief_summaries": 5}),
    "abstracts": (
        "pubmed_fetch",
        {"pmids": PMIDS, "detail_level": "abstract_plus", "include_grant_info": True},
    ),
    "without mesh": ("pubmed_fetch", {"pmids": PMIDS, "include_mesh_terms": False}),
    "for citing": ("pubmed_fetch", {"pmids": PMIDS, "detail_level": "citation_data"}),
    "as xml": ("pubmed_fetch", {"pmids": PMIDS, "detail_level": "full_xml"}),
    "as medline": ("pubmed_fetch", {"pmids": PMIDS, "detail_level": "medline_text"}),
    "many": (
        "pubmed_fetch",
        {"pmids": [TRIAL, *map(str, range(99_001_000, 99_001_149))]},
    ),
    "similar": (
        "pubmed_related",
        {
            "source_pmid": TRIAL,
            "relationship_type": "pubmed_similar_articles",
            "max_related_results": 2,
        },
    ),
    "scored": ("pubmed_related", {"source_pmid": TRIAL, "include_scores": True}),
    "citing": (
        "pubmed_related",
        {"source_pmid": TRIAL, "relationship_type": "pubmed_citedin"},
    ),
    "cited": (
        "pubmed_related",
        {"source_pmid": TRIAL, "relationship_type": "pubmed_references"},
    ),
    "cited by none": (
        "pubmed_related",
        {"source_pmid": "99000105", "relationship_type": "pubmed_citedin"},
    ),
    "citation": (
        "pubmed_related",
        {
            "source_pmid": TRIAL,
            "relationship_type": "citation_formats",
            "citation_styles": STYLES,
        },
    ),
    "plain citation": (
        "pubmed_related",
        {"source_pmid": RETRACTED, "relationship_type": "citation_formats"},
    ),
    "no citation": (
        "pubmed_related",
        {"source_pmid": MISSING, "relationship_type": "citation_formats"},
    ),
}

Answers = Mapping[str, Any]


@pytest.fixture(scope="module")
def session(
    code_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, Any], Answers]:
    """Returns the listed tools and the result of each call."""
    folder = tmp_path_factory.mktemp("server")
    settings = folder / "carrel.json"
    folders = {"cache_dir": str(code_folder), "data_dir": str(folder)}
    settings.write_text(json.dumps(folders), encoding="utf-8")
    arguments = ["-m", "carrel", "serve", "--config", str(settings), "--replay", str(RECORDING)]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    tools: dict[str, Any] = {}
    answers: dict[str, Any] = {}

    async def drive() -> None:
        async with Client(stdio_client(server)) as client:
            tools.update({tool.name: tool for tool in (await client.list_tools()).tools})
            for name, (tool, values) in CALLS.items():
                answers[name] = await client.call_tool(tool, values)

    anyio.run(drive)
    return tools, answers


@pytest.fixture
def answers(session: tuple[dict[str, Any], Answers]) -> Answers:
    return session[1]


def data(answers: Answers, name: str) -> Any:
    """Returns a call's result, after checking that both of its forms are equal."""
    answer = answers[name]
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content
    return answer.structured_content


def used(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the paths of the arguments, with the values of each."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from used(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


@pytest.mark.requirement("result:typed:pubmed-document")
@pytest.mark.parametrize("tool", DOCUMENT)
def test_every_argument_and_value_of_the_document_is_offered_and_used(
    session: tuple[dict[str, Any], Answers], tool: str
) -> None:
    seen: dict[str, set[str]] = {}
    for called, values in CALLS.values():
        if called == tool:
            for name, value in used(values):
                given = value if isinstance(value, list) else [value]
                seen.setdefault(name, set()).update(map(str, given))
    properties = session[0][tool].input_schema["properties"]
    for name, words in DOCUMENT[tool].items():
        assert words <= seen.get(name, set()), f"{name} is not used"
        assert name in seen, f"{name} is not used"
        member: Any = {"properties": properties}
        for step in name.split("."):
            member = member["properties"][step]
        offered = member.get("items", member).get("enum", [])
        assert words == set(offered), name


@pytest.mark.parametrize(
    ("tool", "argument", "limits"),
    [
        ("pubmed_search", "query_term", {"minLength": 3}),
        ("pubmed_search", "max_results", {"minimum": 1, "maximum": 1000, "default": 20}),
        ("pubmed_search", "sort_by", {"default": "relevance"}),
        ("pubmed_search", "fetch_brief_summaries", {"minimum": 0, "maximum": 100, "default": 0}),
        ("pubmed_fetch", "pmids", {"minItems": 1, "maxItems": 200}),
        ("pubmed_fetch", "detail_level", {"default": "abstract_plus"}),
        ("pubmed_fetch", "include_mesh_terms", {"default": True}),
        ("pubmed_fetch", "include_grant_info", {"default": False}),
        ("pubmed_related", "relationship_type", {"default": "pubmed_similar_articles"}),
        ("pubmed_related", "max_related_results", {"minimum": 1, "maximum": 50, "default": 5}),
        ("pubmed_related", "citation_styles", {"default": ["ris"]}),
    ],
)
def test_the_limits_and_defaults_are_the_documents(
    session: tuple[dict[str, Any], Answers], tool: str, argument: str, limits: dict[str, Any]
) -> None:
    member = session[0][tool].input_schema["properties"][argument]
    assert {key: member.get(key) for key in limits} == limits


def test_a_search_returns_the_query_the_count_and_the_request(answers: Answers) -> None:
    found = data(answers, "ranked")
    assert found["search_parameters"] == CALLS["ranked"][1]
    assert found["effective_e_search_term"] == (
        "(reading desk AND posture) AND "
        '("Review"[Publication Type] OR "Clinical Trial"[Publication Type])'
    )
    assert (found["total_found"], found["retrieved_pmid_count"]) == (17, 3)
    assert found["pmids"] == [TRIAL, RETRACTED, "99000103"]
    assert found["brief_summaries"] == [
        {
            "pmid": TRIAL,
            "title": "Reading at a sloped desk: a randomised trial of posture & CO₂.",
            "authors": "Núñez-Reader A, van der Shelf J Jr, Quiet Desks Study Group",
            "source": "Ann Desks",
            "pub_date": "2023-03-15",
            "epub_date": "2023-02-01",
            "doi": "10.5555/desk.2023.101",
            "pmcid": "PMC9900101",
        },
        {
            "pmid": RETRACTED,
            "title": "Effects of lamp light on reading: a review",
            "authors": "Lampe K",
            "source": "Furnit Rev",
            "pub_date": "2021",
            "doi": "10.5555/lamp(2021)102",
        },
    ]
    for address, utility in (("e_search_url", "esearch"), ("e_summary_url", "esummary")):
        start = f"https://eutils.ncbi.nlm.nih.gov/entrez/eutils/{utility}.fcgi?db=pubmed&"
        assert found[address].startswith(start)
    assert "mindate=2019&maxdate=2024/06/30" in found["e_search_url"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("newest", "sort=pub_date&datetype=edat&mindate=2020/05&maxdate=3000"),
        ("by author", "sort=Author&datetype=mdat&mindate=1000&maxdate=2023"),
        ("by journal", "sort=JournalName&usehistory=y"),
    ],
)
def test_every_order_and_kind_of_date_reaches_ncbi(answers: Answers, name: str, words: str) -> None:
    found = data(answers, name)
    assert words in found["e_search_url"]
    assert (len(found["pmids"]), found["next_offset"], found["brief_summaries"]) == (2, 2, [])


def test_pages_continue_by_offset_and_history_to_the_end(answers: Answers) -> None:
    first, second = data(answers, "by journal"), data(answers, "next page")
    assert (first["web_env"], first["query_key"]) == ("MCID_99desk", "1")
    assert second["offset"] == first["next_offset"]
    assert not set(first["pmids"]) & set(second["pmids"])
    assert "next_offset" not in second
    assert first["total_found"] == len(first["pmids"]) + len(second["pmids"])


def test_terms_that_ncbi_ignored_or_rewrote_are_reported(answers: Answers) -> None:
    notices = data(answers, "rewritten")["notices"]
    assert [any(word in notice for notice in notices) for word in ("qwzxdesk", '"the"', "[MeSH")]
    assert any('ignored "the"' in notice for notice in notices), notices
    assert any("furniture" in notice for notice in notices), notices
    nothing = data(answers, "nothing")
    assert (nothing["total_found"], nothing["pmids"], nothing["brief_summaries"]) == (0, [], [])
    assert nothing["notices"] == ['PubMed does not know the phrase "qwzxdesk[tiab]"']


def test_abstracts_have_all_fields_of_the_specification(answers: Answers) -> None:
    found = data(answers, "abstracts")
    assert found["requested_pmids"] == PMIDS
    assert found["not_found_pmids"] == [MISSING]
    assert found["e_fetch_details"]["request_method"] == "GET"
    trial, retracted = found["articles"]
    assert trial["title"] == "Reading at a sloped desk: a randomised trial of posture & CO₂."
    assert trial["abstract_text"] == (
        "BACKGROUND: Slopes of 10⁻³ rad are felt. METHODS: We measured x² in 24 readers. "
        "RESULTS: Posture improved (P<0.001)."
    )
    assert trial["authors"] == [
        {
            "last_name": "Núñez-Reader",
            "first_name": "Ada",
            "initials": "A",
            "orcid": "0000-0002-1825-0097",
            "affiliations": ["Library of Nowhere, Nowhere.", "School of Desks."],
        },
        {
            "last_name": "van der Shelf",
            "first_name": "Jan",
            "initials": "J",
            "suffix": "Jr",
        },
        {"collective_name": "Quiet Desks Study Group"},
    ]
    journal = trial["journal_info"]
    assert journal["publication_date"] == {"year": 2023, "month": "Mar", "day": 15}
    assert [journal[key] for key in ("title", "iso_abbreviation", "volume", "issue", "pages")] == [
        "Annals of Desks",
        "Ann Desks",
        "12",
        "3",
        "737-48",
    ]
    assert trial["publication_types"] == ["Journal Article", "Randomized Controlled Trial"]
    assert trial["keywords"] == ["posture", "reading desk"]
    assert trial["mesh_terms"][1] == {
        "descriptor_name": "Posture",
        "ui": "D011187",
        "is_major_topic": False,
        "qualifiers": [{"name": "physiology", "ui": "Q000502", "is_major_topic": True}],
    }
    assert trial["grant_list"] == [
        {
            "grant_id": "R01 XX000101",
            "acronym": "XX",
            "agency": "NXX NIH HHS",
            "country": "United States",
        }
    ]
    assert (trial["doi"], trial["pmcid"]) == ("10.5555/desk.2023.101", "PMC9900101")
    assert retracted["journal_info"]["publication_date"] == {"medline_date": "2021 Nov-Dec"}
    [notice] = retracted["comments_corrections"]
    assert (notice["ref_type"], notice["pmid"]) == ("RetractionIn", "99000104")


def test_each_level_of_detail_returns_its_fields(answers: Answers) -> None:
    for article in data(answers, "without mesh")["articles"]:
        assert not {"mesh_terms", "grant_list"} & set(article)
        assert article["abstract_text"]
    cited = data(answers, "for citing")["articles"]
    for article in cited:
        assert not {"abstract_text", "grant_list"} & set(article)
        assert {"title", "authors", "journal_info", "doi"} <= set(article)
    # Only articles that have any.
    assert any("mesh_terms" in article for article in cited)
    for name, media_type, begins in (
        ("as xml", "application/xml", r"<PubmedArticle>\s*<MedlineCitation"),
        ("as medline", "text/plain", "PMID- "),
    ):
        found = data(answers, name)
        assert [one["pmid"] for one in found["documents"]] == [TRIAL, RETRACTED]
        assert {one["media_type"] for one in found["documents"]} == {media_type}
        assert all(re.match(begins, one["text"]) for one in found["documents"])
        assert found["not_found_pmids"] == [MISSING]
        assert "articles" not in found


def test_a_long_list_of_pmids_is_posted(answers: Answers) -> None:
    found = data(answers, "many")
    assert found["e_fetch_details"] == {
        "urls": ["https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"],
        "request_method": "POST",
    }
    assert [article["pmid"] for article in found["articles"]] == [TRIAL]
    assert len(found["not_found_pmids"]) == 149


def test_related_articles_have_title_authors_doi_and_link(answers: Answers) -> None:
    similar = data(answers, "similar")
    assert similar["related_articles"] == [
        {
            "pmid": RETRACTED,
            "title": "Effects of lamp light on reading: a review",
            "authors": "Lampe K",
            "source": "Furnit Rev",
            "pub_date": "2021",
            "doi": "10.5555/lamp(2021)102",
            "link_url": f"https://pubmed.ncbi.nlm.nih.gov/{RETRACTED}/",
        },
        {
            "pmid": "99000103",
            "title": "Shelves within reach",
            "authors": "Shelf B, Plank P, Board C, et al.",
            "source": "J Shelv",
            "pub_date": "2022-11",
            "link_url": "https://pubmed.ncbi.nlm.nih.gov/99000103/",
        },
    ]
    assert (similar["retrieved_count"], similar["total_found"], similar["citations"]) == (2, 4, {})
    scores = [article["score"] for article in data(answers, "scored")["related_articles"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 4
    citing, cited = data(answers, "citing"), data(answers, "cited")
    assert [article["pmid"] for article in citing["related_articles"]] == ["99000105"]
    assert [article["pmid"] for article in cited["related_articles"]] == ["99000103", "99000104"]
    for found, link in ((similar, "pubmed_pubmed"), (citing, "pubmed_pubmed_citedin")):
        words = f"cmd=neighbor&linkname={link}&id={TRIAL}"
        assert words in found["e_link_url"]
    nobody = data(answers, "cited by none")
    assert (nobody["related_articles"], nobody["total_found"]) == ([], 0)


def test_citations_have_the_requested_styles(answers: Answers) -> None:
    citations = data(answers, "citation")["citations"]
    assert set(citations) == set(STYLES)
    assert citations["apa_string"] == (
        "Núñez-Reader, A., van der Shelf, J., Jr., & Quiet Desks Study Group. (2023). Reading at "
        "a sloped desk: a randomised trial of posture & CO₂. Annals of Desks, 12(3), 737\u2013748. "
        "https://doi.org/10.5555/desk.2023.101"
    )
    assert citations["mla_string"].startswith("Núñez-Reader, Ada, et al. “Reading at a sloped")
    ris = citations["ris"].splitlines()
    assert (ris[0], ris[-1]) == ("TY  - JOUR", "ER  - ")
    assert {"SP  - 737", "EP  - 748", "DO  - 10.5555/desk.2023.101"} <= set(ris)
    assert citations["bibtex"].startswith(f"@article{{pmid{TRIAL},")
    assert r"posture \& CO" in citations["bibtex"]
    assert set(data(answers, "plain citation")["citations"]) == {"ris"}


def test_the_citation_of_an_unknown_article_is_an_error(answers: Answers) -> None:
    answer = answers["no citation"]
    assert answer.is_error
    assert json.loads(answer.content[1].text)["error"]["code"] == "not_found"
