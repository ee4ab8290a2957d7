"""Finds the plugins that can state notices about a work, by their manifests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.plugin_set import PluginSet

#: The tool that lists the notices about a DOI: it takes `doi`, and its result has `updates` with
#: `notice_doi` and `type`.
NOTICES: Final = "updates"


def notice_sources(plugins: PluginSet, config: Config) -> tuple[list[str], list[str]]:
    """Returns the plugins whose records may state notices, and those with a tool for notices.

    A plugin whose manifest describes records without `updated_by` never states one, so its silence
    says nothing, and it is left out.
    """
    records, tools = [], []
    for name, manifest in plugins.manifests():
        entry = config.plugin(name)
        if manifest.lookup is None or (entry is not None and entry.skips("lookup")):
            continue
        if _may_state(manifest):
            records.append(name)
        if _lists_notices(manifest) and not (entry is not None and entry.skips(NOTICES)):
            tools.append(name)
    return records, tools


def _may_state(manifest: Manifest) -> bool:
    described = json.dumps(manifest.raw)
    return '"updated_by"' in described or '"container_title"' not in described


def _lists_notices(manifest: Manifest) -> bool:
    spec = manifest.tool(NOTICES)
    if spec is None or spec.output_schema is None:
        return False
    if spec.input_schema.get("required", []) != ["doi"]:
        return False
    updates = _member(spec.output_schema, "updates")
    return {"notice_doi", "type"} <= set(updates.get("items", {}).get("properties", {}))


def _member(schema: dict[str, Any], name: str) -> dict[str, Any]:
    found = schema.get("properties", {}).get(name, {})
    return found if isinstance(found, dict) else {}
