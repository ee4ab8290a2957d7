"""GraphML, Mermaid and the page: their form, and texts of sources that try to be markup."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import itertools
import re
from html.parser import HTMLParser

import pytest

from carrel.papers.graph.citation_graph import CitationGraph
from carrel.papers.graph.formats import WRITERS
from carrel.papers.graph.formats.page.layout import WIDTH, lay_out, radius
from support.citations import Sources, build, invented_graph, links, paper

HOSTILE = (
    "</script><script>window.owned = 1</script>",
    "</style></svg><img src=https://evil.example/x onerror=owned()>",
    '"><a href="javascript:owned()">x</a>',
    "]]><!-- -->&amp;&#60;{{script}}",
    'x"]; click n0 href "javascript:owned()"\n  n1 --> n0',
    "`**bold**` style n0 fill:#f00; #quot; %%{init: {}}%%",
    "abc\u202egnol\u2066ats\u200f\x00\x1b[31m",
)


@pytest.fixture(scope="module")
def graph() -> CitationGraph:
    return invented_graph()


@pytest.fixture(scope="module")
def hostile() -> CitationGraph:
    """A graph in which every text is hostile."""
    works = [
        paper(
            f"10.5555/{text}",
            title=text,
            authors=[{"family": text, "given": text}],
            container_title=text,
            abstract=text,
            issued="2001",
        )
        for text in (one.replace(" ", "_").replace("\n", "_") for one in HOSTILE)
    ]
    works += [paper(title=text, authors=[{"literal": text}]) for text in HOSTILE]
    answer = links(*works)
    for link, text in zip(answer["links"], HOSTILE * 2, strict=True):
        link["contexts"] = [text]
    return build(Sources(one={"references": answer}), direction="references")


# GraphML


@pytest.mark.parametrize("name", ["graph", "hostile"])
def test_networkx_reads_the_graphml(name: str, request: pytest.FixtureRequest) -> None:
    networkx = pytest.importorskip("networkx", reason="networkx is not installed; `just setup`")
    graph: CitationGraph = request.getfixturevalue(name)
    text = WRITERS["graphml"](graph)
    read = networkx.read_graphml(io.BytesIO(text.encode()))
    assert read.is_directed()
    assert set(read.nodes) == {node.id for node in graph.nodes}
    assert set(read.edges) == {(edge.citing, edge.cited) for edge in graph.edges}
    for node in graph.nodes:
        attributes = read.nodes[node.id]
        assert attributes.get("title") == node.title
        assert attributes.get("year") == node.year
        assert attributes.get("cited_by_count") == node.cited_by_count
        assert attributes.get("is_oa") == node.is_oa


def test_graphml_has_no_character_that_xml_forbids() -> None:
    work = paper("10.5555/a", title="a\ufffeb\uffffc")
    graph = build(Sources(one={"references": links(work)}), direction="references")
    text = WRITERS["graphml"](graph)
    assert "a\ufffdb\ufffdc" in text
    text.encode()


# Mermaid


def test_mermaid_has_a_line_for_each_node_and_edge(graph: CitationGraph) -> None:
    lines = WRITERS["mermaid"](graph).splitlines()
    assert lines[0] == "flowchart RL"
    assert sum(bool(re.fullmatch(r'  n\d+\["[^"]+"\]:::\w+', line)) for line in lines) == 60
    assert sum(bool(re.fullmatch(r"  n\d+ --> n\d+", line)) for line in lines) == len(graph.edges)


@pytest.mark.requirement("papers:graph:mermaid")
def test_no_title_adds_a_line_or_a_command_to_mermaid(hostile: CitationGraph) -> None:
    for line in WRITERS["mermaid"](hostile).splitlines()[1:]:
        node = re.fullmatch(r'  n\d+\["(.*)"\]:::(root|references)', line)
        if node is None:
            assert re.fullmatch(r"  (n\d+ --> n\d+|classDef \w+ [\w:#,]+)", line), line
            continue
        label = node[1].replace("<br/>", " ")
        assert re.fullmatch(r"[\w .,()/+-]*", re.sub(r"#\d+;", "", label)), label


# The page


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.text = ""
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in ("script", "style"):
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data
        else:
            self.text += data

    def count(self, name: str) -> int:
        return sum(tag == name for tag, _ in self.tags)


@pytest.mark.parametrize("name", ["graph", "hostile"])
@pytest.mark.requirement("papers:graph:page")
def test_the_page_refers_to_nothing_outside(name: str, request: pytest.FixtureRequest) -> None:
    page = Page(WRITERS["html"](request.getfixturevalue(name)))
    for tag, attributes in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "image"}
        assert not {"src", "srcset", "style", "data", "action"} & attributes.keys()
        assert not any(attribute.startswith("on") for attribute in attributes)
        target = attributes.get("href")
        if target is not None:
            assert tag == "a"
            assert target.startswith(("#p", "https://"))
    assert page.count("script") == page.count("style") == 1
    assert "url(" not in page.scripts["style"]
    assert "@import" not in page.scripts["style"]


def test_the_policy_allows_the_page_s_own_script_and_style_only(graph: CitationGraph) -> None:
    page = Page(WRITERS["html"](graph))
    [policy] = [
        attributes["content"]
        for _, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    hashes = {
        name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name, text in page.scripts.items()
    }
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashes['script']}'; "
        f"style-src 'sha256-{hashes['style']}'; base-uri 'none'; form-action 'none'"
    )


def test_texts_of_sources_are_texts_of_the_page(hostile: CitationGraph) -> None:
    page = Page(WRITERS["html"](hostile))
    for text in HOSTILE[:4]:
        assert text in page.text
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200f\x00\x1b]", page.text)


def test_the_list_has_what_the_drawing_has(graph: CitationGraph) -> None:
    text = WRITERS["html"](graph)
    page = Page(text)
    circles = [attributes for tag, attributes in page.tags if tag == "a" and "data-x" in attributes]
    items = {
        attributes["id"] for tag, attributes in page.tags if tag == "li" and "id" in attributes
    }
    assert {f"#{one}" for one in items} == {one["href"] for one in circles}
    assert len(circles) == len(graph.nodes)
    for node in graph.nodes:
        assert html.escape(node.name) in text
        assert html.escape(node.abstract or "") in text


def test_an_incomplete_graph_says_why(graph: CitationGraph) -> None:
    page = Page(WRITERS["html"](graph))
    assert "as many papers as were asked for" in page.text
    complete = build(Sources(one={"references": [paper("10.5555/a")]}))
    assert "not complete" not in Page(WRITERS["html"](complete)).text


# The drawing


@pytest.mark.parametrize("size", [2, 20, 90, 200])
def test_no_paper_covers_another_one_or_its_label(size: int) -> None:
    graph = invented_graph(size, max_nodes=100)
    layout = lay_out(graph)
    boxes = []
    for one in layout.placed:
        assert 0 <= one.x - one.r <= one.x + one.r <= WIDTH
        assert 0 <= one.y - one.r <= one.y + one.r + 12 <= layout.height
        half = max(one.r, 3 * len(one.label))
        boxes.append((one.x - half, one.y - one.r, one.x + half, one.y + one.r + 12))
    for number, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:number]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top, (
                boxes[number],
                other,
            )


def test_years_go_from_left_to_right(graph: CitationGraph) -> None:
    by_year: dict[int, list[float]] = {}
    for one in lay_out(graph).placed:
        assert one.node.year is not None
        by_year.setdefault(one.node.year, []).append(one.x)
    years = sorted(by_year)
    for before, after in itertools.pairwise(years):
        assert max(by_year[before]) < min(by_year[after])


def test_more_citations_are_a_larger_circle() -> None:
    sizes = [radius(count) for count in (None, 1, 10, 100, 1_000, 10_000)]
    assert sizes == sorted(set(sizes))
    assert radius(10**300) == radius(10**200)


def test_papers_without_authors_are_labelled_by_title_or_identifier() -> None:
    works = [
        paper("10.1103/PhysRevLett.130.200601"),
        paper("10.5555/b", title="A desk in the library"),
    ]
    graph = build(Sources(one={"references": works}))
    assert {one.label for one in lay_out(graph).placed} == {
        "Root", "…ett.130.200601", "A desk in the…",
    }  # fmt: skip


@pytest.mark.parametrize("years", [[None], [None, 2001], ["0001", "9999"], [1999, 1999]])
def test_unusual_years_have_a_place(years: list[int | str | None]) -> None:
    works = [
        paper(f"10.5555/{number}", **({} if year is None else {"issued": str(year)}))
        for number, year in enumerate(years)
    ]
    graph = build(Sources(one={"references": works}), root=paper("10.5555/root", title="Root"))
    layout = lay_out(graph)
    assert len(layout.placed) == len(works) + 1
    assert ("year unknown" in [label for _, label in layout.years]) is True
