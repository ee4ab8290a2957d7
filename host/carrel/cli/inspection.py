"""Compares what a plugin requests with what it is granted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.credentials import find_secret, variable
from carrel.errors import CarrelError
from carrel.fetch.identity import SOFTWARE
from carrel.plugins.grants.review import in_vain, limits_of, review

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.state import PluginState


def inspect_plugin(config: Config, entry: PluginConfig, state: PluginState) -> dict[str, Any]:
    """Returns what is known about a plugin, without secrets; for a broken one, less."""
    inspection: dict[str, Any] = {
        "name": entry.name,
        "url": entry.url,
        "enabled": entry.enabled,
        "digest": f"sha256:{state.digest}" if state.digest else None,
        "locked": state.locked,
        "notes": [*state.notes],
    }
    if state.error is not None:
        inspection["error"] = state.error.to_dict()
    inspection["imports"] = _imports(config, entry)
    manifest = state.manifest
    if manifest is None:
        return inspection
    items = review(config, entry, manifest)
    inspection |= {
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
        "formats": [
            {
                "name": document_format.name,
                "description": document_format.description,
                "bytes": document_format.takes_bytes,
                "media_types": list(document_format.media_types),
            }
            for document_format in manifest.formats
        ],
    }
    return inspection


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
    secret: dict[str, Any] = {"name": name, "granted": entry.grants_secret(name)}
    found = find_secret(entry.name, name, builtin=entry.is_builtin)
    if name == "contact":
        is_set = config.fetch.contact is not None or found is not None
        return {**secret, "set": is_set, "from": "CARREL_CONTACT"}
    if name == SOFTWARE:
        return {**secret, "set": True, "from": f"plugins.{entry.name}.settings.{SOFTWARE}"}
    return {**secret, "set": found is not None, "from": variable(entry.name, name)}


def _imports(config: Config, entry: PluginConfig) -> list[str] | None:
    from carrel.plugins.approval.pinning import local_bytes
    from carrel.runtime.imported_names import imported_names

    try:
        return imported_names(local_bytes(config, entry))
    except CarrelError:
        return None  # the state's error gives the reason


def show_inspection(inspection: dict[str, Any], file: Path, *, is_configured: bool) -> None:
    """Prints an inspection for a person.

    Args:
        inspection: from `inspect_plugin`.
        file: the configuration file, which may not exist.
        is_configured: whether the plugin has an entry in it.
    """
    from .render import facts, lines, table

    lock = {True: "as approved", False: "not what was approved"}.get(inspection["locked"], "")
    facts(
        [
            (key, value)
            for key, value in (
                *((key, inspection.get(key)) for key in ("url", "digest")),
                ("lock", lock),
                ("enabled", "" if inspection["enabled"] else "no"),
                *((key, inspection.get(key)) for key in _FACTS),
            )
            if value
        ],
        title=inspection["name"],
    )
    if "policy" in inspection:
        for kind, title in _TITLES.items():
            items = _merged(item for item in inspection["policy"] if item["kind"] == kind)
            if items:
                heading = "identifiers" if kind == "lookup" else kind
                table((heading, "asked", "granted", "refused"), map(_row, items), title=title)
        _show_values(inspection["secrets"])
        _show_changes(inspection, file, is_configured=is_configured)
        if inspection["in_vain"]:
            lines(inspection["in_vain"], title="Granted and not asked for")
        if inspection["formats"]:
            formats = [
                (
                    document_format["name"],
                    "bytes" if document_format["bytes"] else "text",
                    document_format["description"],
                )
                for document_format in inspection["formats"]
            ]
            table(("format", "takes", "document"), formats, title="Formats")
    if inspection["notes"]:
        lines(inspection["notes"], title="Notes")
    if inspection["imports"]:
        lines(inspection["imports"], title="Imports")


def _show_values(secrets: Sequence[Mapping[str, Any]]) -> None:
    """Shows which secrets have a value, and its source."""
    from .render import table

    if secrets:
        rows = [
            (secret["name"], "set" if secret["set"] else "not set", secret["from"])
            for secret in secrets
        ]
        table(("secret", "value", "from the variable"), rows, title="Values of secrets")


def _show_changes(inspection: Mapping[str, Any], file: Path, *, is_configured: bool) -> None:
    """Shows the changes to the configuration file that would grant what is refused."""
    from .remedy import change_inside
    from .render import lines

    # A complete grant needs no change, except to slow it down.
    refused = [item for item in inspection["policy"] if item["refused"] and item["grant"]]
    paces = [item for item in inspection["policy"] if item["kind"] == "pace" and item["grant"]]
    entry = (
        [] if is_configured else [f'set plugins.{inspection["name"]}.url = "{inspection["url"]}"']
    )
    if refused:
        changes = [*entry, *(change_inside(item["grant"]) for item in refused)]
        lines(dict.fromkeys(changes), title=f"To grant what is refused, change {file}")
    if paces and is_configured:
        changes = [change_inside(item["grant"]) for item in paces]
        lines(dict.fromkeys(changes), title=f"To change a pace, change {file}")


_FACTS = ("plugin", "version", "contract", "licence", "homepage", "description")
_TITLES = {
    "host": "Hosts",
    "pace": "Pace",
    "secret": "Secrets",
    "tool": "Tools",
    "lookup": "Lookup",
    "role": "Roles",
    "resource": "Resources",
    "prompt": "Prompts",
    "limit": "Limits",
}


#: A request in `review`: `GET, POST /a, /b`, or for a part of a wildcard `host: GET /a`.
_REQUESTS = re.compile(r"(?P<host>\S+: )?(?P<methods>[A-Z]+(?:, [A-Z]+)*) (?P<paths>.+)")


def _merged(items: Iterable[Mapping[str, str]]) -> list[dict[str, str]]:
    """Returns the items with equal names merged, because a manifest may have several rules for a
    host.
    """
    found: dict[str, list[Mapping[str, str]]] = {}
    for item in items:
        found.setdefault(item["name"], []).append(item)
    merged = []
    for name, same in found.items():
        cells = {key: _joined([rule[key] for rule in same]) for key in ("asked", "granted")}
        refused = "; ".join(dict.fromkeys(rule["refused"] for rule in same if rule["refused"]))
        merged.append({**cells, "kind": same[0]["kind"], "name": name, "refused": refused})
    return merged


def _joined(rules: Sequence[str]) -> str:
    """Returns the union of several rules; paths below another path are omitted."""
    paths: dict[str, list[str]] = {}
    unmatched: list[str] = []
    for piece in dict.fromkeys(part for rule in rules for part in rule.split("; ") if part):
        found = _REQUESTS.fullmatch(piece)
        if found is None:
            unmatched.append(piece)
        else:
            key = f"{found['host'] or ''}{found['methods']}"
            paths.setdefault(key, []).extend(found["paths"].split(", "))
    requests = [f"{key} {', '.join(_widest(values))}" for key, values in paths.items()]
    return "; ".join([*requests, *unmatched])


def _widest(paths: Sequence[str]) -> list[str]:
    if "every path" in paths:
        return ["every path"]
    return [
        path
        for path in dict.fromkeys(paths)
        if not any(path.startswith(f"{parent.rstrip('/')}/") for parent in paths if parent != path)
    ]


def _row(item: Mapping[str, str]) -> list[Any]:
    """Returns name, requested, granted, refused; the last is empty if everything is refused."""
    from .render import text

    requested, granted, refused = (item[key] for key in ("asked", "granted", "refused"))
    if item["kind"] == "lookup":
        requested, granted = (word and "looked up" for word in (requested, granted))
    if granted:
        return [item["name"], requested, text(granted, "green"), text(refused, "red")]
    none = refused if refused == "hidden" else "nothing"
    return [item["name"], requested, text(none, "red"), ""]
