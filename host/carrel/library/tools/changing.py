"""The tools that change what the library has: library_add and library_remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.library.adding.outcome import REASONS, STATUSES, summary
from carrel.library.removing import remove_reference

from .library_tool import ID, NUMBER, SHORT, TEXT, LibraryTool, Schema, library_spec

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.library.adding.run import LibraryAdder
    from carrel.library.shared import SharedLibrary

#: Texts of one call, and characters of each.
_MOST: Final = 500
_LONGEST: Final = 4_000_000

_ADD: Final = """\
WHEN TO USE: Put works into the user's library.
INPUTS: inputs: what people paste, in any mix: DOI, arXiv, PMID, PMCID, ISBN or their URLs; \
citations; BibTeX, RIS, nbib, CSL-JSON, EndNote XML; paths of PDFs and bibliographies.
OUTPUTS: outcomes: one each: added with id, skipped with existing_id, failed with reason; summary.
COSTS: As work_lookup; a citation is a search.
SIDE EFFECTS: Writes the library.
LIMITS: Files only of folders that the operator granted."""
_REMOVE: Final = """\
WHEN TO USE: Remove a reference from the user's library.
INPUTS: id; force.
OUTPUTS: removed, message; without force what would be removed.
COSTS: No request.
SIDE EFFECTS: With force, writes the library; a backup is kept, and attached files stay.
LIMITS: Ask the user before force."""


def make_changing_tools(shared: SharedLibrary, adder: LibraryAdder) -> list[LibraryTool]:
    """Returns the tools."""

    def add(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        raw = arguments["inputs"]
        texts = [raw] if isinstance(raw, str) else raw
        outcomes = adder.run(shared(), texts, call)
        return {
            "outcomes": [outcome.to_json() for outcome in outcomes],
            "summary": summary(outcomes),
        }

    def remove(arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return remove_reference(shared(), arguments["id"], force=bool(arguments.get("force")))

    text: Schema = {"type": "string", "maxLength": _LONGEST}
    inputs: Schema = {
        "anyOf": [text, {"type": "array", "minItems": 1, "maxItems": _MOST, "items": text}]
    }
    outcome: Schema = {
        "type": "object",
        "required": ["source", "status", "kind"],
        "additionalProperties": False,
        "properties": {
            "source": TEXT,
            "status": {"enum": list(STATUSES)},
            "kind": TEXT,
            "id": TEXT,
            "title": TEXT,
            "reason": {"enum": list(REASONS)},
            "existing_id": TEXT,
            "duplicate_type": TEXT,
            "message": TEXT,
        },
    }
    added: Schema = {
        "type": "object",
        "required": ["outcomes", "summary"],
        "additionalProperties": False,
        "properties": {
            "outcomes": {"type": "array", "items": outcome},
            "summary": {
                "type": "object",
                "additionalProperties": False,
                "properties": dict.fromkeys(("total", *STATUSES), NUMBER),
            },
        },
    }
    removed: Schema = {
        "type": "object",
        "required": ["removed", "message"],
        "additionalProperties": False,
        "properties": {"removed": {"type": "boolean"}, "message": TEXT, "item": SHORT},
    }
    return [
        LibraryTool(
            library_spec(
                "library_add",
                "Add to the library",
                _ADD,
                {"inputs": inputs},
                added,
                required=["inputs"],
                writes=True,
                network=True,
            ),
            add,
            shared,
            adder.limits,
        ),
        LibraryTool(
            library_spec(
                "library_remove",
                "Remove from the library",
                _REMOVE,
                {"id": ID, "force": {"type": "boolean", "default": False}},
                removed,
                required=["id"],
                writes=True,
                destructive=True,
            ),
            remove,
            shared,
        ),
    ]
