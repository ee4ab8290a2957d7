"""Replaces a large result by a summary and a link to a resource that has the whole."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from carrel.plugins.calls.result import Result
from carrel.text.printable import escaped_json, printable

if TYPE_CHECKING:
    from .host_resources import HostResources

#: Bytes of the smallest result that is replaced, as in web-researcher-mcp.
LINK_BYTES: Final = 24 * 1024
MEDIA_TYPE: Final = "application/json"
#: Members of the summary that replaces a large result.
_SUMMARY: Final[dict[str, Any]] = {
    "resource": {"description": "Has the whole result.", "type": "string"},
    "bytes": {"type": "integer", "minimum": 0},
    "mimeType": {"type": "string"},
    "summary": {},
    "expiresAt": {"type": "string"},
    "linked": {"type": "boolean"},
}


def linkable_schema(members: dict[str, Any], *required: str) -> dict[str, Any]:
    """Returns the schema of a result that a server may replace by a summary with a link.

    Args:
        members: of the result, and the summary's further ones.
        required: of the result.
    """
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {**_SUMMARY, **members},
        "anyOf": [{"required": list(required)}, {"required": ["resource", "linked"]}],
    }


def linked(result: Result, keepers: Iterable[HostResources]) -> Result:
    """Returns a summary of a large result with a `resource_link`, or the result itself.

    The result itself is returned if its tool offers no link, if it is below `LINK_BYTES`, and if
    nothing keeps it: correctness comes before size. The link is to the text that a client would
    have received.

    Args:
        result: of a tool.
        keepers: the host's resources, one of which may keep the body.
    """
    if result.link is None or len(result.utf8) < LINK_BYTES:
        return result
    body = escaped_json(result.utf8)
    for keeper in keepers:
        stored = keeper.keep(body)
        if stored is not None:
            break
    else:
        return result
    summary: dict[str, Any] = {
        "resource": stored.uri,
        "bytes": len(body),
        "mimeType": MEDIA_TYPE,
        "summary": printable(result.link.summary, 500),
        "expiresAt": stored.expires_at,
        "linked": True,
        **result.link.facts,
    }
    text = json.dumps(summary, ensure_ascii=False, separators=(",", ":"))
    utf8 = text.encode("utf-8", "replace")
    blocks = (
        {"type": "text", "text": escaped_json(utf8).decode()},
        {
            "type": "resource_link",
            "uri": stored.uri,
            "name": "artifact",
            "description": summary["summary"],
            "mimeType": MEDIA_TYPE,
            "size": len(body),
        },
    )
    return Result(utf8, summary, blocks, meta=result.meta)
