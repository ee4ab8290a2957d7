"""Building a graph from scripted sources: caps, merging, cycles, order, and sources that fail."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import pytest

from carrel.errors import Cancelled, DeadlineExceeded, SourceError
from carrel.exchange import Call
from carrel.papers.errors import PaperError
from carrel.papers.graph.build import MAX_EDGES
from carrel.papers.graph.citation_graph import CitationGraph
from carrel.papers.graph.links import ASKED
from carrel.papers.graph.request import GraphRequest
from carrel.plugins.concurrent_calls import Answer, Question, require_patience
from support.citations import Raw, Sources, build, invented_graph, links, new_call, paper

ROOT = "10.5555/root"


def dois(graph: CitationGraph) -> list[str]:
    return [node.id.removeprefix("doi:10.5555/") for node in graph.nodes]


def cites(graph: CitationGraph) -> set[tuple[str, str]]:
    short = {node.id: node.id.removeprefix("doi:10.5555/") for node in graph.nodes}
    return {(short[edge.citing], short[edge.cited]) for edge in graph.edges}


def papers(*names: str, **members: Any) -> list[Raw]:
    return [paper(f"10.5555/{name}", title=name, issued="1999", **members) for name in names]


def failure(code: str, message: str = "sorry") -> SourceError:
    return SourceError(code, message, plugin="one", tool="role:references")


def test_references_and_citations_become_directed_edges() -> None:
    sources = Sources(one={"references": papers("a", "b"), "citations": papers("c")})
    graph = build(sources)
    assert dois(graph) == ["root", "a", "b", "c"]
    assert cites(graph) == {("root", "a"), ("root", "b"), ("c", "root")}
    assert [node.reached_by for node in graph.nodes] == [
        "root", "references", "references", "citations",
    ]  # fmt: skip
    assert graph.reasons == ()
    assert [one["outcome"] for one in graph.attempts] == ["consulted_resolved"]


@pytest.mark.parametrize(
    ("direction", "expected"), [("references", {"root", "a"}), ("citations", {"root", "c"})]
)
def test_one_direction_asks_for_that_role_only(direction: str, expected: set[str]) -> None:
    sources = Sources(one={"references": papers("a"), "citations": papers("c")})
    assert set(dois(build(sources, direction=direction))) == expected
    assert {role for _, role, _ in sources.asked} == {direction}


def test_each_depth_follows_the_links_of_the_one_before() -> None:
    table = {
        ROOT: papers("a"), "10.5555/a": papers("b"), "10.5555/b": papers("c"),
        "10.5555/c": papers("d"),
    }  # fmt: skip
    for depth, last in ((1, "a"), (2, "b"), (3, "c")):
        graph = build(Sources(one={"references": table}), direction="references", depth=depth)
        assert (dois(graph)[-1], graph.nodes[-1].depth) == (last, depth)


@pytest.mark.requirement("papers:graph:one-node")
def test_records_of_one_work_are_one_node_whatever_identifies_them() -> None:
    graph = build(
        Sources(
            one={"references": [paper("10.5555/a", ids={"pmid": "123"}, title="A")]},
            two={"references": [paper(ids={"pmid": "123", "arxiv": "2301.00001v2"})]},
            three={"references": [paper(ids={"arxiv": "2301.00001"}), paper("10.5555/A")]},
        ),
        direction="references",
    )
    [_, node] = graph.nodes
    assert [str(one) for one in node.ids] == ["10.5555/a", "2301.00001", "123"]
    [edge] = graph.edges
    assert edge.sources == ("one", "three", "two")
    assert node.sources == ("one", "three", "two")


def test_a_later_record_joins_nodes_that_were_two() -> None:
    table = {
        ROOT: [paper("10.5555/a"), paper(ids={"pmid": "7"}, title="Also A")],
        "10.5555/a": [],
    }
    known = {"10.5555/a": paper("10.5555/a", ids={"pmid": "7"}, title="A", issued="1990")}
    graph = build(Sources(one={"references": table}), direction="references", known=known)
    assert len(graph.nodes) == 2
    assert cites(graph) == {("root", "a")}
    assert graph.nodes[1].year == 1990


def test_works_without_identifiers_are_joined_by_title_author_and_year() -> None:
    same: Raw = {
        "title": "A title that is long enough to tell",
        "authors": [{"family": "Müller", "given": "A."}],
        "issued": "1987",
    }
    sources = Sources(one={"references": [paper(**same)]}, two={"references": [paper(**same)]})
    graph = build(sources, direction="references")
    assert len(graph.nodes) == 2
    assert graph.nodes[1].id.startswith("hash:")
    assert graph.edges[0].sources == ("one", "two")


def test_records_without_identifier_and_title_are_left_out() -> None:
    graph = build(Sources(one={"references": [paper(), paper(title="Only a title")]}))
    assert [node.title for node in graph.nodes] == ["Root", "Only a title"]


@pytest.mark.requirement("papers:graph:cycles")
def test_cycles_end_and_no_paper_cites_itself() -> None:
    table = {
        ROOT: papers("a", "root"), "10.5555/a": papers("root", "a", "b"),
        "10.5555/b": papers("a", "root"),
    }  # fmt: skip
    sources = Sources(one={"references": table})
    graph = build(sources, direction="references", depth=3)
    assert dois(graph) == ["root", "a", "b"]
    assert cites(graph) == {("root", "a"), ("a", "root"), ("a", "b"), ("b", "a"), ("b", "root")}
    assert len(sources.asked) == 3


def test_a_citation_that_both_ends_name_is_one_edge() -> None:
    sources = Sources(
        one={
            "references": {ROOT: papers("a"), "10.5555/a": []},
            "citations": {"10.5555/a": papers("root")},
        },
        two={"references": {ROOT: [*papers("a"), *papers("A")]}},
    )
    graph = build(sources, depth=2)
    assert [edge.sources for edge in graph.edges] == [("one", "two")]


def test_references_that_records_list_become_edges_between_nodes() -> None:
    listed = [{"doi": "10.5555/B"}, {"doi": "10.5555/elsewhere"}, {"unstructured": "B"}]
    works = [*papers("a", references=listed), *papers("b")]
    graph = build(Sources(one={"references": works}), direction="references")
    assert cites(graph) == {("root", "a"), ("root", "b"), ("a", "b")}


def test_the_most_cited_papers_are_taken_then_those_that_most_sources_name() -> None:
    counted = [paper(f"10.5555/c{count}", cited_by_count=count) for count in (5, 50, 500)]
    bare = papers("named-by-one", "named-by-two")
    graph = build(
        Sources(one={"references": [*bare, *counted]}, two={"references": bare[1:]}),
        direction="references",
        per_paper=4,
    )
    assert dois(graph) == ["root", "c500", "c50", "c5", "named-by-two"]
    assert graph.reasons == ("per_paper",)


@pytest.mark.requirement("papers:graph:order")
def test_the_graph_does_not_depend_on_the_order_of_sources_and_answers() -> None:
    tables: dict[str, Any] = {
        "one": {"references": papers("a", "b", "c")},
        "two": {"references": papers("c", "d"), "citations": papers("e", "a")},
        "three": {"citations": papers("f", "e"), "references": papers("b")},
    }
    made = []
    for names in itertools.permutations(tables):
        turned: Any = {
            name: {role: works[::-1] if turn else works for role, works in tables[name].items()}
            for turn, name in enumerate(names)
        }
        graph = build(Sources(**turned), per_paper=3, depth=2, max_nodes=6)
        made.append((graph.nodes, graph.edges))
    assert all(one == made[0] for one in made)


# Caps


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"depth": 0}, "depth: expected 1 to 3"),
        ({"depth": 4}, "depth"),
        ({"max_nodes": 101}, "max_nodes: expected 1 to 100"),
        ({"per_paper": 26}, "per_paper: expected 1 to 25"),
        ({"direction": "sideways"}, "direction"),
    ],
)
def test_caps_beyond_the_document_s_are_refused(members: Any, fault: str) -> None:
    with pytest.raises(PaperError, match=fault) as caught:
        GraphRequest(ref=ROOT, **members)
    assert caught.value.paper_code == "INVALID_REF"


@pytest.mark.requirement("papers:graph:caps")
def test_a_source_with_ten_thousand_links_is_held_to_the_caps() -> None:
    def many(arguments: Raw) -> Raw:
        start = arguments["id"]["id"]
        works = [paper(f"{start}.{number}", cited_by_count=number) for number in range(10_000)]
        return links(*works, total=10**9, next_cursor="more")

    sources = Sources(hostile={"references": many, "citations": many})
    graph = build(sources, depth=3, max_nodes=100)
    assert len(graph.nodes) == 100
    assert len(graph.edges) <= MAX_EDGES
    assert {"max_nodes", "per_paper"} <= set(graph.reasons)
    assert all(request["limit"] <= ASKED for request in sources.arguments)
    # One answer suffices for 20 papers, so a graph of 100 needs few of them.
    assert len(sources.asked) <= 10


def test_a_hundred_papers_that_all_cite_each_other_have_a_bounded_number_of_edges() -> None:
    everything = papers(*(f"p{number:02}" for number in range(99)))

    def part(arguments: Raw) -> list[Raw]:
        start = sum(arguments["id"]["id"].encode()) % 50
        return everything[start : start + ASKED]

    graph = build(
        Sources(one={"references": part, "citations": part}), depth=3, max_nodes=100, per_paper=1
    )
    assert len(graph.edges) <= MAX_EDGES
    full = build(
        Sources(one={"references": everything}), root=paper(ROOT, title="Root"), max_nodes=100,
        direction="references",
    )  # fmt: skip
    assert len(full.nodes) == 21


@pytest.mark.requirement("papers:graph:cursors")
def test_endless_cursors_end() -> None:
    pages = itertools.count()

    def endless(_arguments: Raw) -> Raw:
        return {"links": [], "next_cursor": f"page {next(pages)}"}

    sources = Sources(hostile={"references": endless}, good={"references": papers("a")})
    graph = build(sources, direction="references")
    assert dois(graph) == ["root", "a"]
    assert sum(name == "hostile" for name, _, _ in sources.asked) == 3


def test_a_source_with_short_pages_is_asked_for_further_ones() -> None:
    def page(arguments: Raw) -> Raw:
        number = int(arguments.get("cursor", "0"))
        works = papers(f"p{number}", f"q{number}")
        return links(*works, next_cursor=str(number + 1)) if number < 2 else links(*works)

    graph = build(Sources(one={"references": page}), direction="references", per_paper=20)
    assert len(graph.nodes) == 7
    assert graph.reasons == ()


def test_a_graph_of_one_node_says_that_there_is_more() -> None:
    graph = build(Sources(one={"references": papers("a")}), max_nodes=1)
    assert (dois(graph), graph.reasons) == (["root"], ("max_nodes",))


# What is known of a paper


def test_bare_identifiers_are_looked_up_in_the_end() -> None:
    known = {"10.5555/a": paper("10.5555/a", title="Looked up", issued="1985-03")}
    graph = build(
        Sources(one={"references": [paper("10.5555/a"), paper("10.5555/b")]}), known=known
    )
    assert [(node.title, node.year) for node in graph.nodes[1:]] == [
        ("Looked up", 1985), (None, None),
    ]  # fmt: skip
    assert graph.nodes[2].name == "10.5555/b"


def test_a_reference_says_only_what_no_record_of_the_work_does() -> None:
    reference = paper(
        "10.5555/a", type="document", title="A. Reader, On desks (1990)", issued="1990",
        container_title="Desks",
    )  # fmt: skip
    record = paper("10.5555/a", title="On desks", ids={"openalex": "W7"})
    graph = build(
        Sources(crossref={"references": [reference]}, openalex={"references": [record]}),
        direction="references",
    )
    node = graph.nodes[1]
    assert (node.title, node.type) == ("On desks", "article-journal")
    assert (node.year, node.container_title) == (1990, "Desks")
    assert node.sources == ("crossref", "openalex")
    known = {"10.5555/a": paper("10.5555/a", title="Looked up", issued="1991")}
    graph = build(Sources(crossref={"references": [reference]}), known=known)
    assert (graph.nodes[1].title, graph.nodes[1].year) == ("Looked up", 1991)


def test_a_paper_that_no_source_describes_is_its_identifier() -> None:
    error = PaperError("NETWORK_ERROR", "down", attempts=[{"source": "x"}])
    graph = build(Sources(one={"references": papers("a")}), root=error)
    assert graph.root.id == "doi:10.5555/root"
    assert (graph.root.title, graph.root.sources) == (None, ())
    assert graph.attempts[0] == {"source": "x"}


@pytest.mark.parametrize("code", ["NOT_FOUND", "AMBIGUOUS", "INVALID_REF"])
def test_a_reference_without_a_paper_is_an_error(code: Any) -> None:
    sources = Sources(one={"references": papers("a")})
    with pytest.raises(PaperError) as caught:
        build(sources, root=PaperError(code, "no"))
    assert caught.value.paper_code == code
    assert sources.asked == []


def test_hidden_characters_and_long_texts_are_removed() -> None:
    work = paper(
        "10.5555/a", title="a\u202eb\x00c\n" + "x" * 900, authors=[{"literal": "Eve\u2066l"}] * 90
    )
    node = build(Sources(one={"references": [work]})).nodes[1]
    assert node.title is not None
    assert node.title.startswith("ab c x")
    assert len(node.title) <= 502
    assert node.authors == ("Evel",) * 30


@pytest.mark.parametrize(
    ("author", "label"),
    [
        ({"family": "van der Meer", "given": "Inês"}, "van der Meer"),
        ({"literal": "Nora Núñez-Reader"}, "Núñez-Reader"),
        ({"literal": "Núñez-Reader, Nora"}, "Núñez-Reader"),
        ({"literal": "The Desk Collaboration"}, "The Desk Collaboration"),
        ({"given": "Plato"}, "Plato"),
    ],
)
def test_the_first_author_is_named_by_the_family(author: Raw, label: str | None) -> None:
    graph = build(Sources(one={"references": [paper("10.5555/a", authors=[author])]}))
    assert graph.nodes[1].first_author == label


# Sources that fail


def test_a_source_that_failed_is_reported_and_the_rest_is_a_result() -> None:
    sources = Sources(
        good={"references": papers("a")},
        busy={"references": failure("rate_limited", "too many")},
        broken={"references": {"links": 4}},
    )
    graph = build(sources, direction="references")
    assert dois(graph) == ["root", "a"]
    assert graph.reasons == ("source_failed",)
    attempts = {one["source"]: one for one in graph.attempts}
    assert attempts["busy"]["outcome"] == attempts["broken"]["outcome"] == "consulted_failed"
    assert "too many" in attempts["busy"]["detail"]


def test_a_source_that_answered_nothing_in_a_round_is_asked_no_more() -> None:
    table = {ROOT: papers("a", "b", "c")}
    sources = Sources(
        good={"references": table}, dead={"references": failure("upstream_unavailable")}
    )
    graph = build(sources, direction="references", depth=2)
    assert sum(name == "dead" for name, _, _ in sources.asked) == 1
    assert "asked no more" in {one["source"]: one for one in graph.attempts}["dead"]["detail"]


def test_a_paper_that_a_source_does_not_know_is_no_failure() -> None:
    sources = Sources(good={"references": papers("a")}, other={"references": failure("not_found")})
    graph = build(sources, direction="references")
    assert graph.reasons == ()
    assert graph.attempts[1]["outcome"] == "consulted_no_record"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("rate_limited", "RATE_LIMITED"),
        ("denied", "CAPABILITY_DENIED"),
        ("timeout", "FETCH_TIMEOUT"),
    ],
)
def test_no_answer_at_all_is_the_failure_s_code(code: str, expected: str) -> None:
    with pytest.raises(PaperError) as caught:
        build(Sources(one={"references": failure(code)}))
    assert caught.value.paper_code == expected
    assert caught.value.attempts[-1]["outcome"] == "consulted_failed"


def test_failures_of_several_kinds_are_a_network_error() -> None:
    late = DeadlineExceeded(plugin="two", tool="role:references", seconds=3)
    with pytest.raises(PaperError) as caught:
        build(Sources(one={"references": failure("rate_limited")}, two={"references": late}))
    assert caught.value.paper_code == "NETWORK_ERROR"


def test_no_source_with_the_role_is_reported() -> None:
    with pytest.raises(PaperError) as caught:
        build(Sources(one={"citations": []}), direction="references")
    assert caught.value.paper_code == "CAPABILITY_DENIED"


def test_identifiers_that_no_source_takes_are_reported() -> None:
    sources = Sources(kinds=("openalex",), one={"references": papers("a")})
    with pytest.raises(PaperError, match=r"known: doi\)") as caught:
        build(sources)
    assert caught.value.paper_code == "NOT_FOUND"
    assert caught.value.attempts[0]["outcome"] == "not_consulted_not_applicable"


def test_no_links_are_a_graph_of_one_paper() -> None:
    graph = build(Sources(one={"references": [], "citations": []}))
    assert (dois(graph), graph.reasons) == (["root"], ())
    assert graph.attempts[0]["outcome"] == "consulted_no_record"


def test_the_end_of_the_time_leaves_what_was_found() -> None:
    call = new_call()

    def last(_arguments: Raw) -> list[Raw]:
        call.deadline = time.monotonic() + 0.1
        return papers("a")

    graph = build(Sources(one={"references": last}), direction="references", depth=3, call=call)
    assert dois(graph) == ["root", "a"]
    assert graph.reasons == ("deadline",)


def test_a_round_has_half_of_the_time_that_is_left() -> None:
    call = new_call(100)
    rounds: list[float] = []

    class Timed(Sources):
        def ask(self, questions: Sequence[Question], call: Call) -> list[Answer]:
            rounds.append(call.remaining)
            return super().ask(questions, call)

    build(Timed(one={"references": {ROOT: papers("a")}}), depth=2, call=call)
    assert [40 < seconds <= 50 for seconds in rounds] == [True, True]


def test_no_time_at_all_is_a_timeout() -> None:
    with pytest.raises(PaperError) as caught:
        build(Sources(one={"references": papers("a")}), call=new_call(0.2))
    assert caught.value.paper_code == "FETCH_TIMEOUT"


def test_a_cancelled_call_ends_a_round() -> None:
    call = new_call()

    class Cancelling(Sources):
        def ask(self, questions: Sequence[Question], part: Call) -> list[Answer]:
            call.cancel()
            require_patience(part)
            return super().ask(questions, part)

    with pytest.raises(Cancelled):
        build(Cancelling(one={"references": papers("a")}), call=call)


def test_an_invented_literature_is_followed() -> None:
    graph = invented_graph()
    assert len(graph.nodes) == 60
    assert {node.depth for node in graph.nodes} == {0, 1, 2}
    ids = {node.id for node in graph.nodes}
    assert all({edge.citing, edge.cited} <= ids for edge in graph.edges)
    assert len(set(graph.edges)) == len(graph.edges)
