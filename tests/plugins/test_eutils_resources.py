"""The two documents about PubMed, read by URI through the real component."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from carrel.config import FetchConfig
from carrel.tools import Toolbox
from support.boxes import MakeBox
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


@pytest.fixture
def toolbox(make_box: MakeBox, upstream: Upstream) -> Toolbox:
    upstream.on("/entrez/eutils/einfo.fcgi", Reply(body=EINFO))
    return make_box("eutils", fetch=FetchConfig(contact="someone@example.org"))


def read(box: Toolbox, uri: str) -> dict[str, Any]:
    return asyncio.run(box.read_resource(uri)).data


def test_both_documents_are_on_offer(toolbox: Toolbox) -> None:
    assert [resource.uri for resource in toolbox.resources()] == [
        "pubmed-connect://info",
        "pubmed-connect://stats/pubmed",
    ]


def test_the_statistics_are_what_einfo_says(toolbox: Toolbox) -> None:
    stats = read(toolbox, "pubmed-connect://stats/pubmed")
    assert (stats["database_name"], stats["total_record_count"]) == ("pubmed", 40_000_000)
    [field] = stats["available_search_fields"]
    assert (field["name"], field["full_name"], field["term_count"]) == ("AUTH", "Author", 123)
    assert stats["available_link_names"][0]["db_to"] == "pubmed"


@pytest.mark.requirement("sandbox:secrets:resource")
def test_the_info_says_that_a_contact_is_set_and_not_which(
    toolbox: Toolbox, upstream: Upstream
) -> None:
    info = read(toolbox, "pubmed-connect://info")
    assert info["operational_status"]["ncbi_status"] == "Nominal"
    assert info["contact_configured"] is True
    assert "example.org" not in str(info)
    assert "someone%40example.org" in upstream.seen[0].path


def test_an_ncbi_that_is_down_is_told_in_the_info(toolbox: Toolbox, upstream: Upstream) -> None:
    upstream.on("/entrez/eutils/einfo.fcgi", Reply(503))
    status = read(toolbox, "pubmed-connect://info")["operational_status"]["ncbi_status"]
    assert status != "Nominal"
