"""Builds an example call of a tool that can be run as shown.

The calls of built-in tools are listed here; others are built from the tool's input schema, with its
examples, defaults and enumerations, else with values of the right form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from carrel.errors import ArgumentError
from carrel.plugins.schemas.schema import compile_schema

from .arguments import read_arguments
from .schemas import choices, resolved

_WRITTEN: dict[str, tuple[str, ...]] = {
    "arxiv_query": ("search_query=ti:electron", "max_results=3"),
    "crossref_works": ("query=reading desk", "from_pub_date=2019", "rows=5"),
    "crossref_work": ("doi=10.1103/PhysRevD.61.084004",),
    "crossref_updates": ("doi=10.1016/S0140-6736(97)11096-0",),
    "crossref_citation_match": ("citation=Watson and Crick, Nature 171, 737 (1953)",),
    "openalex_works": ("search=reading desk", "per_page=3"),
    "pubmed_search": ("query_term=asthma[mh] AND smith j[au]", "fetch_brief_summaries=5"),
    "pubmed_fetch": ("pmids=31452104",),
    "pubmed_related": ("source_pmid=31452104", "max_related_results=3"),
    "pubmed_convert_ids": ("ids=31452104", "ids=PMC7096803"),
    "pubmed_citation_match": (
        'citations:=[{"journal": "nature", "year": 1953, "first_page": "737"}]',
    ),
    "pubmed_spell": ("term=astma",),
    "pubmed_mesh": ("term=asthma",),
    "pubmed_info": ("db=pubmed",),
    "work_lookup": ("ids=10.1103/PhysRevD.61.084004", "ids=arXiv:2301.00001"),
    "paper_search": ("query=quantum error correction", "year_from=2020"),
    "paper_resolve": ("ref=10.1103/PhysRevD.61.084004",),
    "paper_metadata": ("ref=10.1103/PhysRevD.61.084004",),
    "paper_fetch": ("ref=arXiv:2301.00001", "dry_run=true"),
    "paper_batch_fetch": ("refs=10.1371/journal.pone.0000001,arXiv:2301.00001", "dry_run=true"),
    "paper_read": ("ref=arXiv:2301.00001", "section=Introduction"),
    "paper_retractions": ("ref=10.1103/PhysRevD.61.084004",),
    "paper_citation_graph": ("ref=10.1103/PhysRevD.61.084004", "depth=2"),
    "paper_info": ("ref=10.1103/PhysRevD.61.084004",),
    "paper_search_local": ("query=electron",),
    "paper_pdf_path": ("ref=10.1103/PhysRevD.61.084004",),
    "paper_export": ("refs=10.1103/PhysRevD.61.084004", "format=bibtex"),
}

#: Values by the name of an argument, by a string's format, and for any string.
_BY_NAME: dict[str, Any] = {
    "doi": "10.1103/PhysRevD.61.084004",
    "pmid": "31452104",
    "arxiv": "2301.00001",
    "orcid": "0000-0002-1825-0097",
    "issn": "2049-3630",
    "isbn": "9780306406157",
    "url": "https://example.org/",
    "year": 2020,
}
_BY_FORMAT = {
    "date": "2024-01-31",
    "date-time": "2024-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "reader@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "uri": "https://example.org/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}
_STRINGS = ("electron", "a", "1", "2024", "2024-01-31", "en", "A1", "10.1000/182", "ab_12")
_SUCH_AS = re.compile(r"(?i)(?:such as|e\.g\.|for example|example:)\s*[`'\"]?([^\s,;`'\")]+)")
_DEPTH = 5


def example_of(tool: str, schema: Mapping[str, Any]) -> list[str]:
    """Returns the words of a call of `tool`, without the tool's name."""
    accepts = _checker(schema)
    written = _WRITTEN.get(tool)
    if written is not None:
        try:
            if accepts(read_arguments(written, lambda: schema, str)):
                return list(written)
        except ArgumentError:
            pass  # a tool of another plugin, under a built-in one's name
    words: list[str] = []
    for name, value in _arguments(schema, accepts).items():
        words += _words(name, value, schema)
    return words


