"""What one plugin asks for, against what it is granted."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from carrel.credentials import find_secret, variable
from carrel.errors import CarrelError

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
    }
    if state.error is not None:
        told["error"] = state.error.to_dict()
    told["imports"] = _imports(entry)
    manifest = state.manifest
    if manifest is None:
        return told
    told |= {
        "plugin": manifest.name,
        "version": manifest.version,
        "contract": manifest.contract,
        "title": manifest.title,
        "description": manifest.description,
        "licence": manifest.licence,
        "homepage": manifest.homepage,
        "hosts": _hosts(manifest, state),
        "granted_but_not_declared": _useless_grants(entry, manifest),
        "secrets": [_secret(name, config) for name in manifest.secrets],
        "limits": _limits(config, entry, manifest),
        "tools": [
            {
                "name": f"{manifest.namespace}_{tool.name}",
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


def _useless_grants(entry: PluginConfig, manifest: Manifest) -> list[str]:
    from carrel.fetch.hosts import matches

    declared = [rule.host for rule in manifest.hosts]
    return [
        grant
        for grant in entry.allowed_hosts or ()
        if not any(host == grant or matches(grant, host) for host in declared)
    ]


def _secret(name: str, config: Config) -> dict[str, Any]:
    if name == "contact":
        return {"name": name, "set": config.fetch.contact is not None, "from": "CARREL_CONTACT"}
    return {"name": name, "set": find_secret(name) is not None, "from": variable(name)}


def _limits(config: Config, entry: PluginConfig, manifest: Manifest) -> dict[str, float]:
    from carrel.plugins.limits import effective_limits

    overrides = {**config.limits, **entry.limits}
    trusted = entry.url.startswith("builtin:")
    return asdict(effective_limits(manifest.limits, overrides, trusted=trusted))


def _imports(entry: PluginConfig) -> list[str] | None:
    from carrel.plugins.source import read_source
    from carrel.runtime.imported_names import imported_names

    try:
        return imported_names(read_source(entry.name, entry.url).wasm)
    except CarrelError:
        return None  # the state's error says why


def show_inspection(told: dict[str, Any]) -> None:
    """Prints an inspection for a person."""
    from .render import facts, table, text

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
    if "hosts" in told:
        rows = [
            (
                host["host"],
                text("granted", "green") if host["granted"] else text("refused", "red"),
                ", ".join(host["methods"]),
                ", ".join(host["paths"]) or "every path",
                f"{host['interval_seconds']:g} s" if host["interval_seconds"] else "",
            )
            for host in told["hosts"]
        ]
        rows += [
            (host, text("not declared", "yellow"), "", "", "")
            for host in told["granted_but_not_declared"]
        ]
        table(("host", "grant", "methods", "paths", "one per"), rows, title="Hosts")
        table(
            ("tool", "state", "title"),
            [
                (tool["name"], "skipped" if tool["skipped"] else "offered", tool["title"] or "")
                for tool in told["tools"]
            ],
            title="Tools",
        )
        table(
            ("format", "document"),
            [(one["name"], one["description"]) for one in told["formats"]],
            title="Formats",
        )
        if told["secrets"]:
            table(
                ("secret", "state", "from"),
                [
                    (secret["name"], "set" if secret["set"] else "not set", secret["from"])
                    for secret in told["secrets"]
                ],
                title="Secrets",
            )
        table(
            ("limit", "value"),
            [(name, f"{value:,}") for name, value in told["limits"].items()],
            title="Limits",
        )
    if told["imports"] is not None:
        table(("import",), [(name,) for name in told["imports"]], title="Imports")
