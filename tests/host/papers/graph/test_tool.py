"""`paper_citation_graph` over plugins in their sandbox, and `carrel papers graph`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig
from carrel.features import FEATURES
from carrel.papers.graph.formats import WRITERS
from carrel.tools import Toolbox
from support.checked_results import checked_result
from support.citations import links, paper
from support.guests import Guest, guest
from support.lookups import LOOP, found, says
from support.manifests import manifest_text

Raw = dict[str, Any]
Call = Callable[..., Raw]
Make = Callable[..., Call]

ROOT = "10.5555/root"


def knows(**members: Any) -> Guest:
    """Returns a guest that looks the root up."""
    text = says([found("doi", ROOT, ids={"doi": ROOT}, title="Root", issued="2001", **members)])
    manifest = manifest_text(hosts=[], lookup={"identifiers": ["doi"], "batch": 10})
    return guest(result=text, manifest=manifest)


def lists(result: Any, *roles: str, body: str = "", failed: bool = False) -> Guest:
    """Returns a guest that always returns these links."""
    declared = {role: {"identifiers": ["doi"], "max": 50} for role in roles or ("references",)}
    manifest = manifest_text(hosts=[], roles=declared, contract="1.1")
    return guest(body, result=json.dumps(result), failed=failed, manifest=manifest)


@pytest.fixture
def make(tmp_path: Path, code_folder: Path) -> Iterator[Make]:
    """Makes the tool over plugins of these names."""
    opened: list[Toolbox] = []

    def one(*, limits: Raw | None = None, **guests: Guest) -> Call:
        plugins = []
        for name, made in guests.items():
            path = tmp_path / f"{name}.wasm"
            path.write_bytes(made.wasm)
            plugins.append(PluginConfig(name, path.as_uri()))
        config = Config(
            cache_dir=code_folder, data_dir=tmp_path, plugins=tuple(plugins), limits=limits or {}
        )
        toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "papers"])
        opened.append(toolbox)

        def call(**arguments: Any) -> Raw:
            return checked_result(toolbox, "paper_citation_graph", **arguments)

        return call

    yield one
    for toolbox in opened:
        toolbox.close()


def test_plugins_that_nobody_knew_make_a_graph(make: Make) -> None:
    a = paper("10.5555/a", title="A", issued="1990", abstract="About a.", cited_by_count=3)
    answer = links(a, paper("10.5555/b"))
    answer["links"][0] |= {"contexts": ["As A says."], "influential": True}
    call = make(known=knows(), one=lists(answer), two=lists(links(a)))
    graph = call(ref="https://doi.org/10.5555/ROOT")
    assert (graph["ok"], graph["root"], graph["total_visited"]) == (True, "doi:10.5555/root", 3)
    assert (graph["truncated"], graph["reasons"]) == (False, [])
    assert graph["nodes"][1] == {
        "id": "doi:10.5555/a", "ids": {"doi": "10.5555/a"},
        "url": "https://doi.org/10.5555/a", "title": "A", "authors": [],
        "year": 1990, "type": "article-journal", "cited_by_count": 3, "depth": 1,
        "reached_by": "references", "sources": ["one", "two"],
    }  # fmt: skip
    assert graph["edges"] == [
        {"citing": "doi:10.5555/root", "cited": "doi:10.5555/a", "sources": ["one", "two"],
         "influential": True},
        {"citing": "doi:10.5555/root", "cited": "doi:10.5555/b", "sources": ["one"]},
    ]  # fmt: skip
    detailed = call(ref=ROOT, details=True)
    assert detailed["nodes"][1]["abstract"] == "About a."
    assert detailed["edges"][0]["contexts"] == ["As A says."]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_a_text(make: Make, name: str) -> None:
    result = make(known=knows(), one=lists(links(paper("10.5555/a", title="A"))))(
        ref=ROOT, format=name
    )
    assert result["ok"]
    assert "nodes" not in result
    assert "A" in result["text"]


@pytest.mark.requirement("result:typed:graph")
def test_a_plugin_that_fails_costs_its_own_links(make: Make) -> None:
    report = {"code": "rate_limited", "message": "too many"}
    graph = make(
        known=knows(),
        good=lists(links(paper("10.5555/a"))),
        busy=lists(report, failed=True),
        broken=lists([]),
        trap=lists(links(), body="unreachable"),
    )(ref=ROOT)
    assert graph["ok"]
    assert (graph["total_visited"], graph["reasons"]) == (2, ["source_failed"])
    outcomes = {one["source"]: one["outcome"] for one in graph["attempts"]}
    assert outcomes == {
        "known": "consulted_resolved", "good": "consulted_resolved", "busy": "consulted_failed",
        "broken": "consulted_failed", "trap": "consulted_failed",
    }  # fmt: skip


@pytest.mark.requirement("serve:alive:graph")
def test_a_plugin_that_hangs_leaves_time_for_the_next_depth(make: Make) -> None:
    started = time.monotonic()
    graph = make(
        known=knows(),
        good=lists(links(paper("10.5555/a", title="A", issued="1999"))),
        slow=lists(links(), body=LOOP),
        limits={"wall_seconds": 4},
    )(ref=ROOT, depth=2)
    assert time.monotonic() - started < 30
    assert graph["total_visited"] == 2
    # Both papers were expanded: the second one by the source that answers.
    assert graph["edges"][0]["sources"] == ["good"]
    attempts = {one["source"]: one for one in graph["attempts"]}
    assert "2 links" in attempts["good"]["detail"]
    assert "asked no more" in attempts["slow"]["detail"]


def test_no_answer_is_an_error_with_its_attempts(make: Make) -> None:
    result = make(known=knows(), trap=lists(links(), body="unreachable"))(ref=ROOT)
    assert result["ok"] is False
    assert result["error"]["attempts"][-1]["source"] == "trap"


@pytest.mark.parametrize(
    "arguments",
    [
        {"ref": "no reference"},
        {"ref": ROOT, "depth": 4},
        {"ref": ROOT, "max_nodes": 0},
        {"ref": ROOT, "per_paper": 26},
        {"ref": ROOT, "format": "png"},
        {"ref": ROOT, "dry_run": True},
        {},
    ],
)
def test_wrong_arguments_are_refused_in_the_envelope(make: Make, arguments: Raw) -> None:
    result = make(known=knows(), one=lists(links()))(**arguments)
    assert result["error"]["code"] == "INVALID_REF"


def test_without_a_plugin_that_lists_links_there_is_no_tool(
    tmp_path: Path, code_folder: Path
) -> None:
    (tmp_path / "known.wasm").write_bytes(knows().wasm)
    config = Config(
        cache_dir=code_folder,
        data_dir=tmp_path,
        plugins=(PluginConfig("known", (tmp_path / "known.wasm").as_uri()),),
    )
    toolbox = Toolbox(config, features=[one for one in FEATURES if one.name == "papers"])
    try:
        assert "paper_citation_graph" not in [tool.name for tool in toolbox.tools()]
    finally:
        toolbox.close()
