"""PubMed's tools from arguments to result: the real component, the real fetch, a TLS upstream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from carrel.config import Config, builtin
from carrel.errors import CarrelError
from carrel.fetch import FetchClient, FetchSettings
from carrel.plugins.registry import Registry
from carrel.tools import Result, Toolbox
from support.upstream import Reply, Seen, SkippingClock, Upstream

Call = Callable[..., Result]

BASE = "/entrez/eutils"
IDCONV = "/tools/idconv/api/v1/articles/"
PROLOG = b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://x">\n'

ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID>{pmid}</PMID><Article>
<Journal><ISSN>2049-3630</ISSN><JournalIssue><Volume>12</Volume><Issue>3</Issue><PubDate>
<Year>2024</Year><Month>Mar</Month><Day>15</Day></PubDate></JournalIssue>
<Title>Annals of Desks</Title>
<ISOAbbreviation>Ann Desks</ISOAbbreviation></Journal>
<ArticleTitle>Oak &amp; 5% attention.</ArticleTitle>
<Pagination><MedlinePgn>737-8</MedlinePgn></Pagination>
<ELocationID EIdType="doi" ValidYN="Y">10.5555/oak.{pmid}</ELocationID>
<Abstract><AbstractText>Readers looked up.</AbstractText></Abstract>
<AuthorList><Author><LastName>Reader</LastName><ForeName>Ada Mae</ForeName><Initials>AM</Initials>
<AffiliationInfo><Affiliation>Library.</Affiliation></AffiliationInfo></Author>
<Author><LastName>Shelf</LastName><ForeName>Jean-Paul</ForeName></Author></AuthorList>
<Language>eng</Language>
<GrantList><Grant><GrantID>G1</GrantID><Agency>Fund</Agency></Grant></GrantList>
<PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList>
</Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">Humans</DescriptorName>
</MeshHeading></MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pmc">PMC{pmid}</ArticleId></ArticleIdList><ReferenceList><Reference>
<Citation>Cited.</Citation></Reference></ReferenceList></PubmedData></PubmedArticle>"""


def articles(*pmids: str) -> bytes:
    found = "".join(ARTICLE.format(pmid=pmid) for pmid in pmids)
    return PROLOG + f"<PubmedArticleSet>{found}</PubmedArticleSet>".encode()


def found(*pmids: str, count: int | None = None, extra: str = "") -> bytes:
    ids = "".join(f"<Id>{pmid}</Id>" for pmid in pmids)
    return (
        f"<eSearchResult><Count>{len(pmids) if count is None else count}</Count>"
        f"<RetMax>{len(pmids)}</RetMax><RetStart>0</RetStart><QueryKey>1</QueryKey>"
        f"<WebEnv>MCID_1</WebEnv><IdList>{ids}</IdList>{extra}</eSearchResult>"
    ).encode()


def summaries(*pmids: str) -> bytes:
    found = "".join(
        f'<DocumentSummary uid="{pmid}"><PubDate>2024 Mar 15</PubDate><Source>Ann Desks</Source>'
        f"<Authors><Author><Name>Reader AM</Name></Author></Authors><Title>Oak {pmid}</Title>"
        "<ArticleIds><ArticleId><IdType>pubmed</IdType>"
        f"<Value>{pmid}</Value></ArticleId><ArticleId><IdType>doi</IdType>"
        f"<Value>10.5555/oak.{pmid}</Value></ArticleId></ArticleIds></DocumentSummary>"
        for pmid in pmids
    )
    whole = f"<DocumentSummarySet>{found}</DocumentSummarySet>"
    return f"<eSummaryResult>{whole}</eSummaryResult>".encode()


def links(name: str, *pmids: str, source: str = "100") -> bytes:
    found = "".join(f"<Link><Id>{pmid}</Id><Score>{900 - at}</Score></Link>"
                    for at, pmid in enumerate(pmids))  # fmt: skip
    return (
        f"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{source}</Id></IdList>"
        f"<LinkSetDb><DbTo>pubmed</DbTo><LinkName>{name}</LinkName>{found}</LinkSetDb>"
        "</LinkSet></eLinkResult>"
    ).encode()


