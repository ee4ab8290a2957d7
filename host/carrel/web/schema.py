"""Defines the input and output schema of `web_read`."""

from __future__ import annotations

from typing import Any, Final

from carrel.documents.schema import PART_ARGUMENTS, READ_MEMBERS

Schema = dict[str, Any]

#: How much of a page is returned.
MODES: Final = ("full", "preview", "raw")
#: Characters of an answer's text: default, minimum and maximum of `max_length`, and of a preview.
DEFAULT_LENGTH: Final = 50_000
MIN_LENGTH: Final = 200
MAX_LENGTH: Final = 5_000_000
PREVIEW_LENGTH: Final = 5_000
#: Marks content that other people wrote.
TRUST: Final = "untrusted-external-content"
#: Tokens of a whole page below which it is of a size.
SIZES: Final = (("small", 5_000), ("medium", 20_000), ("large", 50_000))

_TEXT: Final[Schema] = {"type": "string"}
_STATEMENTS: Final[Schema] = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "value"],
        "properties": {"name": _TEXT, "value": _TEXT},
    },
}

INPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "required": ["url"],
    "additionalProperties": False,
    "properties": {
        "url": {
            "description": "http or https; requested over https.",
            "type": "string",
            "minLength": 1,
            "maxLength": 16_384,
        },
        "mode": {
            "description": "preview: the first 5,000 characters; raw: the source as it came.",
            "enum": list(MODES),
            "default": MODES[0],
        },
        "max_length": {
            "description": "Characters of text.",
            "type": "integer",
            "minimum": MIN_LENGTH,
            "maximum": MAX_LENGTH,
            "default": DEFAULT_LENGTH,
        },
        **{name: PART_ARGUMENTS[name] for name in ("section", "from", "format")},
    },
}

OUTPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "url", "content_type", "trust", "text", "from", "length", "truncated", "tokens",
        "size_category", "citation", "cached", "age_seconds",
    ],
    "properties": {
        "url": {"description": "After redirects.", "type": "string"},
        "content_type": {
            "description": "Such as html, pdf, docx; in raw mode the header.",
            "type": "string",
        },
        "trust": {"const": TRUST},
        **{name: schema for name, schema in READ_MEMBERS.items() if name != "tokens"},
        "tokens": READ_MEMBERS["tokens"],
        "truncated": {"description": "Whether text is less than the page.", "type": "boolean"},
        "size_category": {
            "description": "Of the whole page.",
            "enum": [*(name for name, _ in SIZES), "very_large"],
        },
        "raw": {"type": "boolean"},
        "citation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["apa", "mla", "bibtex", "accessed"],
            "properties": {"apa": _TEXT, "mla": _TEXT, "bibtex": _TEXT, "accessed": _TEXT},
        },
        "metadata": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "title": _TEXT,
                "authors": {"type": "array", "items": _TEXT},
                "published": _TEXT,
                "site": _TEXT,
                "description": _TEXT,
                "language": _TEXT,
            },
        },
        "structured_data": {
            "description": "What the page's tags state, by vocabulary.",
            "type": "object",
            "additionalProperties": _STATEMENTS,
        },
        "doi": {"description": "That the page declares for itself.", "type": "string"},
        "cached": {"type": "boolean"},
        "age_seconds": {"type": "integer", "minimum": 0},
    },
}  # fmt: skip
