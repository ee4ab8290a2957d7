"""What one plugin asks for, against what it is granted."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from carrel.credentials import find_secret, variable
from carrel.errors import CarrelError
from carrel.plugins.review import in_vain, limits_of, review

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifest import Manifest
    from carrel.plugins.registry import PluginState


def inspect_plugin(config: Config, entry: PluginConfig, state: PluginState) -> dict[str, Any]:
    """Everything worth knowing about a plugin, nothing secret; for a broken one, what is known."""
    told: dict[str, Any] = {
        "name": entry.name,
        "url": entry.url,
        "enabled": entry.enabled,
        "digest": f"sha256:{state.digest}" if state.digest else None,
        "locked": state.locked,
        "notes": [*state.notes],
    }
    if state.error is not None:
        told["error"] = state.error.to_dict()
    told["imports"] = _imports(config, entry)
    manifest = state.manifest
    if manifest is None:
        return told
    items = review(config, entry, manifest)
    told |= {
        "plugin": manifest.name,
        "version": manifest.version,
        "contract": manifest.contract,
        "title": manifest.title,
        "description": manifest.description,
        "licence": manifest.licence,
        "homepage": manifest.homepage,
        "policy": [asdict(item) for item in items],
        "in_vain": in_vain(entry, manifest),
        "hosts": _hosts(manifest, state),
        "secrets": [_secret(name, config, entry) for name in manifest.secrets],
        "limits": limits_of(config, entry, manifest),
        "tools": [
            {
                "name": manifest.client_name(tool.name),
                "title": tool.title,
                "skipped": entry.skips(tool.name),
                "read_only": tool.read_only,
                "open_world": tool.open_world,
            }
            for tool in manifest.tools
        ],
        "formats": [{"name": one.name, "description": one.description} for one in manifest.formats],
    }
    return told


def _hosts(manifest: Manifest, state: PluginState) -> list[dict[str, Any]]:
    return [
        {
            "host": rule.host,
            "methods": sorted(rule.methods),
            "paths": list(rule.paths),
            "interval_seconds": rule.pace.interval,
            "granted": rule.host in state.granted,
        }
        for rule in manifest.hosts
    ]


def _secret(name: str, config: Config, entry: PluginConfig) -> dict[str, Any]:
    told: dict[str, Any] = {"name": name, "granted": entry.grants_secret(name)}
    if name == "contact":
        return {**told, "set": config.fetch.contact is not None, "from": "CARREL_CONTACT"}
    return {**told, "set": find_secret(name) is not None, "from": variable(name)}


def _imports(config: Config, entry: PluginConfig) -> list[str] | None:
    from carrel.plugins.pinning import local_bytes
    from carrel.runtime.imported_names import imported_names

    try:
        return imported_names(local_bytes(config, entry))
    except CarrelError:
        return None  # the state's error says why


def show_inspection(told: dict[str, Any]) -> None:
    """Prints an inspection for a person."""
    from .render import facts, table

    facts(
        [
            (key, told[key])
            for key in (
                "url", "digest", "plugin", "version", "contract", "licence", "homepage",
                "description",
            )
            if told.get(key)
        ],
        title=told["name"],
    )  # fmt: skip
    if "policy" in told:
        for kind, title in _TITLES.items():
            items = [item for item in told["policy"] if item["kind"] == kind]
            if items:
                table((kind, "asked", "granted", "refused", "grant"), map(_row, items), title=title)
        table(("granted and not asked for",), [(line,) for line in told["in_vain"]])
        table(
            ("secret", "state", "from"),
            [
                (secret["name"], "set" if secret["set"] else "not set", secret["from"])
                for secret in told["secrets"]
            ],
            title="Values",
        )
        table(
            ("format", "document"),
            [(one["name"], one["description"]) for one in told["formats"]],
            title="Formats",
        )
    table(("note",), [(note,) for note in told["notes"]], title="Notes")
    if told["imports"] is not None:
        table(("import",), [(name,) for name in told["imports"]], title="Imports")


_TITLES = {
    "host": "Hosts",
    "pace": "Pace",
    "secret": "Secrets",
    "tool": "Tools",
    "lookup": "Lookup",
    "resource": "Resources",
    "prompt": "Prompts",
    "limit": "Limits",
}


def _row(item: dict[str, str]) -> list[Any]:
    from .render import text

    refused = text(item["refused"], "red") if item["refused"] else ""
    granted = text(item["granted"], "green") if item["granted"] else text("nothing", "red")
    # Of what is granted whole nothing need be changed; limits and pace can be at any time.
    grant = item["grant"] if item["refused"] or item["kind"] == "pace" else ""
    return [item["name"], item["asked"], granted, refused, grant]
