"""Makes the manifest of a small plugin, with changes."""

from __future__ import annotations

import copy
import json
from typing import Any

_MANIFEST: dict[str, Any] = {
    "contract": "1.0",
    "name": "sample",
    "version": "0.1.0",
    "description": "A plugin for tests.",
    "licence": "Apache-2.0",
    "hosts": [
        {
            "host": "api.example.org",
            "methods": ["GET"],
            "paths": ["/v1"],
            "pace": {"interval_ms": 100, "upstream": "example"},
            "cache_seconds": 60,
        }
    ],
    "tools": [
        {
            "name": "echo",
            "title": "Echo",
            "description": "Returns an object.",
            "input_schema": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 10},
                    "needed": {"type": "string"},
                },
                "additionalProperties": False,
            },
            "output_schema": {
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "additionalProperties": False,
            },
            "annotations": {
                "read_only": True,
                "destructive": False,
                "idempotent": True,
                "open_world": True,
            },
        }
    ],
    "formats": [
        {
            "name": "note",
            "description": "A note.",
            "media_types": ["text/plain"],
            "output_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        }
    ],
}


def manifest(**changes: Any) -> dict[str, Any]:
    """Returns the sample manifest with top-level keys replaced."""
    return {**copy.deepcopy(_MANIFEST), **changes}


def manifest_text(**changes: Any) -> str:
    """Returns the manifest as `describe` returns it: as JSON text."""
    return json.dumps(manifest(**changes))


def with_tool(**changes: Any) -> dict[str, Any]:
    """Returns the sample manifest with keys of its only tool replaced."""
    changed = manifest()
    changed["tools"][0].update(changes)
    return changed
