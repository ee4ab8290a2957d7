"""Input and output schema of `work_lookup`; the record's part is the contract's own."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from carrel.contract import contract_file
from carrel.errors import CODES
from carrel.records import KINDS
from carrel.records.merge import FIELDS

from .result import OUTCOMES, REASONS

Schema = dict[str, Any]

_DETAILS = frozenset({"description", "pattern", "format", "minLength", "minimum", "anyOf"})


def input_schema(most: int) -> Schema:
    """What the tool takes: at most `most` identifiers."""
    return {
        "type": "object",
        "required": ["ids"],
        "additionalProperties": False,
        "properties": {
            "ids": {
                "description": "DOIs, arXiv ids, PMIDs and PMCIDs in any mix, with or without "
                "prefix or address; digits alone are a PMID.",
                "type": "array",
                "minItems": 1,
                "maxItems": most,
                "items": {"type": "string", "minLength": 1, "maxLength": 2048},
            },
            "sources": {
                "description": "Ask these only, such as crossref or pubmed; all when absent.",
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {"type": "string", "minLength": 1, "maxLength": 100},
            },
            "references": {
                "description": "Include the lists of cited works.",
                "type": "boolean",
                "default": False,
            },
        },
    }


@lru_cache(maxsize=1)
def output_schema() -> Schema:
    """What the tool returns, closed down to the leaves."""
    record = json.loads(contract_file("record.schema.json").read_text("utf-8"))
    all_definitions = record.pop("$defs")
    definitions = {
        name: _bare(one, all_definitions)
        for name, one in all_definitions.items()
        if one["type"] == "object"
    }
    kept = ("type", "required", "properties", "additionalProperties")
    record = _bare({key: record[key] for key in kept}, all_definitions)
    names: Schema = {"$ref": "#/$defs/field"}
    sources = _array({"type": "string"})
    problem: Schema = {
        "code": {"$ref": "#/$defs/code"},
        "message": {"type": "string"},
        "retry_after_seconds": {"type": "number", "minimum": 0},
    }
    outcome: Schema = {"$ref": "#/$defs/outcome"}
    step = _object(
        {
            "source": {"type": "string"},
            "outcome": outcome,
            "asked": {"$ref": "#/$defs/id"},
            **problem,
            "reason": {"enum": list(REASONS)},
        },
        "source",
        "outcome",
    )
    item = _object(
        {
            "given": {"type": "string"},
            "outcome": outcome,
            "id": {"$ref": "#/$defs/id"},
            "work": {"description": "Place in works.", "type": "integer", "minimum": 0},
            "error": _object(problem, "code", "message"),
            "trace": _array(step),
        },
        "given",
        "outcome",
        "trace",
    )
    other = _object({"value": {}, "sources": sources}, "value", "sources")
    work = _object(
        {
            "work": {"$ref": "#/$defs/record"},
            "sources": sources,
            "provenance": {
                "description": "Field: who says so.",
                "type": "object",
                "propertyNames": names,
                "additionalProperties": sources,
            },
            "alternatives": {
                "description": "Field: what else is said.",
                "type": "object",
                "propertyNames": names,
                "additionalProperties": _array(other),
            },
        },
        "work",
        "sources",
        "provenance",
        "alternatives",
    )
    identifier = _object({"type": {"enum": list(KINDS)}, "id": {"type": "string"}}, "type", "id")
    whole = _object(
        {"items": _array(item), "works": _array(work), "notices": _array({"type": "string"})},
        "items",
        "works",
    )
    words = {
        "code": {"enum": list(CODES)},
        "field": {"enum": list(FIELDS)},
        "outcome": {"enum": list(OUTCOMES)},
    }
    return {**whole, "$defs": {**definitions, **words, "id": identifier, "record": record}}


def _object(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": properties,
    }


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _bare(node: Any, definitions: Schema, *, names: bool = False) -> Any:
    """A schema reduced to its structure, because every client's model reads it.

    Descriptions go, and what a record's texts and numbers look like inside, which was checked when
    the record came in; so definitions of plain texts are not worth a reference.

    Args:
        node: the schema.
        definitions: what its references name.
        names: the node's keys are names of members, of which one could be called `description`.
    """
    if isinstance(node, list):
        return [_bare(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    target = definitions.get(str(node.get("$ref")).rpartition("/")[2], {})
    if target.get("type") == "string":
        return {"type": "string"}
    return {
        key: _bare(value, definitions, names=key == "properties" and not names)
        for key, value in node.items()
        if names or key not in _DETAILS
    }
