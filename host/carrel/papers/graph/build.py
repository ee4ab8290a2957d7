"""Builds a citation graph, breadth first, in rounds of concurrent questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from carrel.exchange import Call
from carrel.papers.errors import PaperError
from carrel.papers.references import parse_reference
from carrel.records import Id
from carrel.records.order import record_rank

from .citation_graph import CitationGraph, Edge, Node, Reason, edge_contexts, is_stub, node_of
from .known_works import KnownWorks

if TYPE_CHECKING:
    from carrel.lookup import LookupResult
    from carrel.papers.resolve import Resolution
    from carrel.plugins.roles import LinkedWork

    from .links import Links, LinkSources
    from .request import GraphRequest, LinkRole

#: Papers whose links are asked for at once.
_AT_ONCE: Final = 8
#: Edges of a graph. A hundred papers that cite each other have some hundreds.
MAX_EDGES: Final = 1_000
#: Seconds below which no further round is begun.
_LAST_ROUND: Final = 0.5
#: Sentences of one edge that are kept until the graph is made.
_CONTEXTS: Final = 20


@dataclass(slots=True)
class _Reached:
    """The distance of a paper from the root, and the directions of the first links to it."""

    depth: int
    directions: set[str]


@dataclass(slots=True)
class _Cites:
    """The sources' statements about one citation."""

    sources: dict[str, None] = field(default_factory=dict)
    influential: bool | None = None
    contexts: list[str] = field(default_factory=list)

    def take(self, source: str, link: LinkedWork | None = None) -> None:
        """Adds what one source says."""
        self.sources[source] = None
        if link is not None:
            if link.influential is not None:
                self.influential = bool(self.influential) or link.influential
            self.contexts += link.contexts[: _CONTEXTS - len(self.contexts)]

    def join(self, other: _Cites) -> None:
        """Adds what sources stated about the same citation under other numbers."""
        self.sources |= other.sources
        if other.influential is not None:
            self.influential = bool(self.influential) or other.influential
        self.contexts += other.contexts