def asked(seen: Seen) -> dict[str, str]:
    """The parameters of a request, wherever they stand."""
    text = seen.body.decode() if seen.method == "POST" else urlsplit(seen.path).query
    return {key: values[0] for key, values in parse_qs(text).items()}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def upstream(authority: trustme.CA) -> Iterator[Upstream]:
    hosts = ("eutils.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov")
    with Upstream(*hosts, authority=authority) as server:
        yield server


@pytest.fixture
def make_box(
    upstream: Upstream, config: Config, tmp_path: Path
) -> Iterator[Callable[..., Toolbox]]:
    boxes: list[Toolbox] = []

    def make(**changes: Any) -> Toolbox:
        client = FetchClient(
            FetchSettings(ca_bundle=upstream.write_authority(tmp_path)),
            resolver=upstream.names,
            dialer=upstream.dial,
            clock=SkippingClock(),
            jitter=lambda: 0.0,
        )
        changed = replace(config, plugins=(builtin("eutils"),), **changes)
        boxes.append(Toolbox(changed, registry=Registry(changed, fetch_client=client)))
        return boxes[-1]

    yield make
    for box in boxes:
        box.close()


@pytest.fixture
def call(make_box: Callable[..., Toolbox]) -> Call:
    box = make_box()

    def call(tool: str, **arguments: Any) -> Result:
        return box.call_sync(f"pubmed_{tool}", arguments)

    return call


