"""Input and output schema of `work_lookup`; the record's part is the contract's own."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from carrel.contract import contract_file
from carrel.errors import CODES
from carrel.records.ids import LOOKED_UP
from carrel.records.merge import FIELDS

from .result import OUTCOMES, PARTS, REASONS

Schema = dict[str, Any]


def input_schema(most: int) -> Schema:
    """Returns what the tool takes: at most `most` identifiers."""
    return {
        "type": "object",
        "required": ["ids"],
        "additionalProperties": False,
        "properties": {
            "ids": {
                "description": "DOIs, arXiv ids, PMIDs, PMCIDs and ISBNs in any mix, as such "
                "or as addresses; up to 8 digits are a PMID.",
                "type": "array",
                "minItems": 1,
                "maxItems": most,
                "items": {"type": "string", "minLength": 1, "maxLength": 2048},
            },
            "sources": {
                "description": "Such as crossref; all when absent.",
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {"type": "string", "minLength": 1, "maxLength": 100},
            },
            "references": {
                "description": "Include cited works.",
                "type": "boolean",
                "default": False,
            },
            "omit": {
                "type": "array",
                "items": {"enum": list(PARTS)},
            },
        },
    }


@lru_cache(maxsize=1)
def output_schema() -> Schema:
    """Returns what the tool returns; closed, see `_record` for how far down."""
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
    alternative = _object({"value": {}, "sources": sources}, "value", "sources")
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
                "additionalProperties": _array(alternative),
            },
        },
        "work",
        "sources",
        "provenance",
        "alternatives",
    )
    kind: Schema = {"enum": list(LOOKED_UP)}
    identifier = _object({"type": kind, "id": {"type": "string"}}, "type", "id")
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
    return {**whole, "$defs": {**words, "id": identifier, "record": _record()}}


def _object(properties: Schema, *required: str) -> Schema:
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _record() -> Schema:
    """Returns the record's members and their types.

    Every client's model reads this schema, so what a text, an author or a link looks like inside is
    left to the contract's own schema, which has validated every record.
    """
    whole = json.loads(contract_file("record.schema.json").read_text("utf-8"))
    definitions = whole["$defs"]

    def shallow(member: Schema) -> Schema:
        member = definitions.get(member.get("$ref", "").rpartition("/")[2], member)
        if member["type"] == "array":
            return _array({"type": shallow(member["items"])["type"]})
        return {"type": member["type"]}

    members = {name: shallow(member) for name, member in whole["properties"].items()}
    ids = whole["properties"]["ids"]["properties"]
    members["ids"] = _object({name: shallow(member) for name, member in ids.items()})
    return _object(members, *whole["required"])
