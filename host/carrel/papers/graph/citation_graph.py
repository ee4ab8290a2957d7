"""Defines a citation graph: papers, and which of them cites which."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from carrel.records import merge
from carrel.records.order import json_text
from carrel.text.printable import printable

from .known_works import NO_SOURCE

if TYPE_CHECKING:
    from carrel.records import Id, MergedWork, Work

    from .request import Direction

#: Why a graph has not all papers that it could have.
Reason = Literal["max_nodes", "per_paper", "max_edges", "deadline", "source_failed"]
REASONS: Final[tuple[Reason, ...]] = (
    "max_nodes", "per_paper", "max_edges", "deadline", "source_failed",
)  # fmt: skip

#: How a node was reached from the root.
REACHED: Final = ("root", "references", "citations", "both")

#: The longest texts of a node, and the most authors.
_TITLE, _NAME, _ABSTRACT, _CONTEXT = 500, 120, 5_000, 500
_AUTHORS: Final = 30
_CONTEXTS: Final = 3
#: Last words of names that are not a person's.
_GROUPS: Final = frozenset(
    {"collaboration", "committee", "consortium", "group", "network", "society", "team"}
)


@dataclass(frozen=True, slots=True)
class Node:
    """A paper of the graph. Its texts have no hidden characters and a bounded length.

    Attributes:
        id: kind and identifier, such as `doi:10.5555/desk`, the same in every graph; made of a hash
            for a work without identifiers.
        ids: the identifiers.
        depth: links between it and the root, 0 for the root.
        reached_by: the direction of the first of these links: `references`, `citations` or `both`;
            `root` for the root.
        title: None if no source knows it.
        authors: at most 30.
        first_author: the family name of the first.
        year: of publication.
        cited_by_count: by the source that is trusted first.
        sources: plugins that have a record of it.
    """

    id: str
    ids: tuple[Id, ...]
    depth: int
    reached_by: str
    title: str | None
    authors: tuple[str, ...]
    first_author: str | None
    year: int | None
    container_title: str | None
    type: str
    cited_by_count: int | None
    is_oa: bool | None
    abstract: str | None
    sources: tuple[str, ...]

    @property
    def url(self) -> str | None:
        """The page of the first identifier."""
        return self.ids[0].url if self.ids else None

    @property
    def name(self) -> str:
        """The title, else the identifier."""
        return self.title or (self.ids[0].id if self.ids else "untitled")

    def to_json(self, *, details: bool) -> dict[str, Any]:
        """Returns the node without what is unknown; the abstract only with details."""
        members: dict[str, Any] = {
            "id": self.id,
            "ids": {identifier.type: identifier.id for identifier in self.ids},
            "url": next((identifier.url for identifier in self.ids), None),
            "title": self.title,
            "authors": list(self.authors),
            "year": self.year,
            "container_title": self.container_title,
            "type": self.type,
            "cited_by_count": self.cited_by_count,
            "is_oa": self.is_oa,
            "depth": self.depth,
            "reached_by": self.reached_by,
            "sources": list(self.sources),
        }
        if details:
            members["abstract"] = self.abstract
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Edge:
    """One paper cites another.

    Attributes:
        citing: id of the citing node.
        cited: id of the cited node.
        sources: plugins that say so.
        influential: whether a source counts the citation as influential; None if none says.
        contexts: sentences that cite.
    """

    citing: str
    cited: str
    sources: tuple[str, ...]
    influential: bool | None = None
    contexts: tuple[str, ...] = ()

    def to_json(self, *, details: bool) -> dict[str, Any]:
        """Returns the edge without what is unknown; the sentences only with details."""
        members: dict[str, Any] = {
            "citing": self.citing, "cited": self.cited, "sources": list(self.sources),
        }  # fmt: skip
        if self.influential is not None:
            members["influential"] = self.influential
        if details and self.contexts:
            members["contexts"] = list(self.contexts)
        return members


@dataclass(frozen=True, slots=True)
class CitationGraph:
    """Papers and their citations.

    Attributes:
        nodes: the root first, then by depth, number of citations and id.
        edges: each once, in the order of the nodes; none from a node to itself.
        direction: what was followed.
        reasons: why the graph is not complete; empty if it is.
        attempts: what each source was asked and answered, as JSON.
        notices: plugins that cannot be read.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    direction: Direction
    reasons: tuple[Reason, ...] = ()
    attempts: tuple[dict[str, Any], ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def root(self) -> Node:
        """The paper that was asked for."""
        return self.nodes[0]

    def summary(self) -> dict[str, Any]:
        """Returns the members that every format has of a graph."""
        summary: dict[str, Any] = {
            "root": self.root.id,
            "total_visited": len(self.nodes),
            "total_edges": len(self.edges),
            "truncated": bool(self.reasons),
            "reasons": list(self.reasons),
            "attempts": list(self.attempts),
        }
        if self.notices:
            summary["notices"] = list(self.notices)
        return summary


def node_of(merged: MergedWork, depth: int, reached_by: str) -> Node:
    """Returns the node of a work."""
    work = _described(merged)
    ids = tuple(work.ids.known())
    return Node(
        id=node_id(work, ids),
        ids=ids,
        depth=depth,
        reached_by=reached_by,
        title=_text(work.title, _TITLE),
        authors=tuple(_names(work)),
        first_author=_family(work),
        year=int(work.issued[:4]) if work.issued else None,
        container_title=_text(work.container_title, _TITLE),
        type=printable(work.type, 60),
        cited_by_count=work.cited_by_count,
        is_oa=_is_open(merged.records),
        abstract=_text(work.abstract, _ABSTRACT),
        sources=tuple(source for source in merged.sources if source != NO_SOURCE),
    )


def node_id(work: Work, ids: Sequence[Id]) -> str:
    """Returns a text that names a work: its first identifier, without a version."""
    if ids:
        kind, text = ids[0].work
        if printable(text, 300) == text:
            return f"{kind}:{text}"
    return "hash:" + hashlib.sha256(json_text(work).encode("utf-8", "replace")).hexdigest()[:16]


def edge_contexts(contexts: Iterable[str]) -> tuple[str, ...]:
    """Returns the first sentences that cite, each once, with a bounded length."""
    sentences = dict.fromkeys(printable(context, _CONTEXT).strip() for context in contexts)
    return tuple(sentence for sentence in sentences if sentence)[:_CONTEXTS]


def is_stub(record: Work) -> bool:
    """Whether a record only names a work, as a list of references does.

    Its title may be the whole reference, and its type is not known.
    """
    return record.type == "document"


def _described(merged: MergedWork) -> Work:
    """Returns the merged record; stubs fill only members that no other record has."""
    full = [record for record in merged.records if not is_stub(record)]
    if not full or len(full) == len(merged.records):
        return merged.work
    best = merge(full).work
    missing = {
        field.name: getattr(merged.work, field.name)
        for field in fields(best)
        if getattr(best, field.name) in (None, ())
    }
    return replace(best, **{**missing, "ids": merged.work.ids})


def _text(text: str | None, limit: int) -> str | None:
    shown = " ".join(printable(text, limit).split()) if text else ""
    return shown or None


def _names(work: Work) -> Iterable[str]:
    for author in work.authors[:_AUTHORS]:
        parts = (
            (author.given, author.family) if author.family else (author.literal or author.given,)
        )
        name = _text(" ".join(part for part in parts if part), _NAME)
        if name:
            yield name


def _family(work: Work) -> str | None:
    """Returns the family name of the first author; a group's name as it is."""
    for author in work.authors[:1]:
        name = _text(author.family or author.literal or author.given, _NAME)
        if author.family or name is None:
            return name
        family, comma, _ = name.partition(",")
        words = name.split()
        if comma or words[-1].lower() in _GROUPS:
            return family if comma else name
        return words[-1]
    return None


def _is_open(records: Iterable[Work]) -> bool | None:
    claims = {record.is_oa for record in records} | {
        True for record in records if record.open_copies
    }
    return True if True in claims else (False if False in claims else None)
