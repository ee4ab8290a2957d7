"""The tool library_check: retractions, corrections, newer versions and drifted metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.library.checking.findings import FINDING_TYPES, STATUSES
from carrel.library.checking.run import LibraryChecker, summary
from carrel.library.errors import LibraryError

from .library_tool import TEXT, LibraryTool, Schema, library_spec

if TYPE_CHECKING:
    from carrel.bibliography import Item
    from carrel.exchange import Call
    from carrel.library.library import Library
    from carrel.library.shared import SharedLibrary

MAX_IDS: Final = 100

_DESCRIPTION: Final = """\
WHEN TO USE: Check references of the user's library before citing.
INPUTS: ids, or query; force: again within 7 days; save.
OUTPUTS: results: status, findings with who says so: retracted, concern, metadata_mismatch, \
version_changed, corrected, metadata_outdated. unknown is not ok.
COSTS: As work_lookup and paper_retractions, for each.
SIDE EFFECTS: Keeps the result in the library, unless save is false.
LIMITS: 100 references; changes no metadata."""


def make_check_tool(shared: SharedLibrary, checker: LibraryChecker) -> LibraryTool:
    """Returns the tool."""

    def check(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        return check_references(shared(), checker, arguments, call)

    finding: Schema = {
        "type": "object",
        "required": ["type", "message"],
        "additionalProperties": False,
        "properties": {
            "type": {"enum": list(FINDING_TYPES)},
            "message": TEXT,
            "sources": {"type": "array", "items": TEXT},
            "details": {"type": "object"},
        },
    }
    result: Schema = {
        "type": "object",
        "required": ["id", "status"],
        "additionalProperties": False,
        "properties": {
            "id": TEXT,
            "status": {"enum": [*STATUSES, "not_found"]},
            "findings": {"type": "array", "items": finding},
            "message": TEXT,
            "sources": {"type": "array", "items": TEXT},
        },
    }
    output: Schema = {
        "type": "object",
        "required": ["results", "summary"],
        "additionalProperties": False,
        "properties": {
            "results": {"type": "array", "items": result},
            "summary": {"type": "object"},
        },
    }
    ids: Schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_IDS,
        "items": {"type": "string", "minLength": 1, "maxLength": 500},
    }
    properties: Schema = {
        "ids": ids,
        "query": {"description": "As of library_search.", "type": "string", "maxLength": 2000},
        "force": {"type": "boolean", "default": False},
        "save": {"type": "boolean", "default": True},
    }
    spec = library_spec(
        "library_check",
        "Check references",
        _DESCRIPTION,
        properties,
        output,
        writes=True,
        network=True,
    )
    return LibraryTool(spec, check, shared, checker.limits)


def check_references(
    library: Library, checker: LibraryChecker, arguments: Mapping[str, Any], call: Call
) -> dict[str, Any]:
    """Checks the references that arguments name.

    Raises:
        LibraryError: `INVALID`; neither ids nor a query. Or the library cannot be read or written.
    """
    found: list[Item | str] = []
    if arguments.get("ids"):
        for key in dict.fromkeys(arguments["ids"]):
            try:
                found.append(library.get(key))
            except LibraryError as error:
                if error.library_code != "NOT_FOUND":
                    raise
                found.append(key)
    elif arguments.get("query"):
        found += library.search(arguments["query"], limit=MAX_IDS).items
    else:
        raise LibraryError(
            "INVALID",
            "neither ids nor a query is given",
            advice="give ids, or a query for library_search",
        )
    items = [entry for entry in found if not isinstance(entry, str)]
    outcomes = iter(
        checker.run(
            library,
            items,
            call,
            force=bool(arguments.get("force")),
            save=bool(arguments.get("save", True)),
        )
    )
    results: list[dict[str, Any]] = []
    checked = []
    for entry in found:
        if isinstance(entry, str):
            results.append({"id": entry, "status": "not_found", "message": "no such reference"})
        else:
            outcome = next(outcomes)
            checked.append(outcome)
            results.append(outcome.to_json())
    counts = summary(checked)
    missing = len(found) - len(checked)
    if missing:
        counts |= {"total": len(found), "not_found": missing}
    return {"results": results, "summary": counts}
