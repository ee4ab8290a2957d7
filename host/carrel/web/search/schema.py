"""Defines the input and output schema of `web_search`.

The arguments are those of the founding document, which has the tool under the same name; the
members of the result are in snake_case, as those of every other tool.
"""

from __future__ import annotations

from typing import Any, Final

from carrel.web.answers import TRUST

Schema = dict[str, Any]

NAME: Final = "web_search"
#: Characters of a query.
MAX_QUERY: Final = 500
#: Results: default and maximum.
DEFAULT_RESULTS: Final = 5
MAX_RESULTS: Final = 10
TIME_RANGES: Final = ("day", "week", "month", "year")
SAFE: Final = ("off", "medium", "high")
DEFAULT_SAFE: Final = "medium"
#: Arguments that may leave results out, in the order in which hints suggest to remove them.
FILTERS: Final = (
    "site", "lens", "time_range", "country", "language", "exact_terms", "exclude_terms",
)  # fmt: skip

_TEXT: Final[Schema] = {"type": "string"}
_TERMS: Final[Schema] = {"type": "string", "minLength": 1, "maxLength": 300}

INPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "required": ["query"],
    "additionalProperties": False,
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY},
        "num_results": {
            "description": f"1 to {MAX_RESULTS}; others are clamped.",
            "type": "integer",
            "default": DEFAULT_RESULTS,
        },
        "time_range": {"enum": list(TIME_RANGES)},
        "safe": {"enum": list(SAFE), "default": DEFAULT_SAFE},
        "language": {
            "description": "ISO 639-1.",
            "type": "string",
            "pattern": "^[A-Za-z]{2}$",
        },
        "site": {
            "description": "Only this host and those below it; not with lens.",
            "type": "string",
            "minLength": 1,
            "maxLength": 300,
        },
        "exact_terms": {"description": "A phrase.", **_TERMS},
        "exclude_terms": _TERMS,
        "country": {
            "description": "ISO 3166-1 alpha-2.",
            "type": "string",
            "pattern": "^[A-Za-z]{2}$",
        },
        "lens": {
            "description": "Only the hosts of a list, such as academic.",
            "type": "string",
            "minLength": 1,
            "maxLength": 40,
        },
        "provider": {
            "description": "Only this one, such as brave.",
            "type": "string",
            "minLength": 1,
            "maxLength": 40,
        },
        "claim": {
            "description": "Adds to each result the sentence of its snippet that is closest to it.",
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
        },
    },
}

_REPUTATION: Final[Schema] = {
    "description": "What is known about the host; absent means unknown.",
    "type": "object",
    "additionalProperties": False,
    "required": ["tier", "basis", "source"],
    "properties": {
        "tier": {"enum": ["high", "mixed", "low"]},
        "basis": _TEXT,
        "source": {"description": "URL of the statement.", "type": "string"},
    },
}

_RESULT: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "url", "snippet", "display_link"],
    "properties": {
        "title": _TEXT,
        "url": _TEXT,
        "snippet": _TEXT,
        "display_link": {"description": "The host, for a person to judge.", "type": "string"},
        "published": {"description": "YYYY-MM-DD.", "type": "string"},
        "source": {"description": "The site or the engines.", "type": "string"},
        "source_reputation": _REPUTATION,
        "claim_signal": {
            "description": "Of every result if claim is given; empty if no sentence fits.",
            "type": "string",
        },
    },
}

_HINTS: Final[Schema] = {
    "description": "Only without results.",
    "type": "object",
    "additionalProperties": False,
    "required": ["reason", "filters_applied", "suggested_actions", "epistemic_warning"],
    "properties": {
        "reason": {"enum": ["no_match", "filters_too_restrictive"]},
        "filters_applied": {"type": "object", "additionalProperties": _TEXT},
        "suggested_actions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["action"],
                "properties": {
                    "action": {
                        "enum": ["remove_filter", "try_different_provider", "broaden_query"]
                    },
                    "filter": _TEXT,
                    "providers": {"type": "array", "items": _TEXT},
                },
            },
        },
        "epistemic_warning": _TEXT,
    },
}

OUTPUT_SCHEMA: Final[Schema] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["urls", "query", "result_count", "results", "trust"],
    "properties": {
        "urls": {"type": "array", "items": _TEXT},
        "query": _TEXT,
        "result_count": {"type": "integer", "minimum": 0},
        "results": {"type": "array", "items": _RESULT},
        "requested_num_results": {"description": "What was asked, if clamped.", "type": "integer"},
        "hints": _HINTS,
        "trust": {"const": TRUST},
    },
}
