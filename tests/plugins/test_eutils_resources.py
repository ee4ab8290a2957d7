"""Tests the two resources about PubMed, read by URI with the built-in component."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from mcp_types.version import LATEST_PROTOCOL_VERSION

from carrel import __version__
from carrel.config import FetchConfig, load_config
from carrel.errors import UnknownNameError
from carrel.tools import Toolbox
from support.toolboxes import MakeToolbox, parameters
from support.upstream import Reply, Upstream

EINFO = b"""<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE eInfoResult PUBLIC "-//NLM//DTD einfo 20190110//EN"
 "https://eutils.ncbi.nlm.nih.gov/eutils/dtd/20190110/einfo.dtd">
<eInfoResult><DbInfo><DbName>pubmed</DbName><MenuName>PubMed</MenuName>
<Description>PubMed bibliographic record</Description><DbBuild>Build-2026.01.01.00.01</DbBuild>
<Count>40000000</Count><LastUpdate>2026/01/01 00:01</LastUpdate>
<FieldList><Field><Name>AUTH</Name><FullName>Author</FullName><Description>Author(s)</Description>
<TermCount>123</TermCount><IsDate>N</IsDate><IsNumerical>N</IsNumerical>
<SingleToken>Y</SingleToken><Hierarchy>N</Hierarchy><IsHidden>N</IsHidden></Field></FieldList>
<LinkList><Link><Name>pubmed_pubmed_citedin</Name><Menu>Cited In</Menu>
<Description>Cited In</Description><DbTo>pubmed</DbTo></Link></LinkList></DbInfo></eInfoResult>"""

DATED = [("Content-Type", "text/xml"), ("Date", "Fri, 02 Jan 2026 03:04:05 GMT")]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def toolbox(make_toolbox: MakeToolbox, upstream: Upstream) -> Toolbox:
    upstream.on("/entrez/eutils/einfo.fcgi", Reply(body=EINFO, headers=DATED))
    return make_toolbox("eutils", fetch=FetchConfig(contact="someone@example.org"))


def read(toolbox: Toolbox, uri: str) -> dict[str, Any]:
    return asyncio.run(toolbox.read_resource(uri)).data


def test_both_documents_are_on_offer(toolbox: Toolbox) -> None:
    assert [resource.uri for resource in toolbox.resources()] == [
        "pubmed-connect://info",
        "pubmed-connect://stats/pubmed",
    ]


def test_the_statistics_are_those_of_einfo(toolbox: Toolbox) -> None:
    stats = read(toolbox, "pubmed-connect://stats/pubmed")
    assert (stats["database_name"], stats["total_record_count"]) == ("pubmed", 40_000_000)
    [field] = stats["available_search_fields"]
    assert (field["name"], field["full_name"], field["term_count"]) == ("AUTH", "Author", 123)
    assert stats["available_link_names"][0]["db_to"] == "pubmed"


#: The fields that sections 4.1 and 4.2 of the original specification list, in its spelling.
INFO_FIELDS = """
    serverName serverVersion description contactEmail mcpSpecVersion
    ncbiCompliance.apiUsageStatus ncbiCompliance.toolIdentifier ncbiCompliance.ncbiUsagePolicyUrl
    ncbiCompliance.currentRateLimitAdherence supportedEutilities
    operationalStatus.lastNcbiConnectivityCheck operationalStatus.ncbiStatus
    operationalStatus.internalQueueLength documentationUrl
"""
STATS_FIELDS = """
    databaseName menuName description totalRecordCount lastUpdate
    availableSearchFields.name availableSearchFields.fullName availableSearchFields.description
    availableSearchFields.isDate availableSearchFields.isNumerical availableSearchFields.termCount
    availableLinkNames.name availableLinkNames.description availableLinkNames.dbTo eInfoUrl
