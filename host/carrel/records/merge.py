"""Merges the records of several sources into one work.

A merged work consists of its set of records; everything else is computed from that set. So merging
is commutative, associative and idempotent, and no value is lost:

- a field with one value takes the value of the first record, in the order of `order`, that has it;
- a list of independent items (`UNITED`: subjects, links, updates …) is the union;
- `provenance` has for each field the sources of the taken value;
- `alternatives` has for each field the other values with their sources. For a union: each source's
  own list, if it is not the whole.

DOIs that differ in case alone are one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from .ids import fold_doi
from .order import canonical, json_text, record_rank, source_rank
from .work import Ids, Work

#: Lists that are united. The others (authors, editors, references) are taken whole from one record:
#: their order means something, and two spellings of a person are not two persons.
UNITED: Final = frozenset(
    {
        "ids.isbn",
        "ids.issn",
        "subjects",
        "links",
        "open_copies",
        "licenses",
        "funding",
        "updates",
        "updated_by",
        "relations",
    }
)

#: Every field that is merged, in the order of the record.
FIELDS: Final[tuple[str, ...]] = (
    *(f"ids.{member.name}" for member in fields(Ids)),
    *(member.name for member in fields(Work) if member.name not in ("ids", "source")),
)


@dataclass(frozen=True, slots=True)
class Alternative:
    """A value of a field that some sources give and that was not chosen.

    Attributes:
        value: as in the record: a text, a number, or a tuple of items.
        sources: the sources that give it.
    """

    value: Any
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedWork:
    """Several sources' records of one work. Two are equal if their records are equal.

    Attributes:
        records: the distinct records.
        work: the merged record. Its `source` names the sources in order of precedence, joined by
            `+`.
        provenance: field → sources that give the chosen value. Identifiers are `ids.doi` and so on.
        alternatives: field → the other values.
    """

    records: tuple[Work, ...]
    work: Work = field(compare=False)
    provenance: Mapping[str, tuple[str, ...]] = field(compare=False)
    alternatives: Mapping[str, tuple[Alternative, ...]] = field(compare=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources, in order of precedence."""
        return _by_rank({record.source for record in self.records})

    def to_json(self) -> dict[str, Any]:
        """Work, sources, provenance and alternatives as one JSON object."""
        return {
            "work": self.work.to_json(),
            "sources": list(self.sources),
            "provenance": {name: list(sources) for name, sources in self.provenance.items()},
            "alternatives": {
                name: [
                    {"value": _jsonable(alternative.value), "sources": list(alternative.sources)}
                    for alternative in alternatives
                ]
                for name, alternatives in self.alternatives.items()
            },
        }


def merge(records: Iterable[Work | MergedWork]) -> MergedWork:
    """Merges records of one work; `group` decides which records are of one work.

    Args:
        records: at least one; a merged work counts as its records.

    Raises:
        ValueError: there are none.
    """
    distinct = {json_text(record): record for record in flat(records)}
    if not distinct:
        raise ValueError("no records to merge")
    ordered = tuple(distinct[text] for text in sorted(distinct))
    values: dict[str, Any] = {}
    provenance: dict[str, tuple[str, ...]] = {}
    alternatives: dict[str, tuple[Alternative, ...]] = {}
    for name in FIELDS:
        claims = _claims(ordered, name)
        if not claims:
            continue
        taken, provenance[name], differing = (_united if name in UNITED else _chosen)(claims)
        values[name] = taken
        if differing:
            alternatives[name] = differing
    work = Work(
        ids=Ids(**{name[4:]: value for name, value in values.items() if name.startswith("ids.")}),
        source="+".join(_by_rank({record.source for record in ordered})),
        **{name: value for name, value in values.items() if not name.startswith("ids.")},
    )
    return MergedWork(ordered, work, provenance, alternatives)


def flat(records: Iterable[Work | MergedWork]) -> list[Work]:
    """Returns the sources' records, with merged works split into theirs."""
    found: list[Work] = []
    for record in records:
        found += record.records if isinstance(record, MergedWork) else (record,)
    return found


#: The sources and values of one field, those of the most reliable source first.
_Claims = list[tuple[str, Any]]
_Taken = tuple[Any, tuple[str, ...], tuple[Alternative, ...]]


def _claims(records: tuple[Work, ...], name: str) -> _Claims:
    """Returns a field's sources and values, best first; equals stay in the records' order."""
    claims = []
    for record in sorted(records, key=lambda work: record_rank(work, name)):
        value = getattr(record.ids, name[4:]) if name.startswith("ids.") else getattr(record, name)
        if value is not None and value != ():
            claims.append((record.source, value))
    return claims


def _chosen(claims: _Claims) -> _Taken:
    """Returns the first value, the sources that agree, and the other values."""
    if all(value == claims[0][1] for _, value in claims):
        return claims[0][1], _once([source for source, _ in claims]), ()
    groups: dict[str, tuple[Any, list[str]]] = {}
    for source, value in claims:
        groups.setdefault(_sameness(value), (value, []))[1].append(source)
    (taken, agreeing), *rest = groups.values()
    alternatives = tuple(Alternative(value, _once(sources)) for value, sources in rest)
    return taken, _once(agreeing), alternatives


def _united(claims: _Claims) -> _Taken:
    """Returns all items, each in its first spelling, and the lists of sources that lack some."""
    items: dict[str, Any] = {}
    for _, value in claims:
        for item in value:
            items.setdefault(_sameness(item), item)
    parts: dict[str, tuple[Any, list[str]]] = {}
    for source, value in claims:
        if {_sameness(item) for item in value} != set(items):
            parts.setdefault(_sameness(value), (value, []))[1].append(source)
    alternatives = tuple(Alternative(value, _once(sources)) for value, sources in parts.values())
    return tuple(items.values()), _once([source for source, _ in claims]), alternatives


def _sameness(value: Any) -> str:
    """Returns a text that is equal for equivalent values."""
    if isinstance(value, str):
        return canonical(fold_doi(value))
    if isinstance(value, tuple):
        return "[" + ",".join(_sameness(item) for item in value) + "]"
    if not hasattr(value, "to_json"):
        return canonical(value)
    doi = getattr(value, "doi", None)
    if doi is not None:
        value = replace(value, doi=fold_doi(doi))
    elif getattr(value, "id_type", None) == "doi":
        value = replace(value, id=fold_doi(value.id))
    return canonical(value.to_json())


def _jsonable(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_jsonable(item) for item in value]
    return value.to_json() if hasattr(value, "to_json") else value


def _once(sources: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sources))


def _by_rank(sources: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(sources, key=source_rank))
