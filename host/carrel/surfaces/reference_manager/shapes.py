"""Translates reference-manager's eight tools to Carrel's tools for the library.

Results are text, as the original's. What fails is a JSON-RPC error: -32602 for arguments, -32000
for the application.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from carrel.bibliography import write_bibliography
from carrel.errors import ArgumentError, CarrelError, RequestRefusedError
from carrel.library.errors import LibraryError
from carrel.library.fulltext.run import LONGEST_PART, NoFullTextError
from carrel.library.items import described
from carrel.surfaces.shape import Arguments, Blocks, Json, Shape

APPLICATION_ERROR: Final = -32000
INVALID_PARAMS: Final = -32602


def refuse(arguments: Arguments, error: CarrelError) -> NoReturn:
    """Raises the JSON-RPC error of a failure."""
    if isinstance(error, RequestRefusedError):
        raise error
    if isinstance(error, ArgumentError):
        raise RequestRefusedError(INVALID_PARAMS, f"Invalid params: {error.message}")
    message = error.message
    if isinstance(error, NoFullTextError):
        message = f"No fulltext attached to '{arguments.get('id')}'"
    elif isinstance(error, LibraryError) and error.library_code == "NOT_FOUND":
        message = f"Reference not found: {arguments.get('id')}"
    elif isinstance(error, LibraryError) and error.library_code == "INVALID":
        raise RequestRefusedError(INVALID_PARAMS, f"Invalid params: {error.message}")
    elif grant := error.details().get("denial_context", {}).get("grant"):
        message += f"; the operator grants folders with the setting {grant}"
    raise RequestRefusedError(APPLICATION_ERROR, message, paths=error.paths)


def resource_failure(name: str) -> RequestRefusedError:
    """Returns the JSON-RPC error of a reference that is not there.

    Args:
        name: of the reference, as the URI has it.
    """
    return RequestRefusedError(APPLICATION_ERROR, f"Reference not found: {name}")


def _search(arguments: Arguments) -> Json:
    return {"query": arguments["query"], "limit": 0, "full": True}


def _found(_arguments: Arguments, result: Json) -> Blocks:
    return Blocks((_json(result["items"]),), result)


def _all(_arguments: Arguments) -> Json:
    return {"limit": 0, "full": True, "superseded": True}


def _listed(arguments: Arguments, result: Json) -> Blocks:
    items = result["items"]
    chosen = arguments.get("format", "pretty")
    if chosen == "json":
        text = _json(items)
    elif chosen == "bibtex":
        text = write_bibliography(items, "bibtex")
    else:
        text = "\n".join(f"[{item['id']}] {described(item)}" for item in items)
    return Blocks((text,), result)


def _inputs(arguments: Arguments) -> Json:
    value = arguments["input"]
    return {"inputs": value if isinstance(value, str) or value else ""}


def _added(_arguments: Arguments, result: Json) -> Blocks:
    """Returns what was added, skipped and failed; a single input that was not added is an error."""
    by_status: dict[str, list[Mapping[str, Any]]] = {"added": [], "skipped": [], "failed": []}
    for outcome in result["outcomes"]:
        by_status[outcome["status"]].append(outcome)
    added, skipped, failed = by_status["added"], by_status["skipped"], by_status["failed"]
    if len(result["outcomes"]) == 1 and not added:
        [outcome] = result["outcomes"]
        if skipped:
            kind = outcome.get("duplicate_type", "title")
            message = (
                f"Duplicate reference: {outcome['source']} "
                f"exists as {outcome['existing_id']} ({kind})"
            )
        else:
            message = f"{outcome['source']}: {outcome['message']} ({outcome['reason']})"
        raise RequestRefusedError(APPLICATION_ERROR, message)
    lines = []
    if added:
        lines.append(f"Added {len(added)} reference(s):")
        lines += [f"  - {outcome['id']}: {outcome.get('title', '')}" for outcome in added]
    if skipped:
        lines.append(f"Skipped {len(skipped)} duplicate(s):")
        lines += [
            f"  - {outcome['source']} (exists as: {outcome['existing_id']})" for outcome in skipped
        ]
    if failed:
        lines.append(f"Failed {len(failed)} input(s):")
        lines += [
            f"  - {outcome['source']}: {outcome['message']} ({outcome['reason']})"
            for outcome in failed
        ]
    return Blocks(("\n".join(lines) or "No references were processed.",), result)


def _removed(arguments: Arguments, result: Json) -> Blocks:
    if "item" not in result:
        raise RequestRefusedError(APPLICATION_ERROR, f"Reference not found: {arguments['id']}")
    if not result["removed"]:
        text = (
            "Remove operation requires force: true to execute. This is a safety measure. "
            f"It would remove {result['item']['id']}: {result['item'].get('title', 'untitled')}"
        )
        return Blocks((text,), result)
    item = result["item"]
    text = f"Removed reference: {item['id']}\nTitle: {item.get('title', 'untitled')}"
    return Blocks((text,), result)


def _cited(arguments: Arguments) -> Json:
    """Returns the arguments; the style is the configured one, APA by default."""
    return {"format": "text", **arguments}


def _citations(_arguments: Arguments, result: Json) -> Blocks:
    texts = [
        citation.get("text") or f"Error: {citation['id']} not found"
        for citation in result["citations"]
    ]
    return Blocks(tuple(texts), result)


def _attach(arguments: Arguments) -> Json:
    return {**arguments, "replace": True}


def _attached(arguments: Arguments, result: Json) -> Blocks:
    text = f"Attached {result['kind']} to '{arguments['id']}': {result['filename']}"
    return Blocks((text,), result)


def _get(arguments: Arguments) -> Json:
    return {"id": arguments["id"], "max_chars": LONGEST_PART}


def _got(_arguments: Arguments, result: Json) -> Blocks:
    """Returns Markdown as it is, and of a PDF its path."""
    texts = [result["text"]] if "text" in result else []
    if "pdf" in result:
        texts.append(json.dumps({"path": result["pdf"]}, ensure_ascii=False))
    return Blocks(tuple(texts), result)


def _detached(arguments: Arguments, result: Json) -> Blocks:
    text = f"Detached from '{arguments['id']}': {', '.join(result['detached'])}"
    return Blocks((text,), result)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


SHAPES: Final[Mapping[str, Shape]] = {
    "search": Shape(_search, _found, refuse),
    "list": Shape(_all, _listed, refuse),
    "add": Shape(_inputs, _added, refuse),
    "remove": Shape(dict, _removed, refuse),
    "cite": Shape(_cited, _citations, refuse),
    "fulltext_attach": Shape(_attach, _attached, refuse),
    "fulltext_get": Shape(_get, _got, refuse),
    "fulltext_detach": Shape(dict, _detached, refuse),
}
