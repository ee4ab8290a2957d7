"""Defines the record of `contract/v1/record.schema.json` as dataclasses.

An unknown member is None or an empty tuple. Names and meanings of members are those of the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from .ids import KINDS, Id, IdFault, parse_id


class _Json:
    """Converts between JSON and dataclasses, member by member."""

    __slots__ = ()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Converts a JSON object that was validated against the schema."""
        members: Any = fields(cls)  # type: ignore[arg-type]  # every subclass is a dataclass
        return cls(
            **{
                member.name: _read(raw[member.name], member.metadata.get("of"))
                for member in members
                if member.name in raw
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the JSON object without unknown members."""
        record: dict[str, Any] = {}
        names: tuple[str, ...] = self.__slots__  # the members; quicker to get than by `fields`
        for name in names:
            value = getattr(self, name)
            if value is not None and value != ():
                record[name] = _plain(value)
        return record


def _read(value: Any, kind: type[_Json] | None) -> Any:
    if isinstance(value, list):
        return tuple(_read(item, kind) for item in value)
    return kind.from_json(value) if kind is not None else value


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value.to_json() if isinstance(value, _Json) else value


@dataclass(frozen=True, slots=True)
class Ids(_Json):
    """Identifiers of a work, each as its registry writes it."""

    doi: str | None = None
    arxiv: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    openalex: str | None = None
    s2: str | None = None
    isbn: tuple[str, ...] = ()
    issn: tuple[str, ...] = ()

    def known(self) -> Iterator[Id]:
        """Yields the work's identifiers by kind, without those of its container."""
        for kind in KINDS:
            text = getattr(self, kind)
            if text is not None:
                try:
                    yield parse_id(text)
                except IdFault:  # a form that the schema accepts but no registry assigns
                    yield Id(kind, text)


@dataclass(frozen=True, slots=True)
class Agent(_Json):
    """A person by family and given name, or a name that cannot be split as `literal`."""

    family: str | None = None
    given: str | None = None
    literal: str | None = None
    orcid: str | None = None
    affiliations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link(_Json):
    """A form of the work."""

    url: str
    content_type: str | None = None
    version: str | None = None
    application: str | None = None


@dataclass(frozen=True, slots=True)
class OpenCopy(_Json):
    """A copy that anyone may read; `kind` is pdf, html or xml."""

    url: str
    kind: str
    host_type: str | None = None
    version: str | None = None
    license: str | None = None
    landing_url: str | None = None


@dataclass(frozen=True, slots=True)
class Licence(_Json):
    """A licence by URL, from `start` on, for one version of the work."""

    url: str
    start: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Funder(_Json):
    """A funder with its award numbers."""

    name: str
    doi: str | None = None
    awards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference(_Json):
    """A cited work, as the source lists it."""

    key: str | None = None
    doi: str | None = None
    unstructured: str | None = None
    title: str | None = None
    author: str | None = None
    year: str | None = None
    container_title: str | None = None


#: Types of an update after which a work must not be relied on.
RETRACTIONS = frozenset({"retraction", "withdrawal", "removal"})


@dataclass(frozen=True, slots=True)
class Update(_Json):
    """A correction, retraction or replacement: its kind, the other work, and its source."""

    type: str
    doi: str | None = None
    pmid: str | None = None
    date: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Relation(_Json):
    """A relation to another work, in the upstream's word."""

    type: str
    id_type: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(_Json):
    """One work as one source describes it.

    Attributes:
        type: CSL type, such as article-journal.
        source_type: the type in the upstream's own word.
        issued: YYYY, YYYY-MM or YYYY-MM-DD.
        updates: for a notice, the works that it corrects, retracts or replaces.
        updated_by: the notices that correct, retract or replace this work.
        source: the plugin that made the record.
    """

    ids: Ids = field(default=Ids(), metadata={"of": Ids})
    type: str
    source_type: str | None = None
    title: str | None = None
    subtitle: str | None = None
    abstract: str | None = None
    authors: tuple[Agent, ...] = field(default=(), metadata={"of": Agent})
    editors: tuple[Agent, ...] = field(default=(), metadata={"of": Agent})
    container_title: str | None = None
    publisher: str | None = None
    issued: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    article_number: str | None = None
    language: str | None = None
    subjects: tuple[str, ...] = ()
    url: str | None = None
    links: tuple[Link, ...] = field(default=(), metadata={"of": Link})
    open_copies: tuple[OpenCopy, ...] = field(default=(), metadata={"of": OpenCopy})
    is_oa: bool | None = None
    oa_status: str | None = None
    licenses: tuple[Licence, ...] = field(default=(), metadata={"of": Licence})
    funding: tuple[Funder, ...] = field(default=(), metadata={"of": Funder})
    references: tuple[Reference, ...] = field(default=(), metadata={"of": Reference})
    references_count: int | None = None
    cited_by_count: int | None = None
    updates: tuple[Update, ...] = field(default=(), metadata={"of": Update})
    updated_by: tuple[Update, ...] = field(default=(), metadata={"of": Update})
    relations: tuple[Relation, ...] = field(default=(), metadata={"of": Relation})
    source: str
