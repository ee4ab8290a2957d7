"""Builds MCP results from the outcomes of tool calls."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError, FailedResultError, ModuleError, SourceError
from carrel.files.local_paths import without_paths
from carrel.text.compact import compact_text
from carrel.text.printable import escaped_json, printable, printable_lines

from .frames import RawJson

if TYPE_CHECKING:
    from carrel.tools import Result

#: `_meta` key of a call that selects the text of its result: `json` or `compact`.
TEXT: Final = "carrel/text"
#: `_meta` key of a request that bypasses the cache.
REFRESH = "carrel/refresh"
#: `_meta` key and value of results with external content: data, not instructions.
CONTENT_LABEL: Final = "carrel/content"
UNTRUSTED: Final = "untrusted-external-content"

#: Protocol revisions without `structuredContent`.
TEXT_ONLY: Final = frozenset({"2024-11-05", "2025-03-26"})

_LINE_LENGTH: Final = 2000
#: Maximum bytes of a result for compact text; a larger one would take more than a second.
_COMPACT_BYTES: Final = 2**20


def success(result: Result, *, revision: str, raw: bool) -> dict[str, Any]:
    """Returns the MCP result: the component's text, and the same as structured content.

    Hidden characters in the text are escaped, so that both are the same JSON value and a client
    that shows the text shows them.

    Args:
        result: from the toolbox.
        revision: of the protocol, as negotiated.
        raw: whether the transport can write the component's text unchanged.
    """
    utf8 = escaped_json(result.utf8)
    if result.content is not None:
        blocks = [_known_block(block, revision) for block in result.content]
        answer: dict[str, Any] = {"content": blocks}
        if result.structured and revision not in TEXT_ONLY:
            answer["structuredContent"] = RawJson(utf8) if raw else result.data
        return answer
    # A transport that writes JSON text unchanged also accepts UTF-8 for a string.
    text = utf8 if raw else utf8.decode()
    answer = {"content": [{"type": "text", "text": text}]}
    if revision not in TEXT_ONLY:
        answer["structuredContent"] = RawJson(utf8) if raw else result.data
    return answer


def compact(result: Result, *, revision: str, raw: bool, structured: bool) -> dict[str, Any]:
    """Returns the MCP result with compact text, for a client that shows the text to a model.

    The text of an Extism module is not rewritten. A result that is too large or nested too deeply
    keeps its JSON text. Takes milliseconds or more; do not call it on the event loop.

    Args:
        result: from the toolbox.
        revision: of the protocol, as negotiated.
        raw: whether the transport can write a component's text unchanged.
        structured: whether to add structured content.
    """
    if result.content is not None:
        return success(result, revision=revision, raw=raw)
    answer: dict[str, Any] = {"content": [{"type": "text", "text": _compact_text(result)}]}
    if structured and revision not in TEXT_ONLY:
        answer["structuredContent"] = RawJson(escaped_json(result.utf8)) if raw else result.data
    return answer


def _compact_text(result: Result) -> str:
    if len(result.utf8) <= _COMPACT_BYTES:
        try:
            return compact_text(result.data)
        except RecursionError:
            pass
    return escaped_json(result.utf8).decode()


def _known_block(block: dict[str, Any], revision: str) -> dict[str, Any]:
    """Returns the content block, or a text in its place if the revision does not know its kind."""
    kind = block["type"]
    if kind == "audio" and revision == "2024-11-05":
        return {"type": "text", "text": f"[audio: {block['mimeType']}]"}
    if kind == "resource_link" and revision in TEXT_ONLY:
        return {"type": "text", "text": f"{block['name']}: {block['uri']}"}
    return block


def error_object(error: CarrelError) -> dict[str, Any]:
    """Returns the error object for clients, without paths of this machine."""
    return {**error.to_dict(), "message": message_of(error)}


def message_of(error: CarrelError) -> str:
    """Returns the error's message without paths of this machine; messages of sources and modules
    are unchanged.
    """
    if isinstance(error, SourceError):
        return error.message
    return without_paths(error.message, error.paths)


def failure(error: CarrelError, *, revision: str) -> dict[str, Any]:
    """Returns the MCP result of a failure: a line for people, then the error object.

    A module's content blocks replace the line if they include a text, and a surface's own text
    replaces both.
    """
    if isinstance(error, FailedResultError):
        own_text = printable_lines(without_paths(error.text, error.paths))
        return {"content": [{"type": "text", "text": own_text}], "isError": True}
    details = error_object(error)
    line = printable(details["message"], _LINE_LENGTH)
    if error.advice:
        line = f"{line} ({error.advice})"
    body = json.dumps({"error": details}, separators=(",", ":"), default=str)
    own = error.content if isinstance(error, ModuleError) else ()
    blocks = [_known_block(block, revision) for block in own]
    if not any(block["type"] == "text" and block["text"].strip() for block in blocks):
        blocks.insert(0, {"type": "text", "text": line})
    return {"content": [*blocks, {"type": "text", "text": body}], "isError": True}
