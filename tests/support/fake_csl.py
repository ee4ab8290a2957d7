"""A plugin `csl` that renders the same citation whatever it is asked, for tests of servers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .guests import guest
from .manifests import manifest_text

CITATION = "Marlow, A., & Okafor, J. (2019). The tidy desk and its drawers."


def csl_plugin(folder: Path, key: str = "marlow-2019") -> dict[str, Any]:
    """Writes the plugin, and returns its entry in a configuration."""
    form = {
        "name": "process",
        "description": "Renders.",
        "media_types": ["application/json"],
        "output_schema": {"type": "object"},
    }
    result = {
        "citations": [{"text": "(Marlow & Okafor, 2019)"}],
        "bibliography": [{"id": key, "text": CITATION}],
        "layout": {},
        "unknown": [],
        "warnings": [],
    }
    made = guest(
        result=json.dumps(result),
        manifest=manifest_text(hosts=[], tools=[], formats=[form]),
    )
    path = folder / "csl.wasm"
    path.write_bytes(made.wasm)
    return {"url": path.as_uri()}
