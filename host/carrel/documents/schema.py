"""Defines the input and output schema of `document_read`."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

#: Characters of a result's text: the default, the minimum and the maximum of `max_chars`.
DEFAULT_CHARS: Final = 12_000
MIN_CHARS: Final = 200
MAX_CHARS: Final = 400_000

#: Formats of texts.
TEXT_FORMATS: Final = ("markdown", "text")

#: Arguments that name a part of a document's text.
PART_ARGUMENTS: Final[Schema] = {
    "section": {
        "description": "Heading or its number; only this section.",
        "type": "string",
        "minLength": 1,
        "maxLength": 500,
    },
    "from": {
        "description": "next of the answer before, or from of the outline.",
        "type": "integer",
        "minimum": 0,
    },
    "max_chars": {
        "type": "integer",
        "minimum": MIN_CHARS,
        "maximum": MAX_CHARS,
        "default": DEFAULT_CHARS,
    },
    "format": {"enum": list(TEXT_FORMATS), "default": TEXT_FORMATS[0]},
}

INPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "required": ["path"],
    "additionalProperties": False,
    "properties": {
        "path": {
            "description": "Of the file; a folder's lists its files, . the first folder's.",
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
        },
        **PART_ARGUMENTS,
    },
}


def _text(description: str = "") -> Schema:
    return {"description": description, "type": "string"} if description else {"type": "string"}


def _count(description: str = "") -> Schema:
    schema: Schema = {"type": "integer", "minimum": 0}
    return {"description": description, **schema} if description else schema


#: Members of an answer: what the document is, and a part of its text; see `read_answer`.
READ_MEMBERS: Final[Schema] = {
    "title": _text(),
    "kind": _text(),
    "quality": {"enum": ["complete", "partial", "none"]},
    "quality_reason": _text("Why not complete."),
    "identifiers": {"type": "object"},
    "pages": _count(),
    "outline": {
        "description": "Sections, where the document is longer than max_chars.",
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["heading", "level", "from", "tokens"],
            "properties": {
                "heading": _text(),
                "level": _count(),
                "from": _count(),
                "tokens": _count("With the sections inside."),
            },
        },
    },
    "outline_left_out": _count(),
    "text": _text("The document's own words."),
    "from": _count(),
    "next": _count("Where the text continues; absent at the end."),
    "length": _count("Characters of the whole document."),
    "tokens": _count("Of this text, estimated."),
    "warnings": {"type": "array", "items": _text()},
}

OUTPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["format", "quality", "identifiers", "text", "from", "length", "tokens"],
    "properties": {
        "format": _text("What the file is, such as pdf."),
        **READ_MEMBERS,
    },
}
