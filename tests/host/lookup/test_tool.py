"""Tests the tool `work_lookup` as clients see it."""

from __future__ import annotations

import asyncio
import json

import pytest

from carrel.errors import CarrelError
from carrel.exchange import Call
from carrel.plugins.schemas.schema import compile_schema
from carrel.records import RawResult, work_faults
from support.guests import guest
from support.lookups import LOOP, A, Raw, found, record, says, source
from support.manifests import manifest_text

from .conftest import Open


def test_work_lookup_is_listed_after_plugins_and_only_with_a_resolving_plugin(
    open_api: Open,
) -> None:
    tools = open_api(one=source()).tools()
    assert [tool.name for tool in tools][:2] == ["sample_echo", "work_lookup"]
    assert (tools[1].plugin, tools[1].read_only, tools[1].open_world) == ("carrel", True, True)
    plain = open_api(plain=guest(manifest=manifest_text()))
    assert [tool.name for tool in plain.tools()] == ["sample_echo"]


def test_its_description_is_short_and_has_the_six_sections(open_api: Open) -> None:
    text = open_api(one=source()).tools()[1].description
    labels = [line.split(":")[0] for line in text.splitlines()]
    assert labels == ["WHEN TO USE", "INPUTS", "OUTPUTS", "COSTS", "SIDE EFFECTS", "LIMITS"]
    assert len(text) < 700


@pytest.mark.requirement("result:typed:lookup")
def test_every_kind_of_result_conforms_to_the_output_schema(open_api: Open) -> None:
    full = record(
        ids={"doi": "10.1000/A", "issn": ["1234-5678"]},
        title="T",
        authors=[{"family": "A", "affiliations": []}],
        references=[{"key": "1"}],
        links=[{"url": "https://example.org/"}],
    )
    api = open_api(
        broken=guest(manifest="nonsense"),
        one=source(says([{"id": A, "work": full}])),
        two=source(says([found("doi", "10.1000/A", title="U")])),
        three=source(says(failed=[{"id": A, "code": "denied", "message": "no"}])),
    )
    tool = next(tool for tool in api.tools() if tool.name == "work_lookup")
    assert tool.output_schema is not None
    validator = compile_schema(tool.output_schema)
    for arguments in (
        {"ids": ["10.1000/A", "pmid:1", "rubbish"], "references": True},
        {"ids": ["10.1000/A", "10.1000/b"], "sources": ["one"]},
    ):
        result = api.call("work_lookup", arguments)
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
def test_arguments_outside_the_schema_are_refused(open_api: Open, arguments: Raw) -> None:
    with pytest.raises(CarrelError) as caught:
        open_api(one=source()).call("work_lookup", arguments)
    assert caught.value.error_code == "invalid_arguments"


def test_cancelling_the_task_interrupts_the_guest(open_api: Open) -> None:
    toolbox = open_api(slow=source(body=LOOP)).toolbox

    async def run() -> Call:
        started: asyncio.Future[Call] = asyncio.get_running_loop().create_future()
        call = toolbox.call("work_lookup", {"ids": ["10.1000/A"]}, call_started=started.set_result)
        task = asyncio.create_task(call)
        running = await started
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return running

    assert asyncio.run(run()).cancelled


def test_no_plugin_may_call_a_tool_by_the_reserved_name(open_api: Open) -> None:
    tools = json.loads(manifest_text())["tools"]
    api = open_api(one=source(tools=[{**tools[0], "name": "lookup"}]))
    [state] = api.plugins()
    assert state.error is not None
    assert "keeps for itself" in state.error.message
