"""Tests the surface `pubmed-mcp-server` with the official client and every argument.

`DOCUMENT` lists the arguments of sections 3.1 to 3.3 of its specification, `RESULTS` and `STATS`
the members of its results.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.stdio_client import StdioClient
from support.surfaces import Answers, ask, recording, serve_command

EINFO_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/einfo.fcgi?db=pubmed"
EINFO = b"""<?xml version="1.0" encoding="UTF-8" ?>
<eInfoResult><DbInfo><DbName>pubmed</DbName><MenuName>PubMed</MenuName>
<Description>PubMed bibliographic record</Description><DbBuild>Build-2026.01.01.00.01</DbBuild>
<Count>40000000</Count><LastUpdate>2026/01/01 00:01</LastUpdate>
<FieldList><Field><Name>AUTH</Name><FullName>Author</FullName><Description>Author(s)</Description>
<TermCount>123</TermCount><IsDate>N</IsDate><IsNumerical>N</IsNumerical>
<SingleToken>Y</SingleToken><Hierarchy>N</Hierarchy><IsHidden>N</IsHidden></Field></FieldList>
<LinkList><Link><Name>pubmed_pubmed_citedin</Name><Menu>Cited In</Menu>
<Description>Cited In</Description><DbTo>pubmed</DbTo></Link></LinkList></DbInfo></eInfoResult>"""

INFO, STATS = "pubmed-connect://info", "pubmed-connect://stats/pubmed"
TRIAL, RETRACTED, MISSING = "99000101", "99000102", "99000999"
PMIDS = [TRIAL, RETRACTED, MISSING]
STYLES = ["ris", "bibtex", "apa_string", "mla_string"]
SEARCH, DETAILS, RELATIONS = (
    "searchPubMedArticles",
    "fetchArticleDetails",
    "getArticleRelationships",
)
DESK = {"queryTerm": "reading desk", "maxResults": 2}

#: Each argument of the specification; an enumeration with its values.
DOCUMENT: dict[str, dict[str, set[str]]] = {
    SEARCH: {
        "queryTerm": set(),
        "maxResults": set(),
        "sortBy": {"relevance", "pub_date", "author", "journal_name"},
        "dateRange.minDate": set(),
        "dateRange.maxDate": set(),
        "dateRange.dateType": {"pdat", "mdat", "edat"},
        "filterByPublicationTypes": set(),
        "fetchBriefSummaries": set(),
    },
    DETAILS: {
        "pmids": set(),
        "detailLevel": {"abstract_plus", "full_xml", "medline_text", "citation_data"},
        "includeMeshTerms": set(),
        "includeGrantInfo": set(),
    },
    RELATIONS: {
        "sourcePmid": set(),
        "relationshipType": {
            "pubmed_similar_articles",
            "pubmed_citedin",
            "pubmed_references",
            "citation_formats",
        },
        "maxRelatedResults": set(),
        "citationStyles": set(STYLES),
    },
}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "ranked": (
        SEARCH,
        {
            "queryTerm": "reading desk AND posture",
            "maxResults": 3,
            "sortBy": "relevance",
            "dateRange": {"minDate": "2019", "maxDate": "2024/06/30", "dateType": "pdat"},
            "filterByPublicationTypes": ["Review", "Clinical Trial"],
            "fetchBriefSummaries": 2,
        },
    ),
    "newest": (
        SEARCH,
        {**DESK, "sortBy": "pub_date", "dateRange": {"minDate": "2020/05", "dateType": "edat"}},
    ),
    "by author": (
        SEARCH,
        {**DESK, "sortBy": "author", "dateRange": {"maxDate": "2023", "dateType": "mdat"}},
    ),
    "nothing": (SEARCH, {"queryTerm": "qwzxdesk[tiab]", "fetchBriefSummaries": 5}),
    "by journal": (SEARCH, {**DESK, "sortBy": "journal_name"}),
    "short": (SEARCH, {"queryTerm": "ab"}),
    "abstracts": (
        DETAILS,
        {"pmids": PMIDS, "detailLevel": "abstract_plus", "includeGrantInfo": True},
    ),
    "without mesh": (DETAILS, {"pmids": PMIDS, "includeMeshTerms": False}),
    "for citing": (DETAILS, {"pmids": PMIDS, "detailLevel": "citation_data"}),
    "as xml": (DETAILS, {"pmids": PMIDS, "detailLevel": "full_xml"}),
    "as medline": (DETAILS, {"pmids": PMIDS, "detailLevel": "medline_text"}),
    "many": (DETAILS, {"pmids": [TRIAL, *map(str, range(99_001_000, 99_001_149))]}),
    "similar": (
        RELATIONS,
        {
            "sourcePmid": TRIAL,
            "relationshipType": "pubmed_similar_articles",
            "maxRelatedResults": 2,
        },
    ),
    "citing": (RELATIONS, {"sourcePmid": TRIAL, "relationshipType": "pubmed_citedin"}),
    "cited": (RELATIONS, {"sourcePmid": TRIAL, "relationshipType": "pubmed_references"}),
    "citation": (
        RELATIONS,
        {"sourcePmid": TRIAL, "relationshipType": "citation_formats", "citationStyles": STYLES},
    ),
    "words": (RELATIONS, {"sourcePmid": "desk"}),
    "typo": (RELATIONS, {"sourcePmid": TRIAL, "maxResults": 3}),
}

#: The exchange that only this test needs: a search by journal without the history server.
JOURNAL_URL = (
    "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&term=reading%20desk"
    "&retmode=xml&retmax=2&retstart=0&sort=JournalName"
)
ESEARCH = b"""<?xml version="1.0" encoding="UTF-8" ?>
<eSearchResult><Count>2</Count><RetMax>2</RetMax><RetStart>0</RetStart>
<IdList><Id>99000103</Id><Id>99000102</Id></IdList><TranslationSet/>
<QueryTranslation>reading desk</QueryTranslation></eSearchResult>"""


@pytest.fixture(scope="module")
def answers(code_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    folder = tmp_path_factory.mktemp("pubmed")
    exchanges = [(EINFO_URL, "text/xml", EINFO), (JOURNAL_URL, "text/xml", ESEARCH)]
    replay = recording(folder / "recording", exchanges, example="pubmed")
    settings = {"cache_dir": str(code_folder), "data_dir": str(folder)}
    options = ("--surface", "pubmed-mcp-server", "--replay", str(replay))
    return ask(serve_command(folder, settings, *options), CALLS, resources=[INFO, STATS])


def used(values: Mapping[str, Any], prefix: str = "") -> dict[str, set[str]]:
    """Returns the paths of the arguments, with the values of each."""
    found: dict[str, set[str]] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found.update(used(value, f"{prefix}{name}."))
        else:
            given = value if isinstance(value, list) else [value]
            found[prefix + name] = set(map(str, given))
    return found


@pytest.mark.requirement("surface:listed:pubmed-mcp-server")
def test_the_three_tools_and_two_resources_are_listed_and_nothing_else(answers: Answers) -> None:
    assert list(answers.tools) == [SEARCH, DETAILS, RELATIONS]
    assert {uri: one.name for uri, one in answers.listed.items()} == {
        INFO: "serverInfo",
        STATS: "getPubMedStats",
    }
    assert not answers.prompts


@pytest.mark.requirement("surface:listed:health")
def test_carrels_own_resource_and_tools_are_unknown(code_folder: Path, tmp_path: Path) -> None:
    settings = {
        "cache_dir": str(code_folder),
        "data_dir": str(tmp_path),
        "server": {"surface": "pubmed-mcp-server", "text": "compact"},
    }
    with StdioClient(serve_command(tmp_path, settings)) as client:
        opened = client.open()
        assert "pubmed_search" not in opened["instructions"]
        refused = client.request("resources/read", {"uri": "carrel://health"})
        assert "carrel://" not in refused["error"]["message"]
        unknown = client.call("pubmed_search", query_term="desk")
        assert "searchPubMedArticles" in unknown["error"]["message"]
        # `server.text` does not change a surface's text.
        asked = client.result("searchPubMedArticles", queryTerm="ab")
        assert asked["isError"]


@pytest.mark.requirement("surface:arguments:pubmed-mcp-server")
@pytest.mark.parametrize("tool", DOCUMENT)
def test_every_argument_and_value_of_the_specification_is_offered_and_used(
    answers: Answers, tool: str
) -> None:
    seen: dict[str, set[str]] = {}
    for called, values in CALLS.values():
        if called == tool:
            for name, words in used(values).items():
                seen.setdefault(name, set()).update(words)
    properties = answers.tools[tool].input_schema["properties"]
    for name, words in DOCUMENT[tool].items():
        assert name in seen, f"{name} is not used"
        assert words <= seen[name], f"{name} is not used with every value"
        member: Any = {"properties": properties}
        for step in name.split("."):
            member = member["properties"][step]
        assert words == set(member.get("items", member).get("enum", [])), name


@pytest.mark.requirement("surface:arguments:limits")
@pytest.mark.parametrize(
    ("tool", "argument", "limits"),
    [
        (SEARCH, "queryTerm", {"minLength": 3}),
        (SEARCH, "maxResults", {"minimum": 1, "maximum": 1000, "default": 20}),
        (SEARCH, "sortBy", {"default": "relevance"}),
        (SEARCH, "fetchBriefSummaries", {"minimum": 0, "maximum": 100, "default": 0}),
        (DETAILS, "pmids", {"minItems": 1, "maxItems": 200}),
        (DETAILS, "detailLevel", {"default": "abstract_plus"}),
        (DETAILS, "includeMeshTerms", {"default": True}),
        (DETAILS, "includeGrantInfo", {"default": False}),
        (RELATIONS, "relationshipType", {"default": "pubmed_similar_articles"}),
        (RELATIONS, "maxRelatedResults", {"minimum": 1, "maximum": 50, "default": 5}),
        (RELATIONS, "citationStyles", {"default": ["ris"]}),
    ],
)
def test_the_limits_and_defaults_are_those_of_the_specification(
    answers: Answers, tool: str, argument: str, limits: dict[str, Any]
) -> None:
    member = answers.tools[tool].input_schema["properties"][argument]
    assert {key: member.get(key) for key in limits} == limits


@pytest.mark.requirement("surface:results:pubmed-mcp-server")
def test_a_search_has_the_members_of_the_specification(answers: Answers) -> None:
    found = answers.data("ranked")
    assert found["searchParameters"] == CALLS["ranked"][1]
    assert found["effectiveESearchTerm"] == (
        "(reading desk AND posture) AND "
        '("Review"[Publication Type] OR "Clinical Trial"[Publication Type])'
    )
    assert (found["totalFound"], found["retrievedPmidCount"]) == (17, 3)
    assert found["pmids"] == [TRIAL, RETRACTED, "99000103"]
    assert found["briefSummaries"][0] == {
        "pmid": TRIAL,
        "title": "Reading at a sloped desk: a randomised trial of posture & CO₂.",
        "authors": "Núñez-Reader A, van der Shelf J Jr, Quiet Desks Study Group",
        "source": "Ann Desks. 2023 Mar",
        "pubDate": "2023-03-15",
        "epubDate": "2023-02-01",
    }
    assert found["briefSummaries"][1]["source"] == "Furnit Rev. 2021"
    start = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/"
    assert found["eSearchUrl"].startswith(f"{start}esearch.fcgi?db=pubmed&")
    assert found["eSummaryUrl"].startswith(f"{start}esummary.fcgi?db=pubmed&version=2.0&")
    assert set(found) == {
        "searchParameters",
        "effectiveESearchTerm",
        "totalFound",
        "retrievedPmidCount",
        "pmids",
        "briefSummaries",
        "eSearchUrl",
        "eSummaryUrl",
    }
    assert "eSummaryUrl" not in answers.data("newest")
    assert answers.data("nothing")["pmids"] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("newest", "sort=pub_date&datetype=edat&mindate=2020/05"),
        ("by author", "sort=Author&datetype=mdat"),
        ("by journal", "sort=JournalName"),
    ],
)
def test_orders_and_dates_reach_ncbi(answers: Answers, name: str, words: str) -> None:
    assert words in answers.data(name)["eSearchUrl"]


def test_articles_have_the_members_of_the_specification(answers: Answers) -> None:
    found = answers.data("abstracts")
    assert set(found) == {"requestedPmids", "articles", "notFoundPmids", "eFetchDetails"}
    assert (found["requestedPmids"], found["notFoundPmids"]) == (PMIDS, [MISSING])
    assert found["eFetchDetails"]["requestMethod"] == "GET"
    trial, retracted = found["articles"]
    assert set(trial) == {
        "pmid",
        "title",
        "abstractText",
        "authors",
        "journalInfo",
        "publicationTypes",
        "keywords",
        "meshTerms",
        "grantList",
        "doi",
    }
    assert trial["authors"][0] == {
        "lastName": "Núñez-Reader",
        "firstName": "Ada",
        "initials": "A",
        "affiliation": "Library of Nowhere, Nowhere.; School of Desks.",
    }
    assert trial["authors"][2] == {"collectiveName": "Quiet Desks Study Group"}
    assert trial["journalInfo"] == {
        "title": "Annals of Desks",
        "isoAbbreviation": "Ann Desks",
        "volume": "12",
        "issue": "3",
        "pages": "737-48",
        "publicationDate": {"year": 2023, "month": "Mar", "day": 15},
    }
    assert trial["meshTerms"] == [
        {"descriptorName": "Humans", "isMajorTopic": False, "ui": "D006801"},
        {
            "descriptorName": "Posture",
            "qualifierName": "physiology",
            "isMajorTopic": True,
            "ui": "D011187",
        },
    ]
    assert trial["grantList"] == [
        {"grantId": "R01 XX000101", "agency": "NXX NIH HHS", "country": "United States"}
    ]
    date = retracted["journalInfo"]["publicationDate"]
    assert date == {"year": 2021, "medlineDate": "2021 Nov-Dec"}


def test_each_level_of_detail_has_its_form(answers: Answers) -> None:
    for article in answers.data("without mesh")["articles"]:
        assert not {"meshTerms", "grantList"} & set(article)
    for article in answers.data("for citing")["articles"]:
        assert not {"abstractText", "grantList", "keywords"} & set(article)
    xml, medline = answers.results["as xml"], answers.results["as medline"]
    assert xml.content[0].text.startswith("<PubmedArticleSet>\n<PubmedArticle>")
    assert xml.content[0].text.count("<MedlineCitation") == 2
    assert medline.content[0].text.startswith("PMID- ")
    for one in (xml, medline):
        assert one.structured_content["notFoundPmids"] == [MISSING]
        assert set(one.structured_content) == {"requestedPmids", "notFoundPmids", "eFetchDetails"}
    assert answers.data("many")["eFetchDetails"]["requestMethod"] == "POST"


def test_relationships_have_the_members_of_the_specification(answers: Answers) -> None:
    similar = answers.data("similar")
    assert similar["relatedArticles"][0] == {
        "pmid": RETRACTED,
        "title": "Effects of lamp light on reading: a review",
        "authors": "Lampe K",
        "linkUrl": f"https://pubmed.ncbi.nlm.nih.gov/{RETRACTED}/",
    }
    assert (similar["sourcePmid"], similar["retrievedCount"], similar["citations"]) == (
        TRIAL,
        2,
        {},
    )
    for name in ("similar", "citing", "cited"):
        assert answers.data(name)["relationshipType"] == CALLS[name][1]["relationshipType"]
        assert "elink.fcgi?" in answers.data(name)["eLinkUrl"]
    citation = answers.data("citation")
    assert (list(citation["citations"]), citation["relatedArticles"]) == (STYLES, [])


def test_arguments_that_the_schema_refuses_are_errors_with_a_reason(answers: Answers) -> None:
    for name, words in (("short", "queryTerm"), ("words", "sourcePmid"), ("typo", "'maxResults'")):
        result = answers.results[name]
        assert result.is_error
        assert words in result.content[0].text


@pytest.mark.requirement("surface:resources:pubmed-mcp-server")
def test_resources_are_json_in_base64(answers: Answers) -> None:
    values = {}
    for uri, contents in answers.contents.items():
        assert contents.mime_type == "application/json"
        values[uri] = json.loads(base64.b64decode(contents.blob, validate=True))
    stats = values[STATS]
    assert (stats["totalRecordCount"], stats["eInfoUrl"]) == (40_000_000, EINFO_URL)
    [search_field] = stats["availableSearchFields"]
    assert set(search_field) == {
        "name",
        "fullName",
        "description",
        "isDate",
        "isNumerical",
        "termCount",
    }
    assert set(stats["availableLinkNames"][0]) == {"name", "description", "dbTo"}
    info = values[INFO]
    assert set(info) == {
        "serverName",
        "serverVersion",
        "description",
        "contactEmail",
        "mcpSpecVersion",
        "ncbiCompliance",
        "supportedEutilities",
        "operationalStatus",
        "documentationUrl",
    }
    assert set(info["operationalStatus"]) <= {
        "lastNcbiConnectivityCheck",
        "ncbiStatus",
        "internalQueueLength",
    }