"""
#: Further fields of the resources.
MORE = {"operational_status.pubmed_last_update"}


def fields(value: Any, place: str = "") -> set[str]:
    """Returns the paths of all scalar values of a document; paths through lists have no
    index.
    """
    if isinstance(value, dict):
        return set().union(*(fields(one, f"{place}.{key}") for key, one in value.items()))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*(fields(one, place) for one in value))
    return {place.removeprefix(".")}


@pytest.mark.parametrize(
    ("uri", "documented"),
    [("pubmed-connect://info", INFO_FIELDS), ("pubmed-connect://stats/pubmed", STATS_FIELDS)],
)
def test_every_field_of_the_founding_document_is_there(
    toolbox: Toolbox, uri: str, documented: str
) -> None:
    snake = {re.sub("([A-Z])", r"_\1", name).lower() for name in documented.split()}
    assert fields(read(toolbox, uri)) - MORE == snake


def test_the_info_shows_the_last_response_and_the_queue(toolbox: Toolbox) -> None:
    status = read(toolbox, "pubmed-connect://info")["operational_status"]
    assert status["last_ncbi_connectivity_check"] == "2026-01-02T03:04:05Z"
    assert status["internal_queue_length"] == 0


def test_the_info_names_the_server_and_its_protocol(toolbox: Toolbox) -> None:
    info = read(toolbox, "pubmed-connect://info")
    assert info["server_version"] == __version__
    assert info["mcp_spec_version"] == LATEST_PROTOCOL_VERSION
    assert (ROOT / info["documentation_url"]).is_file()


class TestSoftware:
    """Tests the parameter `tool` that NCBI gets: a name and a version, without blanks."""

    def test_it_is_carrel_and_its_version(self, toolbox: Toolbox, upstream: Upstream) -> None:
        info = read(toolbox, "pubmed-connect://info")
        assert parameters(upstream.seen[0])["tool"] == f"carrel/{__version__}"
        assert info["ncbi_compliance"]["tool_identifier"] == f"carrel/{__version__}"

    def test_the_variable_of_the_founding_document_sets_it(
        self, make_toolbox: MakeToolbox, upstream: Upstream
    ) -> None:
        upstream.on("/entrez/eutils/einfo.fcgi", Reply(body=EINFO, headers=DATED))
        config = load_config(env={"NCBI_TOOL_IDENTIFIER": "pubmed-desk/2", "HOME": "/nowhere"})
        (entry,) = (one for one in config.plugins if one.name == "eutils")
        toolbox = make_toolbox(entry)
        info = read(toolbox, "pubmed-connect://info")
        assert parameters(upstream.seen[0])["tool"] == "pubmed-desk/2"
        assert info["ncbi_compliance"]["tool_identifier"] == "pubmed-desk/2"
        # It is not secret: a response that contains it is not redacted.
        assert read(toolbox, "pubmed-connect://stats/pubmed")["database_name"] == "pubmed"


def test_reading_without_an_event_loop_returns_the_same(toolbox: Toolbox) -> None:
    uri = "pubmed-connect://stats/pubmed"
    assert toolbox.read_resource_sync(uri).data == read(toolbox, uri)
    with pytest.raises(UnknownNameError, match="did you mean 'pubmed-connect://info'"):
        toolbox.read_resource_sync("pubmed-connect://inf")


@pytest.mark.requirement("sandbox:secrets:resource")
def test_the_info_shows_that_a_contact_is_set_and_not_its_value(
    toolbox: Toolbox, upstream: Upstream
) -> None:
    info = read(toolbox, "pubmed-connect://info")
    assert info["operational_status"]["ncbi_status"] == "Nominal"
    assert info["contact_email"] == "set"
    assert "example.org" not in str(info)
    assert "someone%40example.org" in upstream.seen[0].path


def test_the_info_resource_reports_an_unavailable_ncbi(
    toolbox: Toolbox, upstream: Upstream
) -> None:
    upstream.on("/entrez/eutils/einfo.fcgi", Reply(503))
    status = read(toolbox, "pubmed-connect://info")["operational_status"]["ncbi_status"]
    assert status != "Nominal"
