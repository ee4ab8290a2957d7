"""Searching several sources at once: merging, ranking, filters, and sources that fail."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, PluginConfig
from carrel.errors import ArgumentError, Cancelled
from carrel.papers.search import PaperSearch, SearchRequest, SearchResult
from support.guests import Guest, guest
from support.lookups import LOOP
from support.manifests import manifest_text

Raw = dict[str, Any]
Search = Callable[..., SearchResult]


def record(title: str, **members: Any) -> Raw:
    members = {"title": title, "type": "article-journal", "source": "self-styled", **members}
    return {"ids": {}, **members}


def says(works: Sequence[Raw], **more: Any) -> str:
    return json.dumps({"works": list(works), **more})


def source(result: str = says([]), body: str = "", *, failed: bool = False, **role: Any) -> Guest:
    """Returns a guest with the role `search` that always returns `result`."""
    roles = {"search": {"max": 50, "filters": ["year", "open_access"], **role}}
    manifest = manifest_text(hosts=[], roles=roles, contract="1.1")
    return guest(body, result=result, failed=failed, manifest=manifest)


@pytest.fixture
def open_search(tmp_path: Path, code_folder: Path) -> Iterator[Callable[..., PaperSearch]]:
    """Makes a search over plugins of these names, in this order."""
    opened: list[Carrel] = []

    def make(
        *, limits: Raw | None = None, entry: Raw | None = None, **guests: Guest
    ) -> PaperSearch:
        plugins = []
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), **(entry or {}).get(name, {})))
        config = Config(
            cache_dir=code_folder, data_dir=tmp_path, plugins=tuple(plugins), limits=limits or {}
        )
        api = Carrel(config)
        opened.append(api)
        return PaperSearch(api.toolbox.plugin_set, api.toolbox.config)

    yield make
    for api in opened:
        api.close()


@pytest.fixture
def search(open_search: Callable[..., PaperSearch]) -> Search:
    """Searches plugins of these names for desks."""

    def run(request: Raw | None = None, **guests: Any) -> SearchResult:
        made = open_search(**guests)
        return made.run(SearchRequest(**{"query": "desks", **(request or {})}), made.new_call())

    return run


def titles(result: SearchResult) -> list[str | None]:
    return [one.merged.work.title for one in result.works]


def outcomes(result: SearchResult) -> list[tuple[str, str, int]]:
    return [(one.source, one.outcome, one.count) for one in result.sources]


def test_records_of_one_work_are_merged_and_come_first(search: Search) -> None:
    common = {"ids": {"doi": "10.5555/common"}}
    result = search(
        one=source(says([record("A"), record("Common", **common)], total=70)),
        two=source(says([record("B"), record("C"), record("Common", **common)])),
    )
    assert titles(result) == ["Common", "A", "B", "C"]
    assert dict(result.works[0].ranks) == {"one": 2, "two": 3}
    assert result.works[0].merged.sources == ("one", "two")
    assert outcomes(result) == [("one", "found", 2), ("two", "found", 3)]
    assert [one.total for one in result.sources] == [70, None]


def test_the_order_does_not_depend_on_the_order_of_sources(search: Search) -> None:
    first = says([record("A", cited_by_count=1), record("B")])
    second = says([record("C", cited_by_count=9), record("D")])
    expected = ["C", "A", "B", "D"]
    assert titles(search(one=source(first), two=source(second))) == expected
    assert titles(search(one=source(second), two=source(first))) == expected


def test_a_filter_that_a_source_lacks_is_applied_by_the_host(search: Search) -> None:
    works = says([record("Old", issued="1980"), record("New", issued="2020-05"), record("Undated")])
    result = search({"year_from": 2000}, lacking=source(works, filters=[]), empty=source())
    assert titles(result) == ["New"]
    payload = result.sources[0].to_json()
    assert (payload["outcome"], payload["count"], payload["left_out"]) == ("found", 1, 2)
    assert result.sources[1].outcome == "empty"


def test_a_work_is_open_when_one_of_its_sources_says_so(search: Search) -> None:
    ids = {"ids": {"doi": "10.5555/common"}}
    copies = [{"url": "https://example.org/x.pdf", "kind": "pdf"}]
    result = search(
        {"open_access": True},
        one=source(says([record("Common", **ids), record("Closed", is_oa=False)])),
        two=source(says([record("Common", open_copies=copies, **ids)])),
    )
    assert titles(result) == ["Common"]


def test_only_filters_that_a_source_applies_are_sent() -> None:
    from carrel.plugins.manifests.manifest import RoleSpec

    request = SearchRequest(query="desks", limit=5, year_from=1990, open_access=True)
    both = RoleSpec("search", most=50, filters=("year", "open_access"))
    assert request.arguments(both) == {
        "query": "desks", "limit": 5, "year_from": 1990, "open_access": True,
    }  # fmt: skip
    # Asked for all that it gives, because the host drops some.
    none = RoleSpec("search", most=50)
    assert request.arguments(none) == {"query": "desks", "limit": 50}
    few = RoleSpec("search", most=3, filters=("year", "open_access"))
    assert request.arguments(few)["limit"] == 3


@pytest.mark.requirement("result:typed:search")
def test_a_source_that_failed_is_never_shown_as_empty(search: Search) -> None:
    report = {"code": "rate_limited", "message": "too many", "retry_after_seconds": 7}
    result = search(
        good=source(says([record("A")])),
        empty=source(),
        busy=source(json.dumps(report), failed=True),
        broken=source("[]"),
        trap=source(body="unreachable"),
    )
    assert titles(result) == ["A"]
    assert outcomes(result) == [
        ("good", "found", 1),
        ("empty", "empty", 0),
        ("busy", "rate_limited", 0),
        ("broken", "failed", 0),
        ("trap", "failed", 0),
    ]
    by_source = {one.source: one.to_json() for one in result.sources}
    assert by_source["busy"]["retry_after_seconds"] == 7
    assert by_source["broken"]["code"] == "contract_violation"
    assert "count" not in by_source["trap"]
    assert result.has_answer


@pytest.mark.requirement("serve:alive:search")
def test_a_source_that_hangs_costs_the_others_nothing(search: Search) -> None:
    started = time.monotonic()
    result = search(
        good=source(says([record("A")])), slow=source(body=LOOP), limits={"wall_seconds": 3}
    )
    assert time.monotonic() - started < 20
    assert titles(result) == ["A"]
    assert result.sources[1].outcome == "timeout"


def test_a_record_that_the_contract_refuses_is_reported(search: Search) -> None:
    result = search(one=source(says([record("A"), record("")])))
    assert titles(result) == ["A"]
    assert "1 records left out" in (result.sources[0].notice or "")


def test_nothing_found_comes_with_what_may_help(search: Search) -> None:
    words = "one two three four five six seven eight nine"
    result = search(
        {"query": words, "year_to": 1900}, one=source(), trap=source(body="unreachable")
    )
    assert len(result.hints) == 3
    assert "not every source answered" in result.hints[0]
    assert search(one=source()).hints == ()
    assert not search(trap=source(body="unreachable")).has_answer


def test_sources_can_be_chosen_and_switched_off(search: Search) -> None:
    one, two = source(says([record("A")])), source(says([record("B")]))
    chosen = search({"sources": ("two",)}, one=one, two=two)
    assert titles(chosen) == ["B"]
    assert [outcome.outcome for outcome in chosen.sources] == ["not_chosen", "found"]
    off = {"one": {"skip_tools": ("role:search",)}}
    assert titles(search(entry=off, one=one, two=two)) == ["B"]
    with pytest.raises(ArgumentError, match=r"'three' searches nothing; known: .*one"):
        search({"sources": ("three",)}, one=one)


@pytest.mark.parametrize(
    ("request_members", "fault"),
    [
        ({"query": "  "}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"year_from": 2001, "year_to": 2000}, "year_from"),
    ],
)
def test_bad_arguments_are_named(search: Search, request_members: Raw, fault: str) -> None:
    with pytest.raises(ArgumentError, match=fault):
        search(request_members, one=source())


def test_a_cancelled_search_ends(open_search: Callable[..., PaperSearch]) -> None:
    made = open_search(slow=source(body=LOOP))
    call = made.new_call(lambda *_: call.cancel())
    with pytest.raises(Cancelled):
        made.run(SearchRequest(query="desks"), call)


def test_the_limit_is_kept_after_merging(search: Search) -> None:
    works = [record(f"Title {number}") for number in range(30)]
    assert len(search({"limit": 7}, one=source(says(works))).works) == 7
