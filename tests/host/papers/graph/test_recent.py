"""Tests of the graphs that are kept for a day."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from carrel.papers.graph.citation_graph import CitationGraph
from carrel.papers.graph.recent import FRESH_SECONDS, RecentGraphs
from carrel.papers.graph.request import GraphRequest

REQUEST = GraphRequest(ref="10.5555/desk")


class Graph:
    """Has what is looked at of a graph."""

    def __init__(self, *reasons: str) -> None:
        self.reasons = reasons


def graph(*reasons: str) -> CitationGraph:
    return cast("CitationGraph", Graph(*reasons))


@pytest.mark.requirement("web-researcher:graph:cache")
def test_a_graph_is_returned_again_for_a_day() -> None:
    now = [0.0]
    recent, built = RecentGraphs(lambda: now[0]), graph("per_paper")
    recent.put(REQUEST, built)
    now[0] = FRESH_SECONDS - 1
    assert recent.get(REQUEST) is built
    now[0] = FRESH_SECONDS
    assert recent.get(REQUEST) is None
    assert FRESH_SECONDS == 24 * 3600


@pytest.mark.parametrize("reason", ["deadline", "source_failed"])
def test_a_graph_that_another_call_may_complete_is_not_kept(reason: str) -> None:
    recent = RecentGraphs()
    recent.put(REQUEST, graph(reason))
    assert recent.get(REQUEST) is None


@pytest.mark.parametrize(
    "other",
    [
        {"ref": "10.5555/other"},
        {"direction": "citations"},
        {"depth": 2},
        {"max_nodes": 7},
        {"per_paper": 7},
        {"by_title": True},
    ],
    ids=lambda one: next(iter(one)),
)
def test_every_parameter_is_part_of_the_key(other: dict[str, Any]) -> None:
    recent = RecentGraphs()
    recent.put(REQUEST, graph())
    assert recent.get(replace(REQUEST, **other)) is None


def test_only_the_last_graphs_are_kept() -> None:
    recent = RecentGraphs()
    for number in range(40):
        recent.put(GraphRequest(ref=f"10.5555/{number}"), graph())
    assert recent.get(GraphRequest(ref="10.5555/0")) is None
    assert recent.get(GraphRequest(ref="10.5555/39")) is not None
