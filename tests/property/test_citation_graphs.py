"""Properties of citation graphs: caps, one node a work, each citation once, one order."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.papers.graph.build import MAX_EDGES
from carrel.papers.graph.formats import WRITERS
from carrel.papers.graph.formats.page.layout import lay_out
from support.citations import Raw, Sources, build, paper

pytestmark = pytest.mark.property

#: Identifiers of up to seven works, of which some records know two kinds.
_IDS = st.fixed_dictionaries(
    {},
    optional={
        "doi": st.integers(0, 6).map(lambda number: f"10.5555/w{number}"),
        "pmid": st.integers(1, 7).map(str),
        "arxiv": st.integers(1, 7).map(lambda number: f"2301.000{number:02}"),
    },
)
_RECORDS = st.builds(
    lambda ids, **members: paper(
        ids=ids, **{name: value for name, value in members.items() if value is not None}
    ),
    _IDS,
    title=st.none() | st.text(min_size=1, max_size=40).filter(str.strip),
    issued=st.none() | st.integers(1900, 2030).map(str),
    cited_by_count=st.none() | st.integers(0, 10**6),
)
_TABLES = st.dictionaries(
    st.integers(0, 6).map(lambda number: f"10.5555/w{number}"),
    st.lists(_RECORDS, max_size=6),
    max_size=6,
)
_SOURCES = st.lists(
    st.fixed_dictionaries({"references": _TABLES, "citations": _TABLES}), min_size=1, max_size=2
)
_CAPS = st.fixed_dictionaries(
    {
        "depth": st.integers(1, 3),
        "max_nodes": st.integers(1, 30),
        "per_paper": st.integers(1, 6),
        "direction": st.sampled_from(["references", "citations", "both"]),
    }
)


def graph_of(sources: list[Raw], caps: Raw) -> Any:
    named: Any = {f"s{number}": table for number, table in enumerate(sources)}
    return build(Sources(**named), "10.5555/w0", **caps)


@pytest.mark.requirement("papers:graph:caps")
@given(_SOURCES, _CAPS)
def test_every_graph_keeps_its_rules(sources: list[Raw], caps: Raw) -> None:
    graph = graph_of(sources, caps)
    assert 1 <= len(graph.nodes) <= caps["max_nodes"]
    assert graph.nodes[0].depth == 0
    assert max(node.depth for node in graph.nodes) <= caps["depth"]
    assert [node.depth for node in graph.nodes[1:]].count(0) == 0
    names = [node.id for node in graph.nodes]
    assert len(set(names)) == len(names)
    works = [one.work for node in graph.nodes for one in node.ids]
    assert len(set(works)) == len(works), "one work has two nodes"
    pairs = [(edge.citing, edge.cited) for edge in graph.edges]
    assert len(set(pairs)) == len(pairs) <= MAX_EDGES
    assert all(citing != cited for citing, cited in pairs)
    assert {name for pair in pairs for name in pair} <= set(names)
    for node in graph.nodes[1:]:
        assert any(node.id in pair for pair in pairs), "a node without a citation"


@pytest.mark.requirement("papers:graph:order")
@given(_SOURCES, _CAPS, st.integers())
def test_the_order_of_answers_changes_nothing(sources: list[Raw], caps: Raw, seed: int) -> None:
    chance = random.Random(seed)
    shuffled = [
        {
            role: {key: chance.sample(works, len(works)) for key, works in table.items()}
            for role, table in source.items()
        }
        for source in sources
    ]
    one, other = graph_of(sources, caps), graph_of(shuffled, caps)
    assert (one.nodes, one.edges, one.reasons) == (other.nodes, other.edges, other.reasons)


@given(_SOURCES, _CAPS)
def test_every_graph_can_be_written_and_drawn(sources: list[Raw], caps: Raw) -> None:
    graph = graph_of(sources, caps)
    for write in WRITERS.values():
        write(graph).encode()
    assert len(lay_out(graph).placed) == len(graph.nodes)