class GraphBuilder:
    """Builds one graph.

    Args:
        request: what is asked for.
        links: the plugins that list links.
        resolve: finds the work of a reference; `PaperResolver.resolve`.
        look_up: finds works by identifiers; `Lookup.run`.
    """

    def __init__(
        self,
        request: GraphRequest,
        links: LinkSources,
        resolve: Callable[[str, Call], Resolution],
        look_up: Callable[[Sequence[str], Call], LookupResult],
    ) -> None:
        self._request = request
        self._links = links
        self._resolve = resolve
        self._look_up = look_up
        self._works = KnownWorks()
        self._reached: dict[int, _Reached] = {}
        self._cites: dict[tuple[int, int], _Cites] = {}
        self._reasons: set[Reason] = set()
        self._attempts: list[dict[str, Any]] = []
        self._root_id: Id | None = None

    def build(self, call: Call, notices: tuple[str, ...] = ()) -> CitationGraph:
        """Builds the graph, and waits for the answers.

        Args:
            call: its deadline is that of the whole.
            notices: plugins that cannot be read, for the result.

        Raises:
            PaperError: `INVALID_REF`, `AMBIGUOUS` or `NOT_FOUND` for the reference; the code of a
                failure if no source answered; `CAPABILITY_DENIED` if no plugin lists links.
            Cancelled: the call was cancelled.
        """
        if not self._links.tallies:
            raise PaperError(
                "CAPABILITY_DENIED",
                f"no plugin that is on lists {' or '.join(self._request.roles)}",
            )
        root, unresolved = self._find_root(call)
        self._expand(root, call)
        if not self._links.has_answer:
            raise self._no_answer(root, unresolved)
        self._describe(call)
        return self._graph(notices)

    def _find_root(self, call: Call) -> tuple[int, PaperError | None]:
        """Returns the root's place, and why there is no more than its identifier."""
        try:
            with call.part(call.remaining / 2) as part:
                found = self._resolve(self._request.ref, part)
        except PaperError as error:
            if error.paper_code in ("INVALID_REF", "AMBIGUOUS", "NOT_FOUND"):
                raise
            try:
                identifier = parse_reference(self._request.ref)
            except PaperError:
                raise error from None
            self._attempts += error.attempts
            self._root_id = identifier
            place = self._works.add_id(identifier)
            self._reached[place] = _Reached(0, set())
            return place, error
        self._attempts += found.attempts
        places = [self._works.add(work) for work in found.merged.records]
        self._root_id = found.id
        if found.id is not None:
            places.append(self._works.add_id(found.id))
        place, *duplicates = [place for place in places if place is not None]
        for duplicate in duplicates:  # of one work by their title, where no identifier joins them
            self._works.unite(place, duplicate)
        place = self._works.place(place)
        self._reached[place] = _Reached(0, set())
        return place, None

    def _expand(self, root: int, call: Call) -> None:
        """Follows links from the root, one depth after another."""
        frontier = [root]
        for depth in range(self._request.depth):
            reached: list[int] = []
            while frontier:
                if self._room < 1 and self._links.has_answer:
                    self._reasons.add("max_nodes")
                    return
                if call.remaining < _LAST_ROUND:
                    self._reasons.add("deadline")
                    return
                count = self._papers_of_a_round()
                papers, frontier = frontier[:count], frontier[count:]
                identifiers = [self._ids(place) for place in papers]
                with call.part(call.remaining / 2) as part:
                    answers = self._links.ask(identifiers, self._request.per_paper, part)
                for place, links in zip(papers, answers, strict=True):
                    reached += self._take(self._works.place(place), links, depth)
            frontier = self._expandable(reached, depth + 1)

    @property
    def _room(self) -> int:
        return self._request.max_nodes - len(self._reached)

    def _ids(self, place: int) -> tuple[Id, ...]:
        """Returns the identifiers of a paper; of the root, the requested one first."""
        ids = self._works.ids(place)
        return (self._root_id, *ids) if self._root_id is not None and self._root_id in ids else ids

    def _papers_of_a_round(self) -> int:
        """Returns the number of papers to ask about at once: no more than there is room for."""
        most = self._request.per_paper * len(self._request.roles)
        return max(1, min(_AT_ONCE, -(-self._room // most)))

    def _expandable(self, places: Iterable[int], depth: int) -> list[int]:
        """Returns the places that were reached at a depth, each once, the most cited first."""
        now = {self._works.place(place) for place in places}
        now = {place for place in now if self._reached[place].depth == depth}
        return sorted(now, key=self._rank)

    def _take(self, paper: int, answers: Sequence[Links], depth: int) -> list[int]:
        """Adds the links of one paper, and returns the places that are new in the graph."""
        new: list[int] = []
        for role in self._request.roles:
            listed_by: dict[int, set[str]] = {}
            for links in answers:
                if links.role != role:
                    continue
                if links.has_more:
                    self._reasons.add("per_paper")
                for link in links.links:
                    place = self._works.add(link.work)
                    if place is None:
                        continue
                    listed_by.setdefault(place, set()).add(links.source)
                    self._add_citation(paper, place, role, links.source, link)
            new += self._choose(paper, listed_by, role, depth)
        return new

    def _add_citation(
        self, paper: int, linked: int, role: LinkRole, source: str, link: LinkedWork | None
    ) -> None:
        pair = (paper, linked) if role == "references" else (linked, paper)
        self._cites.setdefault(pair, _Cites()).take(source, link)

    def _choose(
        self, paper: int, listed_by: dict[int, set[str]], role: LinkRole, depth: int
    ) -> list[int]:
        """Adds the best linked papers as nodes, and returns those that are new."""
        self._settle()
        paper = self._works.place(paper)
        sources: dict[int, set[str]] = {}
        for place, names in listed_by.items():
            sources.setdefault(self._works.place(place), set()).update(names)
        sources.pop(paper, None)  # a paper does not cite itself
        ranked = sorted(sources, key=lambda place: self._rank(place, len(sources[place])))
        if len(ranked) > self._request.per_paper:
            self._reasons.add("per_paper")
        new: list[int] = []
        directions = self._reached[paper].directions or {role}
        for place in ranked[: self._request.per_paper]:
            if place in self._reached:
                if self._reached[place].depth == depth + 1:
                    self._reached[place].directions |= directions
            elif self._room < 1:
                self._reasons.add("max_nodes")
            else:
                self._reached[place] = _Reached(depth + 1, set(directions))
                new.append(place)
        return new

    def _rank(self, place: int, sources: int = 0) -> tuple[int, int, str]:
        """Returns a key that sorts the best paper first: most cited, then named by most sources."""
        counted = [
            record for record in self._works.records(place) if record.cited_by_count is not None
        ]
        best = min(
            counted,
            key=lambda record: (
                record_rank(record, "cited_by_count"),
                -(record.cited_by_count or 0),
            ),
            default=None,
        )
        names = sorted(":".join(identifier.work) for identifier in self._works.ids(place))
        titles = sorted(record.title or "" for record in self._works.records(place))
        cited = -1 if best is None or best.cited_by_count is None else best.cited_by_count
        return -cited, -sources, " ".join(names or titles)

    def _settle(self) -> None:
        """Joins nodes whose places have become one."""
        for place in [place for place in self._reached if self._works.place(place) != place]:
            old = self._reached.pop(place)
            now = self._works.place(place)
            existing = self._reached.setdefault(now, old)
            if old.depth < existing.depth:
                self._reached[now] = old
            elif old.depth == existing.depth:
                existing.directions |= old.directions

    def _describe(self, call: Call) -> None:
        """Looks up the papers that sources only named."""
        undescribed: dict[str, int] = {}
        for place in self._reached:
            records = self._works.records(place)
            ids = self._works.ids(place)
            if ids and not any(record.title and not is_stub(record) for record in records):
                undescribed[f"{ids[0].type}:{ids[0].id}"] = place
        if not undescribed:
            return
        if call.remaining < _LAST_ROUND:
            self._reasons.add("deadline")
            return
        with call.part(call.remaining / 2) as part:
            found = self._look_up(list(undescribed), part)
        for place, item in zip(undescribed.values(), found.items, strict=True):
            if item.work is not None:
                for record in found.works[item.work].records:
                    added = self._works.add(record)
                    if added is not None:
                        self._works.unite(place, added)
        self._settle()

    def _graph(self, notices: tuple[str, ...]) -> CitationGraph:
        """Merges the records of every work, and returns the graph."""
        self._add_listed_references()
        merged, number_of = self._works.groups(self._reached)
        reached: dict[int, _Reached] = {}
        for place, how in self._reached.items():
            existing = reached.setdefault(number_of[place], how)
            if how.depth < existing.depth:
                reached[number_of[place]] = how
            elif how.depth == existing.depth:
                existing.directions |= how.directions
        nodes = {
            number: node_of(merged[number], how.depth, _reached_by(how))
            for number, how in reached.items()
        }
        ordered = sorted(nodes.values(), key=_node_key)
        edges = self._edges(nodes, number_of, {node.id: at for at, node in enumerate(ordered)})
        if self._links.has_failure:
            self._reasons.add("source_failed")
        if len(edges) > MAX_EDGES:
            self._reasons.add("max_edges")
        return CitationGraph(
            nodes=tuple(ordered),
            edges=tuple(edges[:MAX_EDGES]),
            direction=self._request.direction,
            reasons=tuple(sorted(self._reasons)),
            attempts=(*self._attempts, *self._links.attempts()),
            notices=notices,
        )

    def _add_listed_references(self) -> None:
        """Adds citations between nodes that their own records list."""
        for place in list(self._reached):
            for record in self._works.records(place):
                for reference in record.references:
                    if reference.doi is None:
                        continue
                    cited = self._works.find(Id("doi", reference.doi))
                    if cited is not None and cited in self._reached:
                        self._add_citation(place, cited, "references", record.source, None)

    def _edges(
        self, nodes: dict[int, Node], number_of: dict[int, int], order: dict[str, int]
    ) -> list[Edge]:
        joined: dict[tuple[int, int], _Cites] = {}
        for (citing, cited), cites in self._cites.items():
            ends = self._works.place(citing), self._works.place(cited)
            if ends[0] not in number_of or ends[1] not in number_of:
                continue
            pair = number_of[ends[0]], number_of[ends[1]]
            if pair[0] != pair[1]:
                joined.setdefault(pair, _Cites()).join(cites)
        edges = [
            Edge(
                nodes[citing].id,
                nodes[cited].id,
                tuple(sorted(cites.sources)),
                cites.influential,
                edge_contexts(cites.contexts),
            )
            for (citing, cited), cites in joined.items()
        ]
        return sorted(edges, key=lambda edge: (order[edge.citing], order[edge.cited]))

    def _no_answer(self, root: int, unresolved: PaperError | None) -> PaperError:
        """Returns why there is no graph at all."""
        attempts = [*self._attempts, *self._links.attempts()]
        problems = [tally for tally in self._links.tallies if tally.problem is not None]
        if problems:
            from carrel.papers.envelope import as_paper_error

            codes = {
                as_paper_error(tally.problem).paper_code for tally in problems if tally.problem
            }
            failures = "; ".join(f"{tally.source.name}: {tally.problem}" for tally in problems)
            code = codes.pop() if len(codes) == 1 else "NETWORK_ERROR"
            return PaperError(code, f"no source listed links: {failures}", attempts=attempts)
        if "deadline" in self._reasons:
            return PaperError("FETCH_TIMEOUT", "the time was up before a source was asked")
        if unresolved is not None:
            return PaperError(unresolved.paper_code, unresolved.message, attempts=attempts)
        kinds = (
            ", ".join(dict.fromkeys(identifier.type for identifier in self._works.ids(root)))
            or "none"
        )
        return PaperError(
            "NOT_FOUND",
            f"no source that lists {' or '.join(self._request.roles)} takes an identifier of this "
            f"paper (known: {kinds}); turn on another source, such as openalex",
            attempts=attempts,
        )


def _reached_by(how: _Reached) -> str:
    if how.depth == 0:
        return "root"
    return next(iter(how.directions)) if len(how.directions) == 1 else "both"


def _node_key(node: Node) -> tuple[int, int, str]:
    cited = -1 if node.cited_by_count is None else node.cited_by_count
    return node.depth, -cited, node.id
