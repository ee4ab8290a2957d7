"""Identifiers → works over several plugins, each a guest that says what the test wants."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from carrel.api import AsyncCarrel, Carrel
from carrel.config import Config, PluginConfig
from carrel.errors import ArgumentError, Cancelled, CarrelError
from carrel.exchange import Call
from carrel.lookup import Item, LookupResult
from carrel.plugins.schema import compile_schema
from carrel.records import Id, RawResult, work_faults
from support.guests import Guest, guest
from support.manifests import manifest_text

Raw = dict[str, Any]
Open = Callable[..., Carrel]

LOOP = "(loop $again (br $again))"


def record(**members: Any) -> Raw:
    return {"ids": {}, "type": "article", "authors": [], "source": "self-styled", **members}


def found(kind: str, text: str, **members: Any) -> Raw:
    return {"id": {"type": kind, "id": text}, "work": record(**members)}


def says(works: Sequence[Raw] = (), *, not_found: Sequence[Raw] = (), **more: Any) -> str:
    return json.dumps({"works": list(works), "not_found": list(not_found), **more})


def source(
    result: str = says(),
    *kinds: str,
    body: str = "",
    batch: int = 10,
    failed: bool = False,
    **changes: Any,
) -> Guest:
    """A guest that resolves these kinds of identifiers and always returns `result`."""
    lookup = {"identifiers": list(kinds or ("doi",)), "batch": batch}
    text = manifest_text(hosts=[], lookup=lookup, **changes)
    return guest(body, result=result, failed=failed, manifest=text)


@pytest.fixture
def open_desk(tmp_path: Path, code_folder: Path) -> Iterator[Open]:
    """Makes a Carrel with plugins of these names, in this order."""
    opened: list[Carrel] = []

    def make(*, limits: Raw | None = None, entry: Raw | None = None, **guests: Guest) -> Carrel:
        plugins = []
        for name, one in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(one.wasm)
            plugins.append(PluginConfig(name, path.as_uri(), **(entry or {}).get(name, {})))
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=tuple(plugins),
            limits=limits or {},
        )
        opened.append(Carrel(config))
        return opened[-1]

    yield make
    for desk in opened:
        desk.close()


def trace(item: Item) -> list[tuple[str, str, str | None]]:
    """Source, outcome, and what was asked or why not or what went wrong."""
    told: list[tuple[str, str, str | None]] = []
    for step in item.steps:
        what = step.problem.code if step.problem else str(step.asked) if step.asked else step.reason
        told.append((step.source, step.outcome, what))
    return told


def one(result: LookupResult) -> Item:
    [item] = result.items
    return item


A = {"type": "doi", "id": "10.1000/A"}


class TestAsking:
    def test_a_work_is_found_by_any_spelling_of_its_identifier(self, open_desk: Open) -> None:
        desk = open_desk(one=source(says([found("doi", "10.1000/a", title="T")])))
        result = desk.lookup(["https://doi.org/10.1000/A"])
        item = one(result)
        assert (item.outcome, item.work, item.id) == ("found", 0, Id("doi", "10.1000/A"))
        assert result.works[0].work.title == "T"

    def test_only_plugins_that_resolve_the_kind_are_asked(self, open_desk: Open) -> None:
        desk = open_desk(
            papers=source(says([found("pmid", "7")]), "pmid"),
            eprints=source(body=LOOP),
            plain=guest(manifest=manifest_text(hosts=[])),
        )
        assert trace(one(desk.lookup(["pmid:7"]))) == [
            ("papers", "found", "7"),
            ("eprints", "not_asked", "no_matching_identifier"),
        ]

    def test_records_of_several_sources_are_merged_and_say_whose_they_are(
        self, open_desk: Open
    ) -> None:
        desk = open_desk(
            eutils=source(says([found("doi", "10.1000/A", title="B", ids={"doi": "10.1000/A"})])),
            crossref=source(says([found("doi", "10.1000/A", title="A", ids={"doi": "10.1000/a"})])),
        )
        [work] = desk.lookup(["10.1000/A"]).works
        assert work.work.title == "A"
        assert work.provenance["title"] == ("crossref",)
        assert work.alternatives["title"][0].sources == ("eutils",)

    @pytest.mark.requirement("result:typed:record-source")
    def test_a_plugin_speaks_for_nobody_else(self, open_desk: Open) -> None:
        desk = open_desk(stranger=source(says([found("doi", "10.1000/A", source="crossref")])))
        assert desk.lookup(["10.1000/A"]).works[0].sources == ("stranger",)

    def test_the_second_round_asks_with_what_the_first_one_learnt(self, open_desk: Open) -> None:
        ids = {"arxiv": "2001.00001v2", "doi": "10.1000/A"}
        desk = open_desk(
            crossref=source(says([found("doi", "10.1000/A", publisher="P")])),
            eutils=source(says(not_found=[A]), "pmid", "doi"),
            arxiv=source(says([found("arxiv", "2001.00001", ids=ids)]), "arxiv"),
        )
        result = desk.lookup(["arXiv:2001.00001"])
        assert trace(one(result)) == [
            ("crossref", "found", "10.1000/A"),
            ("eutils", "not_found", "10.1000/A"),
            ("arxiv", "found", "2001.00001"),
        ]
        assert [work.work.publisher for work in result.works] == ["P"]

    def test_a_source_without_the_work_is_asked_again_by_another_identifier(
        self, open_desk: Open
    ) -> None:
        answer = says([found("pmid", "7", title="T")], not_found=[A])
        desk = open_desk(
            crossref=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
            eutils=source(answer, "pmid", "doi"),
        )
        assert trace(one(desk.lookup(["10.1000/A"]))) == [
            ("crossref", "found", "10.1000/A"),
            ("eutils", "not_found", "10.1000/A"),
            ("eutils", "found", "7"),
        ]

    def test_there_is_no_third_round_and_the_trace_says_so(self, open_desk: Open) -> None:
        desk = open_desk(
            first=source(says([found("arxiv", "2001.00001", ids={"doi": "10.1000/A"})]), "arxiv"),
            second=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
            third=source(says(), "pmid", body=LOOP),
        )
        assert trace(one(desk.lookup(["2001.00001"])))[2] == (
            "third",
            "not_asked",
            "learnt_too_late",
        )

    def test_records_of_one_identifier_are_one_work_though_they_name_another(
        self, open_desk: Open
    ) -> None:
        """A DOI that was merged into another is answered under the newer one."""
        desk = open_desk(
            crossref=source(says([found("doi", "10.1000/old", ids={"doi": "10.1000/new"})])),
            other=source(says([found("doi", "10.1000/old", ids={"doi": "10.1000/old"})])),
        )
        [work] = desk.lookup(["10.1000/old"]).works
        assert work.work.ids.doi == "10.1000/new"

    def test_two_identifiers_of_one_work_lead_to_the_same_place(self, open_desk: Open) -> None:
        ids = {"pmid": "7", "pmcid": "PMC8"}
        works = [found("pmid", "7", ids=ids), found("pmcid", "PMC8", ids=ids)]
        desk = open_desk(eutils=source(says(works), "pmid", "pmcid"))
        result = desk.lookup(["7", "PMC8", "pmid:7"])
        assert [item.work for item in result.items] == [0, 0, 0]
        assert len(result.works) == 1

    def test_items_and_works_come_in_the_order_of_asking(self, open_desk: Open) -> None:
        works = [found("pmid", str(n), title=f"T{n}", ids={"pmid": str(n)}) for n in (1, 2, 3)]
        result = open_desk(eutils=source(says(works), "pmid")).lookup(["3", "1", "2"])
        assert [item.work for item in result.items] == [0, 1, 2]
        assert [work.work.title for work in result.works] == ["T3", "T1", "T2"]

    def test_a_hundred_identifiers_go_out_in_the_plugins_batches(self, open_desk: Open) -> None:
        works = [found("pmid", str(n), ids={"pmid": str(n)}) for n in range(1, 101)]
        heard: list[tuple[float, float | None]] = []
        desk = open_desk(eutils=source(says(works), "pmid", batch=30))
        result = desk.lookup(
            [str(n) for n in range(1, 101)],
            on_progress=lambda done, total, _message: heard.append((done, total)),
        )
        assert {item.outcome for item in result.items} == {"found"}
        assert [heard[0], heard[-1]] == [(0, 4), (4, 4)]


class TestChoosing:
    @pytest.mark.parametrize("name", ["eutils", "pubmed"])
    def test_sources_are_chosen_by_name_or_prefix(self, open_desk: Open, name: str) -> None:
        answer = says(not_found=[A])
        desk = open_desk(
            eutils=source(answer, namespace="pubmed"), crossref=source(body=LOOP, namespace="cr")
        )
        assert trace(one(desk.lookup(["10.1000/A"], sources=[name]))) == [
            ("eutils", "not_found", "10.1000/A"),
            ("crossref", "not_asked", "not_chosen"),
        ]

    def test_a_source_that_looks_nothing_up_is_named_with_the_nearest(
        self, open_desk: Open
    ) -> None:
        desk = open_desk(crossref=source(namespace="cr"), plain=guest(manifest=manifest_text()))
        with pytest.raises(ArgumentError, match="did you mean 'crossref'"):
            desk.lookup(["10.1000/A"], sources=["crosref"])
        with pytest.raises(ArgumentError, match="'plain' looks nothing up"):
            desk.lookup(["10.1000/A"], sources=["plain"])

    def test_a_lookup_that_the_operator_switched_off_is_not_asked(self, open_desk: Open) -> None:
        desk = open_desk(one=source(body=LOOP), entry={"one": {"skip_tools": ("lookup",)}})
        item = one(desk.lookup(["10.1000/A"]))
        assert (item.outcome, trace(item)) == ("not_asked", [("one", "not_asked", "switched_off")])

    @pytest.mark.parametrize("count", [0, 101])
    def test_none_and_too_many_are_refused(self, open_desk: Open, count: int) -> None:
        with pytest.raises(ArgumentError, match=f"1 to 100 identifiers but found {count}"):
            open_desk(one=source()).lookup(["1"] * count)


class TestFailing:
    @pytest.mark.requirement("result:typed:no-false-empty")
    @pytest.mark.parametrize(
        ("broken", "code"),
        [
            pytest.param(source(body="unreachable"), "plugin_failed", id="trap"),
            pytest.param(source("nonsense"), "contract_violation", id="no-json"),
            pytest.param(source('{"works": []}'), "contract_violation", id="envelope"),
            pytest.param(source(says()), "contract_violation", id="silent"),
            pytest.param(
                source(says([found("doi", "10.1000/A", title="")])),
                "contract_violation",
                id="bad-record",
            ),
            pytest.param(
                source(says(failed=[{"id": A, "code": "made_up", "message": "x"}])),
                "contract_violation",
                id="unknown-code",
            ),
            pytest.param(
                source(says(failed=[{"id": A, "code": "rate_limited", "message": "x"}])),
                "rate_limited",
                id="reported-for-one",
            ),
            pytest.param(
                source('{"code": "upstream_unavailable", "message": "x"}', failed=True),
                "upstream_unavailable",
                id="reported-for-all",
            ),
            pytest.param(guest(version="1.0.0", manifest="nonsense"), None, id="no-manifest"),
        ],
    )
    def test_a_source_that_fails_is_never_not_found_and_hides_no_other(
        self, open_desk: Open, broken: Guest, code: str | None
    ) -> None:
        good = source(says([found("doi", "10.1000/A")]))
        result = open_desk(broken=broken, good=good).lookup(["10.1000/A"])
        item = one(result)
        assert item.outcome == "found"
        if code is None:
            assert "broken was not asked" in result.notices[0]
            return
        assert trace(item) == [("broken", "failed", code), ("good", "found", "10.1000/A")]
        alone = one(open_desk(broken=broken).lookup(["10.1000/A"]))
        assert alone.outcome == "failed"
        assert alone.problem is not None
        assert alone.problem.code == code

    def test_a_bad_record_costs_only_its_own_identifier(self, open_desk: Open) -> None:
        works = [found("doi", "10.1000/A", issued="soon"), found("doi", "10.1000/b")]
        result = open_desk(one=source(says(works))).lookup(["10.1000/A", "10.1000/b"])
        assert [item.outcome for item in result.items] == ["failed", "found"]
        problem = result.items[0].problem
        assert problem is not None
        assert "issued" in problem.message

    def test_a_text_that_is_no_identifier_fails_alone(self, open_desk: Open) -> None:
        desk = open_desk(one=source(says([found("doi", "10.1000/A")])))
        bad, good = desk.lookup(["what\x1b[2J is this", "10.1000/A"]).items
        assert (bad.outcome, good.outcome) == ("failed", "found")
        assert bad.problem is not None
        assert bad.problem.code == "invalid_arguments"
        assert "\x1b" not in bad.given + bad.problem.message

    def test_not_found_takes_that_every_source_that_was_asked_says_so(
        self, open_desk: Open
    ) -> None:
        lacking = source(says(not_found=[A]))
        assert one(open_desk(one=lacking).lookup(["10.1000/A"])).outcome == "not_found"
        both = open_desk(one=lacking, two=source(body="unreachable"))
        assert one(both.lookup(["10.1000/A"])).outcome == "failed"

    def test_a_wait_that_helps_is_passed_on(self, open_desk: Open) -> None:
        report = {"id": A, "code": "rate_limited", "message": "x", "retry_after_seconds": 7}
        item = one(open_desk(one=source(says(failed=[report]))).lookup(["10.1000/A"]))
        assert item.to_json()["error"]["retry_after_seconds"] == 7

    @pytest.mark.requirement("serve:alive:lookup")
    def test_the_deadline_ends_the_wait_and_keeps_what_came_in_time(self, open_desk: Open) -> None:
        desk = open_desk(
            quick=source(says([found("doi", "10.1000/A", ids={"pmid": "7"})])),
            slow=source(body=LOOP),
            late=source(says(), "pmid"),
            limits={"wall_seconds": 0.5},
        )
        started = time.monotonic()
        item = one(desk.lookup(["10.1000/A"]))
        assert time.monotonic() - started < 5
        assert trace(item) == [
            ("quick", "found", "10.1000/A"),
            ("slow", "failed", "timeout"),
            ("late", "not_asked", "deadline"),
        ]

    def test_cancelling_interrupts_the_guests(self, open_desk: Open) -> None:
        desk = open_desk(slow=source(body=LOOP))
        lookup = desk.toolbox.lookup
        call = lookup.new_call()
        reported = threading.Event()
        call.on_progress = lambda *_: reported.set()

        def cancel() -> None:
            reported.wait(30)
            call.cancel()

        thread = threading.Thread(target=cancel)
        thread.start()
        with pytest.raises(Cancelled):
            lookup.run(["10.1000/A"], call)
        thread.join()


class TestTool:
    def test_it_is_listed_last_and_only_where_something_can_be_looked_up(
        self, open_desk: Open
    ) -> None:
        tools = open_desk(one=source()).tools()
        assert [tool.name for tool in tools] == ["sample_echo", "work_lookup"]
        assert (tools[1].plugin, tools[1].read_only, tools[1].open_world) == ("carrel", True, True)
        plain = open_desk(plain=guest(manifest=manifest_text()))
        assert [tool.name for tool in plain.tools()] == ["sample_echo"]

    def test_its_description_is_short_and_has_the_six_sections(self, open_desk: Open) -> None:
        text = open_desk(one=source()).tools()[1].description
        labels = [line.split(":")[0] for line in text.splitlines()]
        assert labels == ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
        assert len(text) < 700

    @pytest.mark.requirement("result:typed:lookup")
    def test_every_kind_of_result_conforms_to_the_output_schema(self, open_desk: Open) -> None:
        full = record(
            ids={"doi": "10.1000/A", "issn": ["1234-5678"]},
            title="T",
            authors=[{"family": "A", "affiliations": []}],
            references=[{"key": "1"}],
            links=[{"url": "https://example.org/"}],
        )
        desk = open_desk(
            broken=guest(manifest="nonsense"),
            one=source(says([{"id": A, "work": full}])),
            two=source(says([found("doi", "10.1000/A", title="U")])),
            three=source(says(failed=[{"id": A, "code": "denied", "message": "no"}])),
        )
        tool = next(tool for tool in desk.tools() if tool.name == "work_lookup")
        assert tool.output_schema is not None
        validator = compile_schema(tool.output_schema)
        for arguments in (
            {"ids": ["10.1000/A", "pmid:1", "rubbish"], "references": True},
            {"ids": ["10.1000/A", "10.1000/b"], "sources": ["one"]},
        ):
            result = desk.call("work_lookup", arguments)
            assert [error.message for error in validator.iter_errors(result.data)] == []
            assert json.loads(result.text) == result.data
            [work] = result.data["works"]
            assert work_faults(RawResult(work["work"])) == []
            assert ("references" in work["work"]) == ("references" in arguments)
            assert ("references" in work["provenance"]) == ("references" in arguments)
        assert not validator.is_valid({"items": [], "works": [], "surprise": 1})
        assert not validator.is_valid({"items": [], "works": [{"work": record(title="")}]})

    @pytest.mark.parametrize(
        "arguments",
        [
            {},
            {"ids": []},
            {"ids": ["1"] * 101},
            {"ids": "10.1000/A"},
            {"ids": ["1"], "source": ["one"]},
            {"ids": ["1"], "sources": ["nobody"]},
        ],
    )
    def test_arguments_outside_the_schema_are_refused(
        self, open_desk: Open, arguments: Raw
    ) -> None:
        with pytest.raises(CarrelError) as caught:
            open_desk(one=source()).call("work_lookup", arguments)
        assert caught.value.error_code == "invalid_arguments"

    def test_cancelling_the_task_interrupts_the_guest(self, open_desk: Open) -> None:
        toolbox = open_desk(slow=source(body=LOOP)).toolbox

        async def run() -> Call:
            started: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
            call = toolbox.call(
                "work_lookup", {"ids": ["10.1000/A"]}, call_started=started.set_result
            )
            task = asyncio.create_task(call)
            running = await started
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return running

        assert asyncio.run(run()).cancelled

    def test_no_plugin_may_call_a_tool_by_the_reserved_name(self, open_desk: Open) -> None:
        tools = json.loads(manifest_text())["tools"]
        desk = open_desk(one=source(tools=[{**tools[0], "name": "lookup"}]))
        [state] = desk.plugins()
        assert state.error is not None
        assert "keeps for itself" in state.error.message


def test_the_lookup_can_be_awaited(tmp_path: Path, code_folder: Path) -> None:
    path = tmp_path / "one.wasm"
    path.write_bytes(source(says([found("doi", "10.1000/A")])).wasm)
    plugin = PluginConfig("one", path.as_uri())
    config = Config(cache_dir=code_folder, data_dir=tmp_path, plugins=(plugin,))

    async def run() -> LookupResult:
        async with AsyncCarrel(config) as desk:
            return await desk.lookup(["10.1000/A"])

    assert one(asyncio.run(run())).outcome == "found"
