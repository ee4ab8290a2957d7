"""Defines `citation_verify`, `bibliography_audit` and `bibliography_format`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import ArgumentError
from carrel.tools.host_tool import host_limits
from carrel.web.research.citing.auditing import FLAGS, MAX_ENTRIES, audit
from carrel.web.research.citing.entries import (
    FORMATS,
    AuditEntry,
    given_entries,
    read_entries,
    session_entries,
)
from carrel.web.research.citing.evidence import CONFIDENCES, INPUT_TYPES, STATUSES
from carrel.web.research.citing.titles import TITLE_MATCHES
from carrel.web.research.claims import SUPPORTS
from carrel.web.research.formatting import STYLES, format_bibliography, session_sources

from .function_tool import (
    CLAIM,
    COUNT,
    FLAG,
    LABEL,
    OBJECT,
    OBJECTS,
    SESSION_ID,
    TEXT,
    TEXTS,
    FunctionTool,
    Schema,
    output_schema,
    spec_of,
)

if TYPE_CHECKING:
    from carrel.citations import CitationEngine
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.web.research.citing.verifying import CitationVerifier
    from carrel.web.research.sessions import SessionStore

#: Seconds for the whole, unless the operator's `limits.wall_seconds` says otherwise.
_VERIFY_SECONDS: Final = 120.0
_AUDIT_SECONDS: Final = 600.0
_FORMAT_SECONDS: Final = 60.0
#: Bytes of a bibliography, and entries that a call may list.
_BIBLIOGRAPHY: Final = 2 * 2**20
_LISTED: Final = 500

_VERIFY: Final = """\
WHEN TO USE: Check a citation before relying on it.
INPUTS: citation, a DOI, URL or reference; claim that it is cited for.
OUTPUTS: verification_status; matched_record or possible_match; title_match, retraction_status; \
sentences about the claim.
COSTS: A few requests per source.
SIDE EFFECTS: None.
LIMITS: Evidence, never a verdict: claim_support says whether the source speaks of the claim, not \
whether it is true."""
_AUDIT: Final = f"""\
WHEN TO USE: Check a whole reference list.
INPUTS: bibliography (CSL-JSON, RIS, BibTeX), entries, or session_id.
OUTPUTS: entries with flags: {", ".join(FLAGS)}; counts. unchecked is no evidence against an entry.
COSTS: A few requests per entry.
SIDE EFFECTS: None.
LIMITS: {MAX_ENTRIES} entries. Evidence, never a verdict."""
_FORMAT: Final = """\
WHEN TO USE: Write a bibliography of web sources or of a session; library_cite for a library.
INPUTS: style; sources or session_id.
OUTPUTS: bibliography.
COSTS: None.
SIDE EFFECTS: None.
LIMITS: 500 sources, each address once."""

_FIELD: Final[Schema] = {"type": "string", "maxLength": 2000}
_FIELDS: Final[Schema] = dict.fromkeys(("url", "title", "author", "site", "date", "doi"), _FIELD)
_CLAIM_OUTPUT: Final[Schema] = {
    "claim": TEXT,
    "claim_support": {"enum": list(SUPPORTS)},
    "claim_evidence": TEXTS,
    "claim_source_url": TEXT,
    "contrast_signal": FLAG,
}


def verify_tool(verifier: CitationVerifier, config: Config) -> FunctionTool:
    """Returns `citation_verify`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return verifier.verify(arguments["citation"], arguments.get("claim", ""), call)

    spec = spec_of(
        "citation_verify",
        "Verify a citation",
        _VERIFY,
        {"citation": {"type": "string", "minLength": 1, "maxLength": 5000}, "claim": CLAIM},
        output_schema(
            {
                "input": TEXT,
                "input_type": {"enum": list(INPUT_TYPES)},
                "exists": FLAG,
                "verification_status": {"enum": list(STATUSES)},
                "match_confidence": {"enum": list(CONFIDENCES)},
                "matched_record": OBJECT,
                "possible_match": OBJECT,
                "title_match": {"enum": list(TITLE_MATCHES)},
                "retraction_status": OBJECT,
                "http_status": COUNT,
                "detected_doi": TEXT,
                "reason": TEXT,
                **_CLAIM_OUTPUT,
                "claim_check_skipped": FLAG,
                "claim_check_skipped_reason": TEXT,
                "provenance": TEXTS,
                "trust": LABEL,
            },
            "input", "input_type", "exists", "verification_status", "match_confidence",
            "provenance", "trust",
        ),
        required=["citation"],
    )  # fmt: skip
    return FunctionTool(spec, answer, host_limits(config, _VERIFY_SECONDS))


