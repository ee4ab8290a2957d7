"""Tests that tools of other features record in the session that a call names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config, PluginConfig, WebConfig
from carrel.features import FEATURES
from carrel.surfaces import find_surface
from carrel.surfaces.toolbox import SurfaceToolbox
from carrel.tools import Toolbox
from support.citations import links, paper
from support.guests import guest
from support.lookups import found, says
from support.manifests import manifest_text

Raw = dict[str, Any]
ROOT = "10.5555/root"
STEP = {"search_step": "look", "step_number": 1, "next_step_needed": True}


@pytest.fixture
def configuration(tmp_path: Path, code_folder: Path) -> Config:
    """Returns a configuration with a source of works and one of references."""
    record = says([found("doi", ROOT, ids={"doi": ROOT}, title="Root", issued="2001")])
    knows = guest(
        result=record,
        manifest=manifest_text(hosts=[], lookup={"identifiers": ["doi"], "batch": 10}),
    )
    roles = {"references": {"identifiers": ["doi"], "max": 50}}
    references = links(
        paper("10.5555/<1>", title="Cited <1>"), paper(ids={"s2": "f" * 40}, title="Not published")
    )
    lists = guest(
        result=json.dumps(references), manifest=manifest_text(hosts=[], roles=roles, contract="1.1")
    )
    plugins = []
    for name, made in {"crossref": knows, "semanticscholar": lists}.items():
        path = tmp_path / f"{name}.wasm"
        path.write_bytes(made.wasm)
        plugins.append(PluginConfig(name, path.as_uri()))
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path / "data",
        plugins=tuple(plugins),
        web=WebConfig(research=True),
    )


Open = Callable[..., Toolbox]


@pytest.fixture
def open_toolbox(configuration: Config) -> Iterator[Open]:
    opened: list[Toolbox] = []

    def one(surface: str | None = None, **web: Any) -> Toolbox:
        features = [feature for feature in FEATURES if feature.name in {"papers", "web"}]
        config = replace(configuration, web=WebConfig(**{"research": True, **web}))
        if surface is None:
            opened.append(Toolbox(config, features=features))
        else:
            opened.append(SurfaceToolbox(find_surface(surface), config, features=features))
        return opened[-1]

    yield one
    for toolbox in opened:
        toolbox.close()


def test_papers_of_a_citation_graph_are_added_to_the_session(open_toolbox: Open) -> None:
    toolbox = open_toolbox()
    id_ = toolbox.call_sync("research_step", STEP).data["session_id"]
    graph = toolbox.call_sync("paper_citation_graph", {"ref": ROOT, "session_id": id_}).data
    assert graph["ok"], graph
    session = toolbox.call_sync("research_session", {"session_id": id_}).data
    assert [(one["url"], one["title"]) for one in session["sources"]] == [
        (f"https://doi.org/{ROOT}", "Root"),
        ("https://doi.org/10.5555/%3C1%3E", "Cited <1>"),
        ("https://www.semanticscholar.org/paper/" + "f" * 40, "Not published"),
    ]
    assert session["provider_stats"]["paper_citation_graph"] == {"attempts": 1, "successes": 1}


@pytest.mark.requirement("web-researcher:graph:session")
def test_the_surface_adds_them_too(open_toolbox: Open) -> None:
    toolbox = open_toolbox("web-researcher")
    step = {"searchStep": "look", "stepNumber": 1, "nextStepNeeded": True}
    id_ = toolbox.call_sync("sequential_search", step).data["sessionId"]
    graph = toolbox.call_sync("citation_graph", {"paper": ROOT, "sessionId": id_}).data
    assert graph["references"][0]["url"] == "https://doi.org/10.5555/%3C1%3E"
    session = toolbox.call_sync("get_research_session", {"sessionId": id_}).data
    assert len(session["sources"]) == 3


def test_a_graph_that_failed_is_a_failure_of_the_session(open_toolbox: Open) -> None:
    toolbox = open_toolbox()
    id_ = toolbox.call_sync("research_step", STEP).data["session_id"]
    for ref in ("no reference", "none either", "nor this"):
        result = toolbox.call_sync("paper_citation_graph", {"ref": ref, "session_id": id_}).data
        assert result["ok"] is False
    session = toolbox.call_sync("research_session", {"session_id": id_}).data
    assert "sources" not in session
    assert session["provider_stats"]["paper_citation_graph"] == {"attempts": 3, "successes": 0}
    assert session["error_patterns"]


@pytest.mark.parametrize("session_id", ["nothing", "0" * 36])
def test_an_unknown_session_never_fails_a_graph(open_toolbox: Open, session_id: str) -> None:
    toolbox = open_toolbox()
    asked = {"ref": ROOT, "session_id": session_id}
    assert toolbox.call_sync("paper_citation_graph", asked).data["ok"]


def test_faults_of_arguments_stay_results_of_the_graph(open_toolbox: Open) -> None:
    toolbox = open_toolbox()
    result = toolbox.call_sync("paper_citation_graph", {"ref": ROOT, "depth": 9}).data
    assert result["error"]["code"] == "INVALID_REF"


def test_without_the_toolset_there_is_no_session(open_toolbox: Open) -> None:
    toolbox = open_toolbox(research=False)
    schema = toolbox.tool("paper_citation_graph").input_schema
    assert "session_id" not in schema["properties"]
    assert "session_id" in open_toolbox().tool("paper_citation_graph").input_schema["properties"]
