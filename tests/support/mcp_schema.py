"""Validates frames by the official JSON Schemas of the protocol's revisions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "reference" / "mcp-schema"

_RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "ping": "EmptyResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "logging/setLevel": "EmptyResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}
_NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}


@cache
def _schema(revision: str) -> dict[str, Any]:
    path = FOLDER / f"{revision}.json"
    if not path.exists():
        place = "/".join(("..", *path.parts[-4:]))
        pytest.skip(f"frames are not judged: MCP's schema of {revision} is not there ({place})")
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(schema, dict)
    return schema


@cache
def _validator(revision: str, name: str) -> Any:
    schema = _schema(revision)
    place = "$defs" if "$defs" in schema else "definitions"
    assert name in schema[place], f"{revision} has no {name}"
    return jsonschema_rs.validator_for({**schema, "$ref": f"#/{place}/{name}"})


def faults(revision: str, frame: Any, method: str | None) -> list[str]:
    """Returns the faults of a server's frame, by the schema of `revision`.

    Args:
        revision: the negotiated one.
        frame: as decoded.
        method: of the request that it answers, if it answers one.
    """
    since_2025_11 = revision >= "2025-11-25"
    if not isinstance(frame, dict) or "stray" in frame:
        return [f"not a frame: {frame!r:.200}"]
    checks: list[tuple[str, Any]]
    if "method" in frame:
        checks = [(_NOTIFICATIONS[frame["method"]], frame)]
    elif "error" in frame:
        if "id" in frame and frame["id"] is None and not since_2025_11:
            # JSON-RPC 2.0, section 5: null where the id could not be read. These revisions'
            # schemas have no form for such an error at all.
            frame = {**frame, "id": 0}
        checks = [("JSONRPCErrorResponse" if since_2025_11 else "JSONRPCError", frame)]
    else:
        assert method is not None, f"an answer to nothing: {frame!r:.200}"
        envelope = "JSONRPCResultResponse" if since_2025_11 else "JSONRPCResponse"
        checks = [(envelope, frame), (_RESULTS[method], frame["result"])]
    return [
        f"{name}: {error.message} at {'/'.join(map(str, error.instance_path))}"
        for name, value in checks
        for error in _validator(revision, name).iter_errors(value)
    ]


def assert_frames_valid(revision: str, pairs: Iterable[tuple[Any, str | None]]) -> None:
    """Validates frames, each with the method of its request, by the official schema."""
    found = [fault for frame, method in pairs for fault in faults(revision, frame, method)]
    assert not found, "\n".join(found[:10])
