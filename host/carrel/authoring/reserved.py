"""Checks the arguments of the reserved tools `lookup` and `resource`, which only the host calls.

A fixture with other arguments would test a call that no host makes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from carrel.contract import contract_file
from carrel.lookup.sources import LOOKUP
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.records import IdFault, parse_id
from carrel.text.printable import printable
from carrel.tools.resources import RESOURCE

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import LookupSpec, Manifest

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


def reserved_tools(manifest: Manifest) -> list[str]:
    """Returns those reserved names that a host would call, by the plugin's manifest."""
    offered = {LOOKUP: manifest.lookup is not None, RESOURCE: bool(manifest.resources)}
    return [name for name, is_offered in offered.items() if is_offered]


def reserved_faults(tool: str, arguments: Mapping[str, Any], manifest: Manifest) -> list[str]:
    """Returns the faults of the arguments of a reserved tool that the manifest offers."""
    faults = validation_faults(_validator(tool), arguments)
    if faults:
        return faults
    if tool == RESOURCE:
        return _reading_faults(arguments, manifest)
    assert manifest.lookup is not None, "offered"
    return _lookup_faults(arguments["ids"], manifest.lookup)


def _lookup_faults(ids: Sequence[Mapping[str, str]], spec: LookupSpec) -> list[str]:
    faults = []
    if len(ids) > spec.batch:
        faults.append(f"ids: {len(ids)} identifiers; the manifest's batch is {spec.batch}")
    for number, one in enumerate(ids):
        kind, text, known = one["type"], one["id"], ", ".join(spec.identifiers)
        if kind not in spec.identifiers:
            faults.append(f"ids.{number}: the manifest's lookup resolves no {kind}, only {known}")
            continue
        try:
            canonical = parse_id(text).to_json()
        except IdFault as fault:
            faults.append(f"ids.{number}: {fault}")
            continue
        if canonical != one:
            told = json.dumps(canonical, ensure_ascii=False)
            faults.append(f"ids.{number}: a host asks for {printable(told, 300)}")
    return faults


def _reading_faults(arguments: Mapping[str, Any], manifest: Manifest) -> list[str]:
    faults = []
    uri = arguments["uri"]
    if manifest.resource(uri) is None:
        known = ", ".join(one.uri for one in manifest.resources)
        faults.append(f"uri: the manifest has no resource {printable(uri, 200)!r}; it has: {known}")
    for name in arguments.get("secrets", ()):
        if name not in manifest.secrets:
            known = ", ".join(manifest.secrets) or "none"
            faults.append(
                f"secrets: the manifest names no {printable(name, 100)!r}; it names: {known}"
            )
    return faults


@lru_cache(maxsize=2)
def _validator(tool: str) -> Any:
    if tool == RESOURCE:
        return compile_schema(_READING)
    definitions = json.loads(contract_file("lookup.schema.json").read_text("utf-8"))["$defs"]
    return compile_schema({**definitions["arguments"], "$defs": definitions})