class TestSearch:
    def test_every_argument_of_the_document_reaches_ncbi(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2", "3", count=250)))
        upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("2", "1")))
        data = call(
            "search",
            query_term="oak desk OR chair",
            max_results=3,
            sort_by="pub_date",
            date_range={"min_date": "2020", "max_date": "2024-05-06", "date_type": "edat"},
            filter_by_publication_types=["Review", "Clinical Trial"],
            fetch_brief_summaries=2,
        ).data
        search, summary = upstream.seen
        term = '(oak desk OR chair) AND ("Review"[Publication Type] OR "Clinical Trial"[Publication Type])'  # noqa: E501
        assert asked(search) == {
            "db": "pubmed",
            "term": term,
            "retmode": "xml",
            "retmax": "3",
            "retstart": "0",
            "sort": "pub_date",
            "datetype": "edat",
            "mindate": "2020",
            "maxdate": "2024/05/06",
            "usehistory": "y",
            "tool": "carrel",
        }
        sent = asked(summary)
        assert (sent["version"], sent["WebEnv"], sent["query_key"]) == ("2.0", "MCID_1", "1")
        assert (sent["retstart"], sent["retmax"]) == ("0", "2")
        assert data["effective_e_search_term"] == term
        assert (data["total_found"], data["retrieved_pmid_count"]) == (250, 3)
        assert data["pmids"] == ["1", "2", "3"]
        assert [one["pmid"] for one in data["brief_summaries"]] == ["1", "2"]
        assert data["brief_summaries"][0] == {
            "pmid": "1",
            "title": "Oak 1",
            "authors": "Reader AM",
            "source": "Ann Desks",
            "pub_date": "2024-03-15",
            "doi": "10.5555/oak.1",
        }
        assert data["next_offset"] == 3
        assert data["search_parameters"]["query_term"] == "oak desk OR chair"
        assert data["e_search_url"].startswith(f"https://eutils.ncbi.nlm.nih.gov{BASE}/esearch")
        assert data["e_summary_url"].startswith(f"https://eutils.ncbi.nlm.nih.gov{BASE}/esummary")

    def test_a_summary_that_the_history_does_not_give_is_asked_for_by_id(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", "2")))
        upstream.on(
            f"{BASE}/esummary.fcgi",
            Reply(
                body=b"<eSummaryResult><ERROR>Unable to obtain query #1</ERROR></eSummaryResult>"
            ),
            Reply(body=summaries("1", "2")),
        )
        data = call("search", query_term="oak", fetch_brief_summaries=2).data
        assert [one["pmid"] for one in data["brief_summaries"]] == ["1", "2"]
        assert asked(upstream.seen[-1])["id"] == "1,2"

    def test_pages_go_on_by_offset_and_by_history(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("9", count=41)))
        data = call("search", query_term="oak", offset=40, web_env="MCID_1", query_key="1").data
        sent = asked(upstream.seen[0])
        assert (sent["retstart"], sent["WebEnv"], sent["query_key"]) == ("40", "MCID_1", "1")
        assert "next_offset" not in data

    def test_an_open_end_of_a_range_is_closed_far_away(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
        call("search", query_term="oak", date_range={"min_date": "2024/05"})
        sent = asked(upstream.seen[0])
        assert (sent["mindate"], sent["maxdate"], sent["datetype"]) == ("2024/05", "3000", "pdat")

    def test_what_ncbi_ignored_or_replaced_is_a_notice(
        self, call: Call, upstream: Upstream
    ) -> None:
        extra = (
            "<TranslationSet><Translation><From>desk</From><To>furniture[mh]</To></Translation>"
            "</TranslationSet><ErrorList><PhraseNotFound>oakx</PhraseNotFound></ErrorList>"
            "<WarningList><PhraseIgnored>of</PhraseIgnored></WarningList>"
        )
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1", count=20_000, extra=extra)))
        notices = call("search", query_term="desk of oakx", max_results=1).data["notices"]
        assert any("oakx" in notice for notice in notices)
        assert any("ignored" in notice for notice in notices)
        assert any("furniture[mh]" in notice for notice in notices)
        assert any("9999" in notice for notice in notices)

    def test_nothing_found_is_an_empty_result(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found()))
        data = call("search", query_term="oak", fetch_brief_summaries=5).data
        assert (data["total_found"], data["pmids"], data["brief_summaries"]) == (0, [], [])

    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"query_term": "ab"},
            {"query_term": "oak", "max_results": 1001},
            {"query_term": "oak", "offset": 9999},
            {"query_term": "oak", "sort_by": "size"},
            {"query_term": "oak", "date_range": {"min_date": "24"}},
            {"query_term": "oak", "date_range": {"min_date": "2024/13"}},
            {"query_term": "oak", "date_range": {"min_date": "2024", "max_date": "2023"}},
            {"query_term": "oak", "fetch_brief_summaries": 101},
            {"query_term": "oak", "web_env": "MCID_1"},
            {"query_term": "oak", "queryTerm": "oak"},
        ],
    )
    def test_arguments_that_make_no_sense_ask_nobody(
        self, call: Call, upstream: Upstream, arguments: dict[str, Any]
    ) -> None:
        with pytest.raises(CarrelError) as caught:
            call("search", **arguments)
        assert caught.value.error_code == "invalid_arguments"
        assert upstream.seen == []

    def test_the_contact_address_goes_along_and_stays_out_of_the_result(
        self, make_box: Callable[..., Toolbox], config: Config, upstream: Upstream
    ) -> None:
        box = make_box(fetch=replace(config.fetch, contact="desk@example.org"))
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("1")))
        result = box.call_sync("pubmed_search", {"query_term": "oak"})
        assert asked(upstream.seen[0])["email"] == "desk@example.org"
        assert "desk@example.org" not in result.text


