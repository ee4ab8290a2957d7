"""Tests of `academic_search`: who is asked, what a paper has, what is filtered, what is cached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.api import Carrel
from carrel.config import Config
from carrel.errors import ArgumentError, CarrelError, SourceError
from carrel.exchange import Call, Limits
from carrel.papers.errors import PaperError
from carrel.web.answers import web_failure
from carrel.web.research.academic import AcademicRequest, AcademicSearch
from carrel.web.research.academic.doubtful import mark_doubtful
from carrel.web.research.academic.paper import shortened
from carrel.web.research.academic.run import FRESH_SECONDS
from support.guests import Guest
from support.research_doubles import FakeWeb
from support.role_guests import role_guest

Raw = dict[str, Any]
Run = Callable[..., Raw]
SEARCH: Raw = {"search": {"max": 50, "filters": ["year", "open_access"]}}
COPIES: Raw = {"open_copies": {"identifiers": ["doi"]}}
FREE = "https://repository.example/desk.pdf"


def work(doi: str = "10.5555/desk", **members: Any) -> Raw:
    return {
        "ids": {"doi": doi} if doi else {},
        "type": "article-journal",
        "title": f"On {doi}",
        "issued": "2020-01-01",
        "source": "self-styled",
        **members,
    }


def searching(*works: Raw) -> Guest:
    return role_guest({"role:search": json.dumps({"works": works})}, roles=SEARCH)


def broken() -> Guest:
    return role_guest({}, roles=SEARCH)


def knowing_copies(doi: str) -> Guest:
    record = work(doi, open_copies=[{"url": FREE, "kind": "pdf"}])
    payload = {"works": [{"id": {"type": "doi", "id": doi}, "work": record}], "not_found": []}
    return role_guest({"role:open_copies": json.dumps(payload)}, roles=COPIES)


@pytest.fixture
def opened(configure: Callable[..., Config]) -> Iterator[Callable[..., AcademicSearch]]:
    carrels: list[Carrel] = []

    def make(web: FakeWeb | None = None, clock: Any = None, **guests: Guest) -> AcademicSearch:
        api = Carrel(configure(**guests))
        carrels.append(api)
        toolbox = api.toolbox
        more = {} if clock is None else {"clock": clock}
        return AcademicSearch(toolbox.plugin_set, toolbox.config, web, None, **more)

    yield make
    for one in carrels:
        one.close()


def call() -> Call:
    return Call("carrel", "academic_search", Limits(wall_seconds=60))


def run(search: AcademicSearch, **arguments: Any) -> Raw:
    return search.run(AcademicRequest(query="walls", **arguments), call())[0]


Opened = Callable[..., AcademicSearch]


class TestPapers:
    @pytest.mark.requirement("web-researcher:academic:paper")
    def test_a_paper_has_what_its_sources_know(self, opened: Opened) -> None:
        search = opened(
            openalex=searching(
                work(
                    authors=[{"family": "Green", "given": "Ada"}, {"literal": "Desk Group"}],
                    container_title="Desk Review",
                    abstract="word " * 200,
                    cited_by_count=7,
                    is_oa=True,
                )
            ),
            doaj=searching(work()),
        )
        result = run(search)
        [paper] = result["papers"]
        assert paper["authors"] == ["Ada Green", "Desk Group"]
        assert (paper["journal"], paper["year"], paper["citation_count"]) == (
            "Desk Review",
            2020,
            7,
        )
        assert paper["url"] == "https://doi.org/10.5555/desk"
        assert len(paper["abstract"]) <= 500
        assert paper["open_access"] is True
        assert paper["is_in_doaj"] is True
        assert (result["result_count"], result["source"]) == (1, "router")
        assert result["trust"] == "untrusted-external-content"
        assert "hints" not in result

    @pytest.mark.requirement("web-researcher:academic-always")
    def test_a_paper_always_has_title_url_and_source(self, opened: Opened) -> None:
        search = opened(crossref=searching({"ids": {}, "type": "article", "source": "x"}))
        [paper] = run(search)["papers"]
        assert set(paper) == {"title", "url", "source"}
        assert paper["source"] == "crossref"

    @pytest.mark.requirement("web-researcher:academic-count")
    def test_five_papers_are_returned_unless_the_call_says_otherwise(self, opened: Opened) -> None:
        search = opened(crossref=searching(*(work(f"10.5555/{n}") for n in range(20))))
        assert run(search)["result_count"] == 5
        assert run(search, num_results=10)["result_count"] == 10

    @pytest.mark.requirement("web-researcher:academic-abstract")
    def test_a_long_abstract_ends_at_a_word(self) -> None:
        abstract = shortened("desk " * 200)
        assert len(abstract) <= 500
        assert abstract.endswith("desk…")

    def test_pubmed_is_the_provider_of_eutils(self, opened: Opened) -> None:
        search = opened(eutils=searching(work()), crossref=searching())
        result = run(search, provider="pubmed")
        assert (result["source"], result["papers"][0]["source"]) == ("pubmed", "pubmed")

    @pytest.mark.requirement("web-researcher:academic-sort")
    def test_papers_are_sorted_by_date_on_request(self, opened: Opened) -> None:
        works = [work(f"10.5555/{year}", issued=str(year)) for year in (2001, 2021, 2011)]
        result = run(opened(crossref=searching(*works)), sort_by="date")
        assert [one["year"] for one in result["papers"]] == [2021, 2011, 2001]

    @pytest.mark.parametrize(
        ("source", "doi"),
        [("ieee", "10.1109/1"), ("nature", "10.1038/1"), ("springer", "10.1007/1")],
    )
    @pytest.mark.requirement("web-researcher:academic-sources:publishers")
    def test_a_publisher_is_found_by_its_dois(self, opened: Opened, source: str, doi: str) -> None:
        search = opened(crossref=searching(work("10.5555/1"), work(doi)))
        assert [one["doi"] for one in run(search, source=source)["papers"]] == [doi]

    @pytest.mark.requirement("web-researcher:academic-sources:registries")
    def test_arxiv_is_the_only_one_asked_for_arxiv(self, opened: Opened) -> None:
        known = work("", ids={"arxiv": "2301.00001"}, title="Desks")
        search = opened(arxiv=searching(known), crossref=searching(work()))
        [paper] = run(search, source="arxiv")["papers"]
        assert paper["url"] == "https://arxiv.org/abs/2301.00001"


class TestOpenCopies:
    @pytest.mark.requirement("web-researcher:academic-copies")
    def test_copies_are_looked_for_before_papers_without_a_pdf_are_left_out(
        self, opened: Opened
    ) -> None:
        search = opened(
            crossref=searching(work("10.5555/closed"), work("10.5555/desk")),
            unpaywall=knowing_copies("10.5555/desk"),
        )
        [paper] = run(search, pdf_only=True)["papers"]
        assert paper["pdf_url"] == FREE
        assert (paper["has_pdf"], paper["open_access"]) == (True, True)

    def test_the_pdf_that_a_source_gave_is_kept(self, opened: Opened) -> None:
        own = "https://publisher.example/own.pdf"
        given = work(open_copies=[{"url": own, "kind": "pdf"}])
        search = opened(openalex=searching(given), unpaywall=knowing_copies("10.5555/desk"))
        assert run(search)["papers"][0]["pdf_url"] == own

    def test_a_source_of_copies_that_fails_never_fails_the_search(self, opened: Opened) -> None:
        search = opened(crossref=searching(work()), unpaywall=role_guest({}, roles=COPIES))
        assert run(search)["result_count"] == 1


class TestProviders:
    @pytest.mark.requirement("web-researcher:academic-provider")
    def test_a_named_provider_is_the_only_one_and_its_failure_is_the_answer(
        self, opened: Opened
    ) -> None:
        web = FakeWeb({"https://example.org/": "x"})
        search = opened(web, crossref=broken(), openalex=searching(work()))
        with pytest.raises(PaperError):
            run(search, provider="crossref")
        assert web.searches == []

    def test_an_unknown_provider_is_refused_with_the_known_names(self, opened: Opened) -> None:
        search = opened(FakeWeb(), crossref=searching(work()))
        with pytest.raises(SourceError, match="known: arxiv, brave, core, crossref") as caught:
            run(search, provider="nobody")
        failure = web_failure(caught.value)
        assert failure.kind == "config"
        assert list(failure.alternatives) == ["crossref", "brave", "searxng"]

    @pytest.mark.parametrize("provider", ["core", "scholarapi", "openalex"])
    def test_an_unconfigured_provider_is_refused_with_the_ready_ones(
        self, opened: Opened, provider: str
    ) -> None:
        with pytest.raises(SourceError, match="not configured; ready: crossref"):
            run(opened(crossref=searching(work())), provider=provider)

    @pytest.mark.requirement("web-researcher:academic:fallback")
    def test_the_web_is_searched_on_academic_sites_where_no_scholar_answers(
        self, opened: Opened
    ) -> None:
        web = FakeWeb({"https://arxiv.org/pdf/1.pdf": "x", "https://www.nature.com/y": "y"})
        result = run(opened(web, crossref=broken()))
        assert result["source"] == "web_search"
        assert result["papers"][0]["pdf_url"] == "https://arxiv.org/pdf/1.pdf"
        assert "arxiv.org" in web.searches[0]["sites"]

    def test_the_web_is_searched_on_the_site_of_a_source(self, opened: Opened) -> None:
        web = FakeWeb({"https://ieeexplore.ieee.org/1": "x"})
        run(opened(web, crossref=broken()), source="ieee")
        assert web.searches[0]["sites"] == ("ieeexplore.ieee.org",)

    def test_a_web_engine_may_be_the_provider(self, opened: Opened) -> None:
        web = FakeWeb({"https://arxiv.org/abs/1": "x"})
        result = run(opened(web, crossref=searching(work())), provider="brave")
        assert (result["source"], web.searches[0]["provider"]) == ("web_search", "brave")

    def test_without_any_source_the_reason_is_the_error(self, opened: Opened) -> None:
        with pytest.raises(PaperError):
            run(opened(crossref=broken()))

    def test_years_in_the_wrong_order_are_refused(self, opened: Opened) -> None:
        with pytest.raises(ArgumentError):
            run(opened(crossref=searching()), year_from=2020, year_to=2019)


class TestHints:
    @pytest.mark.requirement("web-researcher:academic-hints")
    def test_nothing_found_with_filters_names_them(self, opened: Opened) -> None:
        result = run(opened(crossref=searching()), year_from=2020, open_access=True)
        assert result["papers"] == []
        assert result["hints"]["reason"] == "filters_too_restrictive"
        assert result["hints"]["filters_applied"] == {"year_from": 2020, "open_access": True}
        assert result["hints"]["suggested_actions"] == [
            {"action": "remove_filter", "filter": "year_from"},
            {"action": "remove_filter", "filter": "open_access"},
        ]

    def test_nothing_found_without_filters_is_no_match(self, opened: Opened) -> None:
        hints = run(opened(crossref=searching()))["hints"]
        assert hints["reason"] == "no_match"
        assert hints["suggested_actions"] == [{"action": "broaden_query"}]
        assert "does not prove" in hints["epistemic_warning"]

    def test_a_source_that_was_silent_is_named_in_the_warning(self, opened: Opened) -> None:
        hints = run(opened(crossref=searching(), openalex=broken()))["hints"]
        assert "openalex" in hints["epistemic_warning"]


class TestDoubts:
    @pytest.mark.parametrize(
        ("own", "other", "marked"),
        [(0, 50, True), (0, 49, False), (6, 60, True), (7, 60, False)],
    )
    @pytest.mark.requirement("web-researcher:academic-doubt")
    def test_a_copy_of_a_title_that_ten_times_as_many_works_cite_is_marked(
        self, own: int, other: int, marked: bool
    ) -> None:
        papers: list[Raw] = [
            {"title": "On Walls!", "url": "https://desk.example/", "citation_count": own},
            {"title": "on walls", "url": "https://doi.org/10.5555/1", "citation_count": other},
        ]
        mark_doubtful(papers)
        assert ("low_confidence_domain" in papers[0]) is marked
        assert "low_confidence_domain" not in papers[1]

    def test_a_publishers_page_is_never_marked(self) -> None:
        papers: list[Raw] = [
            {"title": "Walls", "url": "https://www.nature.com/x", "citation_count": 0},
            {"title": "Walls", "url": "https://doi.org/10.5555/1", "citation_count": 900},
        ]
        mark_doubtful(papers)
        assert all("low_confidence_domain" not in one for one in papers)


class TestCache:
    @pytest.mark.requirement("web-researcher:academic:cache")
    @pytest.mark.requirement("web-researcher:cache-version")
    def test_a_result_is_returned_again_for_an_hour(self, opened: Opened) -> None:
        now = [0.0]
        search = opened(clock=lambda: now[0], crossref=searching(work()))
        request = AcademicRequest(query="walls")
        assert search.run(request, call())[1] is None
        now[0] = FRESH_SECONDS - 1
        assert search.run(request, call())[1] == 3599
        now[0] = FRESH_SECONDS
        assert search.run(request, call())[1] is None
        assert FRESH_SECONDS == 3600
        assert all(version == 1 for version, _ in search._kept)

    def test_a_refresh_asks_again(self, opened: Opened) -> None:
        search = opened(crossref=searching(work()))
        request, again = AcademicRequest(query="walls"), call()
        search.run(request, call())
        again.refresh = True
        assert search.run(request, again)[1] is None

    def test_a_result_that_a_source_is_missing_from_is_not_kept(self, opened: Opened) -> None:
        search = opened(crossref=searching(work()), openalex=broken())
        request = AcademicRequest(query="walls")
        search.run(request, call())
        assert search.run(request, call())[1] is None

    @pytest.mark.requirement("web-researcher:cache-key")
    @given(data=st.data())
    def test_every_parameter_is_part_of_the_key(self, data: st.DataObject) -> None:
        values: dict[str, st.SearchStrategy[Any]] = {
            "query": st.text(min_size=1, max_size=10),
            "num_results": st.integers(1, 10),
            "year_from": st.none() | st.integers(1900, 2030),
            "year_to": st.none() | st.integers(1900, 2030),
            "source": st.sampled_from(["all", "arxiv", "ieee"]),
            "pdf_only": st.booleans(),
            "sort_by": st.sampled_from(["relevance", "date"]),
            "open_access": st.booleans(),
            "full_text": st.booleans(),
            "provider": st.none() | st.sampled_from(["openalex", "exa"]),
        }
        assert set(values) == {one.name for one in fields(AcademicRequest)}
        request = AcademicRequest(**data.draw(st.fixed_dictionaries(values)))
        name = data.draw(st.sampled_from(sorted(values)))
        other = data.draw(values[name].filter(lambda one: one != getattr(request, name)))
        assert replace(request, **{name: other}) != request
        assert hash(request) == hash(replace(request))


def test_a_cancelled_search_is_cancelled(opened: Opened) -> None:
    search, given_up = opened(crossref=searching(work())), call()
    given_up.cancel()
    with pytest.raises(CarrelError) as caught:
        search.run(AcademicRequest(query="walls"), given_up)
    assert caught.value.error_code == "cancelled"