def _arguments(schema: Mapping[str, Any], accepts: Any) -> dict[str, Any]:
    """Returns a minimal set of arguments that the schema accepts."""
    own = resolved(schema, schema)
    properties = own.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    for example in _examples(own):
        if isinstance(example, dict) and accepts(example):
            return example
    needed = {name: True for name in own.get("required", ()) if name in properties}
    made = {name: _best(name, properties[name], schema, 0) for name in needed}
    if made and accepts(made):
        return made
    # Nothing is required, or one of several: the first argument that is accepted.
    for name in properties:
        if name not in made:
            wider = {**made, name: _best(name, properties[name], schema, 0)}
            if accepts(wider):
                return wider if not made or not accepts(made) else made
    return made


def _best(name: str, raw: object, root: Mapping[str, Any], depth: int) -> Any:
    """Returns the first candidate that the argument's own schema accepts; else the first one."""
    schema = resolved(raw, root)
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    accepts = _checker({**shared, **schema})
    first: list[Any] = []
    for choice in choices(schema, root):
        for candidate in _candidates(name, choice, root, depth):
            if accepts(candidate):
                return candidate
            first.append(candidate)
    return first[0] if first else None


def _candidates(
    name: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int
) -> Iterator[Any]:
    yield from _examples(schema)
    if "const" in schema:
        yield schema["const"]
    enum = schema.get("enum")
    if isinstance(enum, list):
        yield from enum
    kind = schema.get("type")
    types = [kind] if isinstance(kind, str) else list(kind or ())
    if "default" in schema and schema["default"] not in (None, "", [], {}):
        yield schema["default"]
    if "array" in types or "items" in schema:
        least = schema.get("minItems")
        count = least if isinstance(least, int) and 1 <= least <= 10 else 1
        if depth < _DEPTH:
            singular = name.removesuffix("s")
            yield [_best(singular, schema.get("items", {}), root, depth + 1)] * count
    if "object" in types or "properties" in schema:
        properties = schema.get("properties")
        members = properties if isinstance(properties, Mapping) and depth < _DEPTH else {}
        needed = [member for member in schema.get("required", ()) if member in members]
        yield {member: _best(member, members[member], root, depth + 1) for member in needed}
        yield {
            member: _best(member, members[member], root, depth + 1)
            for member in [*needed, *members][:1]
        }
    yield from _scalars(name, schema, types)


def _scalars(name: str, schema: Mapping[str, Any], types: list[Any]) -> Iterator[Any]:
    if "boolean" in types:
        yield True
    near = next((value for key, value in _BY_NAME.items() if name.lower().endswith(key)), None)
    if {"integer", "number"} & set(types):
        found = (near, 1, schema.get("minimum"), schema.get("maximum"), schema.get("multipleOf"), 0)
        yield from (value for value in found if isinstance(value, (int, float)))
        above = schema.get("exclusiveMinimum")
        yield from [above + 1] if isinstance(above, (int, float)) else []
    if "string" in types or not types:
        match = _SUCH_AS.search(str(schema.get("description", "")))
        yield from [match[1].rstrip(".:")] if match else []
        yield from [_BY_FORMAT[schema["format"]]] if schema.get("format") in _BY_FORMAT else []
        yield from [near] if isinstance(near, str) else []
        yield from _STRINGS
        least = schema.get("minLength")
        if isinstance(least, int) and least <= 200:
            yield "electron " * (least // 9) + "electron"[: least % 9 or 8]


def _examples(schema: Mapping[str, Any]) -> list[Any]:
    examples = schema.get("examples")
    found = list(examples) if isinstance(examples, list) else []
    return [*found, schema["example"]] if "example" in schema else found


def _checker(schema: Mapping[str, Any]) -> Any:
    """Returns a function that validates a value; it accepts any value if the schema does not
    compile.
    """
    try:
        return compile_schema(schema).is_valid
    except ValueError:
        return lambda _: True


def _words(name: str, value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    """Yields the words of an argument, in the simplest form that the schema can parse."""
    items = value if isinstance(value, list) and value else [value]
    plain = [
        f"{name}={item if isinstance(item, str) else json.dumps(item)}"
        for item in items
        if isinstance(item, (str, int, float))
    ]
    try:
        if len(plain) == len(items) and read_arguments(plain, lambda: schema, str) == {name: value}:
            yield from plain
            return
    except ArgumentError:
        pass
    yield f"{name}:={json.dumps(value, ensure_ascii=False)}"
