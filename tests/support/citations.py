"""An invented literature, scripted sources that know parts of it, and graphs made from it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.prose import FAMILY, GIVEN, abstract, pick, title

from carrel.errors import CarrelError
from carrel.exchange import Call, Limits
from carrel.lookup import LookupItem, LookupResult
from carrel.papers.errors import PaperError
from carrel.papers.graph.build import GraphBuilder
from carrel.papers.graph.citation_graph import CitationGraph
from carrel.papers.graph.links import LinkSources
from carrel.papers.graph.request import GraphRequest
from carrel.papers.resolve import Resolution
from carrel.plugins.concurrent_calls import Answer, Question
from carrel.plugins.manifests.manifest import RoleSpec
from carrel.plugins.roles import RoleSource
from carrel.records import Work, merge, parse_id

Raw = dict[str, Any]


def paper(doi: str | None = None, **members: Any) -> Raw:
    """Returns a raw record."""
    ids = {**({"doi": doi} if doi else {}), **members.pop("ids", {})}
    return {"ids": ids, "type": "article-journal", "source": "self-styled", **members}


def links(*works: Raw, **more: Any) -> Raw:
    """Returns what a role answers."""
    return {"links": [{"work": work} for work in works], **more}


class Sources:
    """Plugins that list links, as tables: source → role → identifier → answer.

    Attributes:
        asked: every question, as source, role and identifier, in order.
    """

    def __init__(self, *, kinds: Sequence[str] = ("doi",), **tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self.kinds = tuple(kinds)
        self.asked: list[tuple[str, str, str]] = []
        self.arguments: list[Raw] = []

    def links(self, roles: Iterable[Any]) -> LinkSources:
        return LinkSources(
            {
                role: [
                    RoleSource(name, name, RoleSpec(role, identifiers=self.kinds, most=100))
                    for name, table in self.tables.items()
                    if role in table
                ]
                for role in roles
            },
            self.ask,
        )

    def ask(self, questions: Sequence[Question], call: Call) -> list[Answer]:
        assert call.remaining > 0
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        arguments = dict(question.arguments)
        role = question.tool.removeprefix("role:")
        self.asked.append((question.plugin, role, arguments["id"]["id"]))
        self.arguments.append(arguments)
        answer: Any = self.tables[question.plugin][role]
        if isinstance(answer, Mapping) and "links" not in answer:
            answer = answer.get(arguments["id"]["id"], [])
        if callable(answer):
            answer = answer(arguments)
        if isinstance(answer, CarrelError):
            return answer
        if isinstance(answer, list):
            answer = links(*answer)
        return json.dumps(answer).encode()


def build(
    sources: Sources,
    ref: str = "10.5555/root",
    *,
    root: Raw | PaperError | None = None,
    known: Mapping[str, Raw] | None = None,
    call: Call | None = None,
    **request: Any,
) -> CitationGraph:
    """Returns the graph of a paper.

    Args:
        sources: see above.
        ref: the paper.
        root: the record of the paper, or why it cannot be resolved.
        known: identifier → record, which a lookup finds.
        call: the call of the whole.
        **request: further members of `GraphRequest`.
    """

    def resolve(reference: str, _call: Call) -> Resolution:
        if isinstance(root, PaperError):
            raise root
        raw = root or paper(reference, title="Root", issued="2000")
        return Resolution(reference, parse_id(reference), merge([work_of(raw, "registry")]))

    def look_up(ids: Sequence[str], _call: Call) -> LookupResult:
        found = [(known or {}).get(text.partition(":")[2]) for text in ids]
        works = [merge([work_of(raw, "registry")]) for raw in found if raw is not None]
        places = iter(range(len(works)))
        items = [
            LookupItem(text, "found", work=None if raw is None else next(places))
            for text, raw in zip(ids, found, strict=True)
        ]
        return LookupResult(tuple(items), tuple(works), ())

    wanted = GraphRequest(ref=ref, **request)
    builder = GraphBuilder(wanted, sources.links(wanted.roles), resolve, look_up)
    return builder.build(call or new_call())


def new_call(seconds: float = 60) -> Call:
    """Returns a call with so much time."""
    return Call("carrel", "graph", Limits(wall_seconds=seconds))


def work_of(raw: Raw, source: str) -> Work:
    """Returns a raw record as a source's."""
    return Work.from_json({**raw, "source": source})


def literature(size: int = 90, seed: int = 7) -> tuple[list[Raw], list[tuple[int, int]]]:
    """Returns invented papers with years, authors and abstracts, and which cites which.

    The paper in the middle cites earlier ones and is cited by later ones.
    """
    chance = random.Random(seed)
    years = sorted(2024 - int(38 * chance.random() ** 1.6) for _ in range(size))
    papers = []
    for number, year in enumerate(years):
        people = [
            {"given": pick(chance, GIVEN), "family": pick(chance, FAMILY)}
            for _ in range(1 + int(chance.random() * 5))
        ]
        age = 2025 - year
        papers.append(
            paper(
                f"10.5555/desk.{number}",
                title=title(chance),
                authors=people,
                issued=str(year),
                container_title=f"Annals of Reading {1 + number % 7}",
                abstract=abstract(chance),
                cited_by_count=int(age * 90 * chance.random() ** 4),
                is_oa=chance.random() < 0.4,
            )
        )
    cites = []
    middle = size // 2
    for number in range(size):
        earlier = range(max(0, number - 45), number)
        for other in earlier:
            weight = 0.5 if middle in (number, other) else 0.05
            if chance.random() < weight:
                cites.append((number, other))
                listed = papers[number].setdefault("references", [])
                listed.append({"doi": papers[other]["ids"]["doi"]})
    return papers, cites


def invented_graph(size: int = 90, **request: Any) -> CitationGraph:
    """Returns the graph around the paper in the middle of an invented literature."""
    papers, cites = literature(size)
    references: dict[str, list[Raw]] = {}
    citations: dict[str, list[Raw]] = {}
    for citing, cited in cites:
        references.setdefault(papers[citing]["ids"]["doi"], []).append(papers[cited])
        citations.setdefault(papers[cited]["ids"]["doi"], []).append(papers[citing])
    sources = Sources(
        catalogue={"references": references, "citations": citations},
        registry={"references": {key: value[::2] for key, value in references.items()}},
    )
    root = papers[size // 2]
    options = {"depth": 2, "max_nodes": 60, "per_paper": 18, **request}
    return build(sources, root["ids"]["doi"], root=root, **options)
