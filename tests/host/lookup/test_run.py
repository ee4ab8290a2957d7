"""Tests lookups over several plugins: queries per round, and grouping of records into works."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from carrel.api import AsyncCarrel
from carrel.config import Config, PluginConfig
from carrel.errors import ArgumentError
from carrel.lookup import LookupResult
from carrel.records import Id
from support.guests import guest
from support.lookups import LOOP, A, found, one, says, source, trace
from support.manifests import manifest_text

from .conftest import Open


def test_a_work_is_found_by_any_spelling_of_its_identifier(open_api: Open) -> None:
    api = open_api(one=source(says([found("doi", "10.1000/a", title="T")])))
    result = api.lookup(["https://doi.org/10.1000/A"])
    item = one(result)
    assert (item.outcome, item.work, item.id) == ("found", 0, Id("doi", "10.1000/A"))
    assert result.works[0].work.title == "T"


def test_only_plugins_that_resolve_the_kind_are_queried(open_api: Open) -> None:
    api = open_api(
        papers=source(says([found("pmid", "7")]), "pmid"),
        eprints=source(body=LOOP),
        plain=guest(manifest=manifest_text(hosts=[])),
    )
    assert trace(one(api.lookup(["pmid:7"]))) == [
        ("papers", "found", "7"),
        ("eprints", "not_asked", "no_matching_identifier"),
    ]


def test_records_of_several_sources_are_merged_with_provenance(open_api: Open) -> None:
    api = open_api(
        eutils=source(says([found("doi", "10.1000/A", title="B", ids={"doi": "10.1000/A"})])),
        crossref=source(says([found("doi", "10.1000/A", title="A", ids={"doi": "10.1000/a"})])),
    )
    [work] = api.lookup(["10.1000/A"]).works
    assert work.work.title == "A"
    assert work.provenance["title"] == ("crossref",)
    assert work.alternatives["title"][0].sources == ("eutils",)


@pytest.mark.requirement("result:typed:record-source")
def test_a_plugin_cannot_answer_for_another_source(open_api: Open) -> None:
    api = open_api(stranger=source(says([found("doi", "10.1000/A", source="crossref")])))
    assert api.lookup(["10.1000/A"]).works[0].sources == ("stranger",)


def test_the_second_round_uses_identifiers_of_the_first(open_api: Open) -> None:
    ids = {"arxiv": "2001.00001v2", "doi": "10.1000/A"}
    api = open_api(
        crossref=source(says([found("doi", "10.1000/A", publisher="P")])),
        eutils=source(says(not_found=[A]), "pmid", "doi"),
        arxiv=source(says([found("arxiv", "2001.00001", ids=ids)]), "arxiv"),
    )
    heard: list[tuple[float, float | None]] = []
    result = api.lookup(
        ["arXiv:2001.00001"], on_progress=lambda done, total, _message: heard.append((done, total))
    )
    # Two more sources are queried when one has answered: the count continues.
    assert heard == sorted(heard, key=lambda report: report[0])
    assert {(1, 3), (3, 3)} <= set(heard)
    assert trace(one(result)) == [
        ("crossref", "found", "10.1000/A"),
        ("eutils", "not_found", "10.1000/A"),
        ("arxiv", "found", "2001.00001"),
    ]
    assert [work.work.publisher for work in result.works] == ["P"]


def test_a_source_without_the_work_is_queried_by_another_identifier(open_api: Open) -> None:
    answer = says([found("pmid", "7", title="T")], not_found=[A])
    api = open_api(
        crossref=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
        eutils=source(answer, "pmid", "doi"),
    )
    assert trace(one(api.lookup(["10.1000/A"]))) == [
        ("crossref", "found", "10.1000/A"),
        ("eutils", "not_found", "10.1000/A"),
        ("eutils", "found", "7"),
    ]


def test_there_is_no_third_round_and_the_trace_says_so(open_api: Open) -> None:
    api = open_api(
        first=source(says([found("arxiv", "2001.00001", ids={"doi": "10.1000/A"})]), "arxiv"),
        second=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
        third=source(says(), "pmid", body=LOOP),
    )
    assert trace(one(api.lookup(["2001.00001"])))[2] == (
        "third",
        "not_asked",
        "learnt_too_late",
    )


def test_records_of_one_identifier_are_one_work_though_they_name_another(open_api: Open) -> None:
    """A source returns a DOI that was merged into another one under the newer DOI."""
    api = open_api(
        crossref=source(says([found("doi", "10.1000/old", ids={"doi": "10.1000/new"})])),
        other=source(says([found("doi", "10.1000/old", ids={"doi": "10.1000/old"})])),
    )
    [work] = api.lookup(["10.1000/old"]).works
    assert work.work.ids.doi == "10.1000/new"


def test_two_identifiers_of_one_work_lead_to_the_same_place(open_api: Open) -> None:
    ids = {"pmid": "7", "pmcid": "PMC8"}
    works = [found("pmid", "7", ids=ids), found("pmcid", "PMC8", ids=ids)]
    api = open_api(eutils=source(says(works), "pmid", "pmcid"))
    result = api.lookup(["7", "PMC8", "pmid:7"])
    assert [item.work for item in result.items] == [0, 0, 0]
    assert len(result.works) == 1


def test_items_and_works_are_in_the_order_of_the_identifiers(open_api: Open) -> None:
    works = [found("pmid", str(n), title=f"T{n}", ids={"pmid": str(n)}) for n in (1, 2, 3)]
    result = open_api(eutils=source(says(works), "pmid")).lookup(["3", "1", "2"])
    assert [item.work for item in result.items] == [0, 1, 2]
    assert [work.work.title for work in result.works] == ["T3", "T1", "T2"]


def test_a_hundred_identifiers_go_out_in_the_plugins_batches(open_api: Open) -> None:
    works = [found("pmid", str(n), ids={"pmid": str(n)}) for n in range(1, 101)]
    heard: list[tuple[float, float | None]] = []
    api = open_api(eutils=source(says(works), "pmid", batch=30))
    result = api.lookup(
        [str(n) for n in range(1, 101)],
        on_progress=lambda done, total, _message: heard.append((done, total)),
    )
    assert {item.outcome for item in result.items} == {"found"}
    assert [heard[0], heard[-1]] == [(0, 4), (4, 4)]


@pytest.mark.parametrize("count", [0, 101])
def test_none_and_too_many_are_refused(open_api: Open, count: int) -> None:
    with pytest.raises(ArgumentError, match=f"1 to 100 identifiers but found {count}"):
        open_api(one=source()).lookup(["1"] * count)


def test_the_lookup_can_be_awaited(tmp_path: Path, code_folder: Path) -> None:
    path = tmp_path / "one.wasm"
    path.write_bytes(source(says([found("doi", "10.1000/A")])).wasm)
    plugin = PluginConfig("one", path.as_uri())
    config = Config(cache_dir=code_folder, data_dir=tmp_path, plugins=(plugin,))

    async def run() -> LookupResult:
        async with AsyncCarrel(config) as api:
            return await api.lookup(["10.1000/A"])

    assert one(asyncio.run(run())).outcome == "found"


def test_others_are_not_asked_with_what_only_an_index_says_of_a_known_work(open_api: Open) -> None:
    pmid = {"type": "pmid", "id": "9"}
    article = source(says([found("pmid", "9", title="On lamps", ids={"pmid": "9"})]), "pmid")
    wrong = source(says([found("pmid", "9", ids={"doi": "10.1000/A", "pmid": "9"})]), "pmid")
    other = source(says([found("doi", "10.1000/A", title="On desks")]))
    api = open_api(eutils=article, openalex=wrong, crossref=other)
    result = api.lookup(["pmid:9"])
    assert trace(one(result))[2] == ("crossref", "not_asked", "no_matching_identifier")
    [merged] = result.works
    assert (merged.work.title, merged.work.ids.doi) == ("On lamps", "10.1000/A")
    assert merged.provenance["ids.doi"] == ("openalex",)
    lacking = source(says(not_found=[pmid]), "pmid")
    api = open_api(eutils=lacking, openalex=wrong, crossref=other)
    assert trace(one(api.lookup(["pmid:9"])))[2] == ("crossref", "found", "10.1000/A")