def audit_tool(verifier: CitationVerifier, sessions: SessionStore, config: Config) -> FunctionTool:
    """Returns `bibliography_audit`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        entries, origin, unread = _entries(arguments, sessions)
        report = audit(entries, origin, verifier, call)
        return {**report, "unread": unread[:50]} if unread else report

    spec = spec_of(
        "bibliography_audit",
        "Audit a bibliography",
        _AUDIT,
        {
            "bibliography": {"type": "string", "maxLength": _BIBLIOGRAPHY},
            "format": {"enum": list(FORMATS), "default": FORMATS[0]},
            "entries": {
                "type": "array",
                "maxItems": _LISTED,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {**_FIELDS, "claim": _FIELD},
                },
            },
            "session_id": SESSION_ID,
        },
        output_schema(
            {
                "source": TEXT,
                "entry_count": COUNT,
                "summary": OBJECT,
                "entries": OBJECTS,
                "checked_at": TEXT,
                "skipped": COUNT,
                "skipped_note": TEXT,
                "unread": TEXTS,
                "trust": LABEL,
            },
            "source", "entry_count", "summary", "entries", "checked_at", "trust",
        ),
        required=[],
    )  # fmt: skip
    return FunctionTool(spec, answer, host_limits(config, _AUDIT_SECONDS))


def _entries(
    arguments: Mapping[str, Any], sessions: SessionStore
) -> tuple[list[AuditEntry], str, list[str]]:
    """Returns what to audit; a list comes before a text, and a text before a session."""
    if arguments.get("entries"):
        return given_entries(arguments["entries"]), "entries", []
    text = arguments.get("bibliography", "")
    if text.strip():
        entries, format_, unread = read_entries(text, arguments.get("format", FORMATS[0]))
        if not entries and not unread:
            raise ArgumentError(["bibliography: it has no entries"])
        return entries, f"bibliography:{format_}", unread
    if arguments.get("session_id"):
        entries = session_entries(sessions.get(arguments["session_id"]))
        if not entries:
            raise ArgumentError(["session_id: the session has no sources"])
        return entries, "session", []
    raise ArgumentError(["give one of bibliography, entries and session_id"])


def format_tool(engine: CitationEngine, sessions: SessionStore, config: Config) -> FunctionTool:
    """Returns `bibliography_format`."""

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        style = arguments.get("style", STYLES[0])
        session_id = arguments.get("session_id")
        if arguments.get("sources") is not None:
            return format_bibliography(arguments["sources"], style, engine, call)
        if not session_id:
            raise ArgumentError(["give one of sources and session_id"])
        session = sessions.get(session_id)
        bibliography = format_bibliography(session_sources(session), style, engine, call)
        return {**bibliography, "session_id": session.id}

    spec = spec_of(
        "bibliography_format",
        "Format a bibliography",
        _FORMAT,
        {
            "style": {"enum": list(STYLES), "default": STYLES[0]},
            "sources": {
                "type": "array",
                "maxItems": _LISTED,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["url"],
                    "properties": _FIELDS,
                },
            },
            "session_id": SESSION_ID,
        },
        output_schema(
            {
                "style": {"enum": list(STYLES)},
                "entry_count": COUNT,
                "bibliography": TEXT,
                "session_id": TEXT,
                "trust": LABEL,
            },
            "style", "entry_count", "bibliography", "trust",
        ),
        required=[],
        network=False,
    )  # fmt: skip
    return FunctionTool(spec, answer, host_limits(config, _FORMAT_SECONDS))
