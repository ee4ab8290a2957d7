"""Checks the arguments of the reserved tools `lookup`, `resource` and `role:NAME`, which only the
host calls.

A fixture with other arguments would test a call that no host makes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from carrel.contract import contract_file
from carrel.lookup.sources import LOOKUP
from carrel.plugins.roles import role_arguments_faults
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.records import IdFault, parse_id
from carrel.text.printable import printable
from carrel.tools.resources import RESOURCE

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import LookupSpec, Manifest, RoleSpec

#: The arguments of `resource`; those of `lookup` have a schema in the contract.
_READING = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {
        "uri": {"type": "string"},
        "secrets": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
    },
}


#: Filter of the role `search` → the arguments that need it.
_FILTERS = {"year": ("year_from", "year_to"), "open_access": ("open_access",)}


def reserved_tools(manifest: Manifest) -> list[str]:
    """Returns those reserved names that a host would call, by the plugin's manifest."""
    offered = {LOOKUP: manifest.lookup is not None, RESOURCE: bool(manifest.resources)}
    names = [name for name, is_offered in offered.items() if is_offered]
    return [*names, *(role.tool for role in manifest.roles.values())]


def reserved_faults(tool: str, arguments: Mapping[str, Any], manifest: Manifest) -> list[str]:
    """Returns the faults of the arguments of a reserved tool that the manifest offers."""
    role = manifest.roles.get(tool.removeprefix("role:"))
    if tool not in (LOOKUP, RESOURCE):
        assert role is not None, "offered"
        return role_arguments_faults(role.name, arguments) or _role_faults(role, arguments)
    faults = validation_faults(_validator(tool), arguments)
    if faults:
        return faults
    if tool == RESOURCE:
        return _reading_faults(arguments, manifest)
    assert manifest.lookup is not None, "offered"
    return _lookup_faults(arguments["ids"], manifest.lookup)


def _role_faults(role: RoleSpec, arguments: Mapping[str, Any]) -> list[str]:
    faults = []
    if role.most is not None and arguments["limit"] > role.most:
        faults.append(f"limit: {arguments['limit']}; the manifest's max is {role.most}")
    if role.name == "search":
        for filter_name, members in _FILTERS.items():
            faults += [
                f"{member}: the manifest's search has no filter {filter_name}"
                for member in members
                if member in arguments and filter_name not in role.filters
            ]
    if role.name == "open_copies":
        faults += _lookup_faults(arguments["ids"], role)
    elif "id" in arguments:
        faults += _id_faults("id", arguments["id"], role.identifiers)
    return faults


def _lookup_faults(ids: Sequence[Mapping[str, str]], spec: LookupSpec | RoleSpec) -> list[str]:
    faults = []
    if len(ids) > spec.batch:
        faults.append(f"ids: {len(ids)} identifiers; the manifest's batch is {spec.batch}")
    for number, identifier in enumerate(ids):
        faults += _id_faults(f"ids.{number}", identifier, spec.identifiers)
    return faults


def _id_faults(where: str, identifier: Mapping[str, str], kinds: Sequence[str]) -> list[str]:
    if identifier["type"] not in kinds:
        return [f"{where}: the manifest resolves no {identifier['type']}, only {', '.join(kinds)}"]
    try:
        canonical = parse_id(identifier["id"]).to_json()
    except IdFault as fault:
        return [f"{where}: {fault}"]
    if canonical != identifier:
        sent = json.dumps(canonical, ensure_ascii=False)
        return [f"{where}: a host sends {printable(sent, 300)}"]
    return []


def _reading_faults(arguments: Mapping[str, Any], manifest: Manifest) -> list[str]:
    faults = []
    uri = arguments["uri"]
    if manifest.resource(uri) is None:
        uris = ", ".join(resource.uri for resource in manifest.resources)
        faults.append(f"uri: the manifest has no resource {printable(uri, 200)!r}; it has: {uris}")
    for name in arguments.get("secrets", ()):
        if name not in manifest.secrets:
            names = ", ".join(manifest.secrets) or "none"
            faults.append(
                f"secrets: the manifest names no {printable(name, 100)!r}; it names: {names}"
            )
    return faults


@lru_cache(maxsize=2)
def _validator(tool: str) -> Any:
    if tool == RESOURCE:
        return compile_schema(_READING)
    definitions = json.loads(contract_file("lookup.schema.json").read_text("utf-8"))["$defs"]
    return compile_schema({**definitions["arguments"], "$defs": definitions})