class TestFetch:
    def test_the_abstract_and_what_belongs_to_it(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
        data = call("fetch", pmids=["1", "2", "1"], include_grant_info=True).data
        [article] = data["articles"]
        assert article["abstract_text"] == "Readers looked up."
        assert article["authors"][0]["affiliations"] == ["Library."]
        assert article["journal_info"]["publication_date"] == {
            "year": 2024,
            "month": "Mar",
            "day": 15,
        }
        assert article["mesh_terms"][0]["ui"] == "D006801"
        assert article["grant_list"] == [{"grant_id": "G1", "agency": "Fund"}]
        assert (article["doi"], article["pmcid"]) == ("10.5555/oak.1", "PMC1")
        assert "references" not in article
        assert data["requested_pmids"] == ["1", "2", "1"]
        assert data["not_found_pmids"] == ["2"]
        assert data["e_fetch_details"]["request_method"] == "GET"
        assert asked(upstream.seen[0]) == {
            "db": "pubmed",
            "retmode": "xml",
            "id": "1,2",
            "tool": "carrel",
        }

    def test_what_is_switched_off_is_left_out(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
        [article] = call("fetch", pmids=["1"], include_mesh_terms=False).data["articles"]
        assert "mesh_terms" not in article
        assert "grant_list" not in article

    def test_citation_data_is_what_a_citation_needs(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
        [article] = call("fetch", pmids=["1"], detail_level="citation_data").data["articles"]
        assert "abstract_text" not in article
        assert article["authors"][0] == {
            "last_name": "Reader",
            "first_name": "Ada Mae",
            "initials": "AM",
            "affiliations": [],
        }
        assert article["mesh_terms"]

    def test_full_xml_is_the_record_as_it_stands(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1", "2")))
        data = call("fetch", pmids=["1", "2"], detail_level="full_xml").data
        first, second = data["documents"]
        assert first == {
            "pmid": "1",
            "media_type": "application/xml",
            "text": ARTICLE.format(pmid="1"),
        }
        assert second["text"].startswith("<PubmedArticle>")
        assert "articles" not in data

    def test_medline_text_is_cut_into_records(self, call: Call, upstream: Upstream) -> None:
        body = b"\nPMID- 1\nTI  - Oak and\n      attention.\n\nPMID- 2\nTI  - Shelves.\n"
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=body))
        data = call("fetch", pmids=["1", "2", "3"], detail_level="medline_text").data
        assert data["documents"][0]["text"] == "PMID- 1\nTI  - Oak and\n      attention."
        assert data["not_found_pmids"] == ["3"]
        sent = asked(upstream.seen[0])
        assert (sent["retmode"], sent["rettype"]) == ("text", "medline")

    def test_many_pmids_go_into_the_body_of_a_post(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("30000001")))
        pmids = [str(30_000_001 + number) for number in range(200)]
        data = call("fetch", pmids=pmids).data
        [seen] = upstream.seen
        assert (seen.method, seen.headers["content-type"]) == (
            "POST",
            "application/x-www-form-urlencoded",
        )
        assert asked(seen)["id"].split(",") == pmids
        assert data["e_fetch_details"]["request_method"] == "POST"
        assert len(data["not_found_pmids"]) == 199

    @pytest.mark.parametrize(
        "arguments",
        [
            {"pmids": []},
            {"pmids": ["PMC1"]},
            {"pmids": [str(number) for number in range(1, 202)]},
            {"pmids": ["1"], "detail_level": "all"},
        ],
    )
    def test_arguments_that_make_no_sense_ask_nobody(
        self, call: Call, upstream: Upstream, arguments: dict[str, Any]
    ) -> None:
        with pytest.raises(CarrelError) as caught:
            call("fetch", **arguments)
        assert caught.value.error_code == "invalid_arguments"
        assert upstream.seen == []

    @pytest.mark.requirement("result:typed:no-false-empty")
    def test_a_body_that_ends_after_the_prolog_is_asked_for_again(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=PROLOG), Reply(body=articles("1")))
        assert len(call("fetch", pmids=["1"]).data["articles"]) == 1
        assert len(upstream.seen) == 2

    @pytest.mark.requirement("result:typed:no-false-empty")
    @pytest.mark.parametrize(
        ("reply", "code"),
        [
            pytest.param(Reply(body=PROLOG), "upstream_invalid", id="prolog"),
            pytest.param(Reply(body=b""), "upstream_invalid", id="empty"),
            pytest.param(Reply(body=b"<html>busy</html>"), "upstream_invalid", id="html"),
            pytest.param(Reply(body=articles("1")[:600]), "upstream_invalid", id="truncated"),
            pytest.param(
                Reply(body=b"<eFetchResult><ERROR>ID list is empty!</ERROR></eFetchResult>"),
                "upstream_error",
                id="report",
            ),
            pytest.param(
                Reply(400, body=b'{"error":"API key invalid","api-key":"x"}'),
                "upstream_error",
                id="bad-key",
            ),
            pytest.param(
                Reply(body=b'{"error":"API rate limit exceeded"}'), "rate_limited", id="gateway"
            ),
            pytest.param(Reply(500), "upstream_unavailable", id="500"),
            pytest.param(Reply(429, [("Retry-After", "900")]), "rate_limited", id="429"),
            pytest.param(Reply(302, [("Location", "https://evil.example/")]), "denied", id="302"),
        ],
    )
    def test_an_upstream_that_fails_is_a_typed_error_and_never_no_articles(
        self, call: Call, upstream: Upstream, reply: Reply, code: str
    ) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", reply)
        with pytest.raises(CarrelError) as caught:
            call("fetch", pmids=["1"])
        assert caught.value.error_code == code

    @pytest.mark.requirement("replay:exact:pubmed")
    def test_a_recorded_call_replayed_offline_gives_the_same_bytes(
        self, make_box: Callable[..., Toolbox], config: Config, upstream: Upstream, tmp_path: Path
    ) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
        pmids = [str(number) for number in range(1, 150)]
        folder = tmp_path / "recording"
        recorded = make_box(record_dir=folder).call_sync("pubmed_fetch", {"pmids": pmids})
        seen = len(upstream.seen)
        replaying = make_box(replay_dir=folder)
        assert replaying.call_sync("pubmed_fetch", {"pmids": pmids}).text == recorded.text
        assert len(upstream.seen) == seen


