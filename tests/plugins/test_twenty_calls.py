"""Tests the tokens of the twenty most frequent calls, and that compact text loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.server import answers
from carrel.server.announced import announced_schema
from carrel.server.instructions import COSTS, NAMED, OMITTING, instructions
from carrel.tools import Result, Tool
from conftest import ROOT
from support.compact_reader import as_written, read_compact
from support.toolboxes import MakeToolbox
from support.upstream import Upstream

if not (ROOT / "bench").is_dir():
    pytest.skip("the benchmarks are not in this distribution", allow_module_level=True)

from support.twenty_calls import CALLS, answer_calls

#: Tokens of both copies of the JSON that clients get by default.
MOST_OF_TODAY = 0.6
#: Tokens of one copy. Half of a page of e-prints is abstracts, which cannot be shortened.
MOST_OF_THE_TEXT = 0.8
REVISION = "2025-11-25"


@dataclass(frozen=True)
class Answered:
    tool: Tool
    arguments: Mapping[str, Any]
    result: Result


@pytest.fixture
def answered(make_toolbox: MakeToolbox, upstream: Upstream) -> list[Answered]:
    answer_calls(upstream)
    toolbox = make_toolbox("arxiv", "crossref", "eutils")
    tools = {tool.name: tool for tool in toolbox.tools()}
    return [Answered(tools[name], given, toolbox.call_sync(name, given)) for name, given in CALLS]


def tokens(value: Any) -> float:
    """Returns the number of tokens, at four characters each."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text) / 4


def compact(result: Result) -> str:
    answer = answers.compact(result, revision=REVISION, raw=False, structured=False)
    assert answer.keys() == {"content"}
    [block] = answer["content"]
    return str(block["text"])


@pytest.mark.requirement("result:typed:compact")
def test_compact_results_have_the_same_content_as_the_json(answered: list[Answered]) -> None:
    assert len(answered) == 20
    for one in answered:
        assert read_compact(compact(one.result)) == as_written(one.result.data), one.tool.name


@pytest.mark.requirement("result:typed:compact")
def test_compact_answers_take_at_most_sixty_percent_of_the_tokens(
    answered: list[Answered],
) -> None:
    short = sum(tokens(compact(one.result)) for one in answered)
    text = sum(tokens(one.result.text) for one in answered)
    assert short <= MOST_OF_TODAY * 2 * text
    assert short <= MOST_OF_THE_TEXT * text
    for one in answered:
        assert tokens(compact(one.result)) <= 1.01 * tokens(one.result.text), one.tool.name


@pytest.mark.requirement("result:typed:announced")
def test_results_conform_to_the_announced_schemas_and_the_plugins_own(
    answered: list[Answered],
) -> None:
    for one in answered:
        own = one.tool.output_schema
        assert own is not None
        for schema in (own, announced_schema(own, one.tool.input_schema)):
            faults = validation_faults(compile_schema(schema), one.result.data)
            assert faults == [], one.tool.name


def test_omit_removes_only_abstracts_and_affiliations(
    make_toolbox: MakeToolbox, upstream: Upstream
) -> None:
    answer_calls(upstream)
    toolbox = make_toolbox("arxiv", "crossref", "eutils")
    calls: Mapping[str, dict[str, Any]] = {
        "arxiv_query": {"search_query": "all:desk"},
        "crossref_works": {"rows": 10},
        "crossref_work": {"doi": "10.5555/desk.000002"},
        "pubmed_fetch": {"pmids": ["90000001", "90000002", "90000003"]},
        "work_lookup": {"ids": ["10.5555/desk.000002", "90000002"]},
    }
    assert calls.keys() == OMITTING
    seen: set[str] = set()
    for name, arguments in calls.items():
        whole = toolbox.call_sync(name, arguments).data
        for parts, members in (
            (["abstracts"], {"abstract", "abstract_text", "summary"}),
            (["affiliations"], {"affiliations"}),
        ):
            short = toolbox.call_sync(name, {**arguments, "omit": parts}).data
            assert short == without(whole, members), name
            seen |= {f"{name} {part}" for part in parts if short != whole}
    assert len(seen) >= 8, seen


def without(value: Any, members: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: without(one, members) for key, one in value.items() if key not in members}
    return [without(one, members) for one in value] if isinstance(value, list) else value


def test_the_instructions_name_only_listed_tools() -> None:
    assert "arxiv_query" not in instructions(lambda _name: False)
    only = instructions(lambda name: name.startswith("arxiv"), others=["ror_find"])
    assert "arxiv_query" in only
    assert "pubmed" not in only
    assert "Other tools" in only


def test_the_instructions_are_short_and_name_every_built_in_tool(
    answered: list[Answered], make_toolbox: MakeToolbox
) -> None:
    plugins = ("arxiv", "crossref", "eutils", "openalex")
    offered = {tool.name for tool in make_toolbox(*plugins).tools()}
    # Without a granted folder `document_read` is not listed, nor the library's tools without one.
    library = {name for name in NAMED if name.startswith("library_")}
    assert offered == NAMED - {"document_read"} - library
    assert tokens(instructions(lambda name: name in offered)) <= 400


def test_the_costs_that_the_instructions_state_are_measured(answered: list[Answered]) -> None:
    """The twenty calls agree within 40 to 60 percent; real records vary more."""
    measured = {
        "arxiv_query": tokens(answered[0].result.text),
        "pubmed_fetch": tokens(answered[11].result.text) / 5,
        "pubmed_search": tokens(answered[8].result.text),
        "crossref_works": tokens(answered[3].result.text) * 2,
    }
    for name, _, stated in COSTS:
        assert 0.6 <= measured[name] / stated <= 1.6, (name, measured[name])