class TestRelated:
    @pytest.mark.parametrize(
        ("relationship", "name"),
        [
            ("pubmed_similar_articles", "pubmed_pubmed"),
            ("pubmed_citedin", "pubmed_pubmed_citedin"),
            ("pubmed_references", "pubmed_pubmed_refs"),
        ],
    )
    def test_links_come_with_titles_and_scores_and_without_the_source(
        self, call: Call, upstream: Upstream, relationship: str, name: str
    ) -> None:
        upstream.on(f"{BASE}/elink.fcgi", Reply(body=links(name, "100", "7", "8", "9")))
        upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7", "8")))
        data = call(
            "related", source_pmid="100", relationship_type=relationship, max_related_results=2
        ).data
        assert asked(upstream.seen[0]) == {
            "dbfrom": "pubmed",
            "db": "pubmed",
            "cmd": "neighbor",
            "linkname": name,
            "id": "100",
            "tool": "carrel",
        }
        assert [one["pmid"] for one in data["related_articles"]] == ["7", "8"]
        assert data["related_articles"][0] == {
            "pmid": "7",
            "title": "Oak 7",
            "authors": "Reader AM",
            "source": "Ann Desks",
            "pub_date": "2024-03-15",
            "doi": "10.5555/oak.7",
            "score": 899,
            "link_url": "https://pubmed.ncbi.nlm.nih.gov/7/",
        }
        assert (data["retrieved_count"], data["total_found"]) == (2, 3)

    def test_links_without_titles_are_better_than_none(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", "7")))
        upstream.on(f"{BASE}/esummary.fcgi", Reply(404))
        data = call("related", source_pmid="100").data
        assert [one["pmid"] for one in data["related_articles"]] == ["7"]
        assert data["notices"]

    def test_scores_are_asked_for_by_their_command(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/elink.fcgi", Reply(body=links("pubmed_pubmed", "7")))
        call("related", source_pmid="100", include_scores=True, include_summaries=False)
        [seen] = upstream.seen
        assert asked(seen)["cmd"] == "neighbor_score"

    def test_an_article_nobody_cites_has_no_related_ones(
        self, call: Call, upstream: Upstream
    ) -> None:
        body = b"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>100</Id></IdList></LinkSet></eLinkResult>"  # noqa: E501
        upstream.on(f"{BASE}/elink.fcgi", Reply(body=body))
        data = call("related", source_pmid="100", relationship_type="pubmed_citedin").data
        assert (data["related_articles"], data["total_found"]) == ([], 0)

    def test_citations_in_every_style(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles("1")))
        data = call(
            "related",
            source_pmid="1",
            relationship_type="citation_formats",
            citation_styles=["ris", "bibtex", "apa_string", "mla_string"],
        ).data
        citations = data["citations"]
        assert citations["apa_string"] == (
            "Reader, A. M., & Shelf, J.-P. (2024). Oak & 5% attention. Annals of Desks, 12(3), "
            "737\u2013738. https://doi.org/10.5555/oak.1"
        )
        assert citations["mla_string"] == (
            "Reader, Ada Mae, and Jean-Paul Shelf. “Oak & 5% attention.” Annals of Desks, vol. 12, "
            "no. 3, 15 Mar. 2024, pp. 737-38, https://doi.org/10.5555/oak.1."
        )
        assert citations["ris"].splitlines() == [
            "TY  - JOUR", "AU  - Reader, Ada Mae", "AU  - Shelf, Jean-Paul",
            "TI  - Oak & 5% attention", "T2  - Annals of Desks", "JO  - Ann Desks", "VL  - 12",
            "IS  - 3", "SN  - 2049-3630", "PY  - 2024", "DA  - 2024/03/15", "SP  - 737",
            "EP  - 738", "DO  - 10.5555/oak.1", "AN  - 1", "C2  - PMC1",
            "UR  - https://pubmed.ncbi.nlm.nih.gov/1/", "LA  - eng", "AB  - Readers looked up.",
            "ER  - ",
        ]  # fmt: skip
        assert citations["bibtex"].startswith("@article{pmid1,\n")
        for line in (
            "  author = {Reader, Ada Mae and Shelf, Jean-Paul}",
            r"  title = {{Oak \& 5\% attention}}",
            "  month = mar",
            "  pages = {737--738}",
            "  doi = {10.5555/oak.1}",
        ):
            assert line in citations["bibtex"]

    def test_the_citation_of_an_unknown_article_is_not_found(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(f"{BASE}/efetch.fcgi", Reply(body=articles()))
        with pytest.raises(CarrelError) as caught:
            call("related", source_pmid="1", relationship_type="citation_formats")
        assert caught.value.error_code == "not_found"


class TestTheRest:
    def test_identifiers_are_converted_by_pmc_and_what_it_lacks_by_pubmed(
        self, call: Call, upstream: Upstream
    ) -> None:
        def converter(seen: Seen) -> Reply:
            if asked(seen)["idtype"] == "doi":
                return Reply(
                    body=b'{"status":"ok","records":[{"requested-id":"10.5555/OAK.8","status":"error","errmsg":"no"}]}'
                )
            return Reply(
                body=b'{"status":"ok","records":[{"pmid":7,"pmcid":"PMC70","doi":"10.5555/x","requested-id":"7"}]}'
            )

        upstream.on(IDCONV, converter)
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("8", "9")))
        upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("8", "9")))
        data = call("convert_ids", ids=["7", "doi:10.5555/OAK.8", "10.5555/none", "desk"]).data
        assert data["records"] == [
            {"requested_id": "7", "pmid": "7", "pmcid": "PMC70", "doi": "10.5555/x"},
            {"requested_id": "doi:10.5555/OAK.8", "pmid": "8", "doi": "10.5555/oak.8"},
        ]
        assert (data["not_found"], data["invalid"]) == (["10.5555/none"], ["desk"])
        search = next(seen for seen in upstream.seen if "esearch" in seen.path)
        assert asked(search)["term"] == '"10.5555/OAK.8"[doi] OR "10.5555/none"[doi]'

    def test_without_the_converter_pubmed_still_answers(
        self, call: Call, upstream: Upstream
    ) -> None:
        upstream.on(IDCONV, Reply(404))
        upstream.on(f"{BASE}/esummary.fcgi", Reply(body=summaries("7")))
        data = call("convert_ids", ids=["7"]).data
        assert data["records"][0]["doi"] == "10.5555/oak.7"
        assert data["notices"]

    def test_citations_are_matched(self, call: Call, upstream: Upstream) -> None:
        body = b"ann desks|2024|12|737|reader a|c0|1\n|2020||||c1|NOT_FOUND\n"
        upstream.on(f"{BASE}/ecitmatch.cgi", Reply(body=body))
        data = call(
            "citation_match",
            citations=[
                {"journal": "ann desks", "year": 2024, "volume": "12", "first_page": "737",
                 "author_name": "reader a", "key": "mine"},
                {"year": 2020},
            ],
        ).data  # fmt: skip
        assert asked(upstream.seen[0])["bdata"] == (
            "ann desks|2024|12|737|reader a|c0|\r|2020||||c1|"
        )
        assert data["matches"] == [
            {"index": 0, "key": "mine", "status": "matched", "pmid": "1"},
            {"index": 1, "status": "not_found", "reason": "NOT_FOUND"},
        ]
        assert (data["total_matched"], data["total_submitted"]) == (1, 2)

    def test_spelling_is_checked(self, call: Call, upstream: Upstream) -> None:
        body = b"<eSpellResult><Query>atention</Query><CorrectedQuery>attention</CorrectedQuery><SpelledQuery><Replaced>attention</Replaced></SpelledQuery><ERROR/></eSpellResult>"  # noqa: E501
        upstream.on(f"{BASE}/espell.fcgi", Reply(body=body))
        data = call("spell", term="atention").data
        assert (data["has_suggestion"], data["corrected_term"]) == (True, "attention")

    def test_mesh_terms_are_looked_up(self, call: Call, upstream: Upstream) -> None:
        upstream.on(f"{BASE}/esearch.fcgi", Reply(body=found("68007405")))
        body = b'<eSummaryResult><DocumentSummarySet><DocumentSummary uid="68007405"><DS_IdxLinks><LinksType><TreeNum>J01.494</TreeNum></LinksType></DS_IdxLinks><DS_MeSHTerms><string>Interior Design</string><string>Furniture</string></DS_MeSHTerms><DS_ScopeNote>Rooms.</DS_ScopeNote></DocumentSummary></DocumentSummarySet></eSummaryResult>'  # noqa: E501
        upstream.on(f"{BASE}/esummary.fcgi", Reply(body=body))
        [term] = call("mesh", term="furniture").data["terms"]
        assert term == {
            "ui": "D007405",
            "name": "Interior Design",
            "scope_note": "Rooms.",
            "entry_terms": ["Furniture"],
            "tree_numbers": ["J01.494"],
            "search_term": '"Interior Design"[MeSH Terms]',
        }
        assert [asked(seen)["db"] for seen in upstream.seen] == ["mesh", "mesh"]

    def test_what_pubmed_offers(self, call: Call, upstream: Upstream) -> None:
        body = (
            b"<eInfoResult><DbInfo><DbName>pubmed</DbName><Count>39</Count></DbInfo></eInfoResult>"
        )
        upstream.on(f"{BASE}/einfo.fcgi", Reply(body=body))
        data = call("info").data
        assert (data["db_name"], data["count"], data["fields"]) == ("pubmed", 39, [])
        listed = b"<eInfoResult><DbList><DbName>pubmed</DbName></DbList></eInfoResult>"
        upstream.on(f"{BASE}/einfo.fcgi", Reply(body=listed))
        assert call("info", db="all").data == {"databases": ["pubmed"]}
