"""A plugin's manifest, checked.

`describe()` returns JSON from outside. `parse_manifest` turns it into values that the rest of the
host can rely on, or reports every fault at once. The shape is
`contract/v1/manifest.schema.json`; what a schema cannot say is checked here: unique names, bounded
schemas, text that hides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from carrel.contract import contract_file
from carrel.errors import LoadError
from carrel.fetch.policy.manifest import read_policy
from carrel.fetch.policy.rules import HostRule
from carrel.plugins.schemas.schema import compile_schema, schema_faults, validation_faults
from carrel.runtime.contract_version import BYTES_SINCE, require_contract
from carrel.text.json_text import decode_object
from carrel.text.printable import printable

from .naming import client_names
from .tool_spec import ToolSpec

#: Manifests are read into memory and shown; this is far above any real one.
MAX_BYTES = 1024 * 1024

#: Reserved names of tools that only the host calls, see `contract/v1/manifest.schema.json`.
RESERVED_TOOLS = frozenset({"lookup", "resource"})

#: Roles that a manifest may declare, in the order of `contract/v1/roles.schema.json`.
ROLES: Final = ("search", "open_copies", "full_text", "references", "citations")

#: Schemes that plugins' resources may not have: the host's own, and those with another meaning.
RESERVED_SCHEMES = frozenset({"carrel", "research", "http", "https", "file", "ui"})

#: Lists whose items have a name, texts for people, and schemas.
_NAMED = ("tools", "formats", "resources")


@dataclass(frozen=True, slots=True)
class Format:
    """A document format that the plugin reads.

    Attributes:
        takes_bytes: whether its documents are bytes, for `parse-bytes`, and not text, for `parse`.
    """

    name: str
    description: str
    media_types: tuple[str, ...]
    output_schema: dict[str, Any]
    takes_bytes: bool = False


@dataclass(frozen=True, slots=True)
class LookupSpec:
    """The arguments of the reserved tool `lookup`.

    Attributes:
        identifiers: kinds of identifier, the preferred one first.
        batch: the most identifiers of one call.
    """

    identifiers: tuple[str, ...]
    batch: int = 1


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """A role that the plugin takes for tools that ask several sources at once.

    Attributes:
        name: one of `ROLES`.
        identifiers: kinds of identifier, the preferred one first; none for `search`.
        batch: the most identifiers of one call, for `open_copies`.
        most: the most works of one answer; None where the contract sets no number.
        filters: those that `search` applies itself.
    """

    name: str
    identifiers: tuple[str, ...] = ()
    batch: int = 1
    most: int | None = None
    filters: tuple[str, ...] = ()

    @property
    def tool(self) -> str:
        """The reserved tool that the host calls."""
        return f"role:{self.name}"


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A document that clients can read by URI.

    Attributes:
        output_schema: of its JSON; None for a document of an Extism module, which may be anything.
        mime_type: what it is; None when a module does not say.
        size: in bytes, when a module says.
    """

    uri: str
    name: str
    title: str | None
    description: str
    output_schema: dict[str, Any] | None
    mime_type: str | None = "application/json"
    size: int | None = None


@dataclass(frozen=True, slots=True)
class TemplateSpec:
    """A family of documents that clients can read by URI; only Extism modules have them."""

    uri_template: str
    name: str
    title: str | None
    description: str
    mime_type: str | None


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """An argument of a prompt."""

    name: str
    title: str | None
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt; only Extism modules have them. Clients see it under `<namespace>_<name>`."""

    name: str
    title: str | None
    description: str
    arguments: tuple[PromptArgument, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A plugin's manifest.

    Attributes:
        contract: the contract version it was built against.
        namespace: prefix of its tools' names.
        hosts: the only hosts it may reach, with pace, concurrency and caching for each.
        public_web: whether it asks for every host with a public name.
        secrets: names of the values that the host attaches for it.
        limits: limits that replace defaults, by the names of `Limits`.
        lookup: the identifiers that it resolves to records; None when it resolves none.
        assigns: kinds of identifier that its source assigns: one that it does not know does not
            exist.
        roles: what it does for tools that ask several sources at once, by name.
        resources: documents that it offers by URI.
        templates: families of documents that it offers by URI.
        prompts: prompts that it offers.
        raw: the whole manifest as JSON, validated.
    """

    contract: str
    name: str
    namespace: str
    version: str
    title: str
    description: str
    licence: str
    homepage: str | None
    hosts: tuple[HostRule, ...] = ()
    public_web: bool = False
    secrets: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    tools: tuple[ToolSpec, ...] = ()
    formats: tuple[Format, ...] = ()
    lookup: LookupSpec | None = None
    assigns: tuple[str, ...] = ()
    roles: Mapping[str, RoleSpec] = field(default_factory=dict)
    resources: tuple[ResourceSpec, ...] = ()
    templates: tuple[TemplateSpec, ...] = ()
    prompts: tuple[PromptSpec, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def tool(self, name: str) -> ToolSpec | None:
        """Returns the tool of that name, without namespace."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def client_name(self, tool: str) -> str:
        """Returns the name of a tool for clients."""
        return client_names(self.namespace, tuple(spec.name for spec in self.tools))[tool]

    def renamed(self) -> dict[str, str]:
        """Returns tools whose name for clients is not namespace and own name, with that name."""
        names = client_names(self.namespace, tuple(spec.name for spec in self.tools))
        return {own: name for own, name in names.items() if name != f"{self.namespace}_{own}"}

    def format(self, name: str) -> Format | None:
        """Returns the format of that name."""
        return next((declared for declared in self.formats if declared.name == name), None)

    @property
    def reads_bytes(self) -> bool:
        """Whether a format's documents are bytes."""
        return any(declared.takes_bytes for declared in self.formats)

    def resource(self, uri: str) -> ResourceSpec | None:
        """Returns the resource at that URI."""
        return next((resource for resource in self.resources if resource.uri == uri), None)


def parse_manifest(text: str, plugin: str, *, trusted: bool = False) -> Manifest:
    """Parses and checks a manifest.

    Args:
        text: what `describe()` returned.
        plugin: the plugin's name in errors until its manifest is known.
        trusted: leave out the checks; for built-in plugins, whose bytes are pinned and whose
            manifests the project's own tests check. Checking ten of them takes longer than the
            rest of the first listing.

    Raises:
        LoadError: with every fault.
    """
    if len(text) > MAX_BYTES:
        raise LoadError(f"{plugin}: the manifest is over {MAX_BYTES} bytes", plugin=plugin)
    raw = decode_object(text, plugin=plugin, tool="describe")
    # First, because a member that a later version added is an unknown key to this one.
    if isinstance(raw.get("contract"), str):
        require_contract(raw["contract"], plugin)
    if trusted:
        return _manifest(raw)
    schema = json.loads(contract_file("manifest.schema.json").read_text("utf-8"))
    faults = validation_faults(compile_schema(schema), raw)
    if not faults:
        faults = _semantic_faults(raw)
    if faults:
        raise LoadError(f"{plugin}: the manifest is refused: {'; '.join(faults)}", plugin=plugin)
    return _manifest(raw)


def _semantic_faults(raw: dict[str, Any]) -> list[str]:
    faults = []
    for kind in _NAMED:
        items = raw.get(kind, [])
        names = [item["name"] for item in items]
        faults += [
            f"{kind}: {name!r} twice" for name in sorted(set(names)) if names.count(name) > 1
        ]
        for item in items:
            for key in ("input_schema", "output_schema"):
                found = schema_faults(item[key]) if key in item else []
                faults += [f"{kind}.{item['name']}.{key} {fault}" for fault in found]
    faults += [
        f"tools: {item['name']!r} is a name that the host keeps for itself"
        for item in raw["tools"]
        if item["name"] in RESERVED_TOOLS
    ]
    uris = [item["uri"] for item in raw.get("resources", [])]
    faults += [f"resources: {uri!r} twice" for uri in sorted(set(uris)) if uris.count(uri) > 1]
    faults += [
        f"resources: {uri!r} has a scheme that is not a plugin's"
        for uri in uris
        if uri.partition(":")[0] in RESERVED_SCHEMES
    ]
    if require_contract(raw["contract"], raw["name"]) < BYTES_SINCE:
        faults += [
            f"formats.{item['name']}: bytes need contract 1.1, but found {raw['contract']}"
            for item in raw["formats"]
            if item.get("bytes")
        ]
        faults += [
            f"secrets.{item['name']}: required needs contract 1.1, but found {raw['contract']}"
            for item in raw.get("secrets", ())
            if "required" in item
        ]
        faults += [
            f"{member} need contract 1.1, but found {raw['contract']}"
            for member in ("roles", "assigns")
            if member in raw
        ]
        if "public_web" in raw:
            faults.append(f"public_web needs contract 1.1, but found {raw['contract']}")
    resolved = raw.get("lookup", {}).get("identifiers", ())
    faults += [
        f"assigns: {kind!r} is not among lookup.identifiers"
        for kind in raw.get("assigns", ())
        if kind not in resolved
    ]
    for path, words in _shown(raw):
        if any(_hides(character) for character in set(words)):
            faults.append(f"{path} holds control or invisible characters")
    try:
        read_policy(raw, granted=None, provided={})
    except ValueError as error:
        faults.append(str(error))
    return faults


def _hides(character: str) -> bool:
    return character != "\n" and printable(character) != character


def _shown(raw: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns every text that a person or a model will read, with its path."""
    texts: list[tuple[str, str]] = [
        (key, raw[key]) for key in ("title", "description", "licence") if key in raw
    ]
    for kind in _NAMED:
        for item in raw.get(kind, []):
            texts += [
                (f"{kind}.{item['name']}.{key}", item[key])
                for key in ("title", "description")
                if key in item
            ]
            texts += [
                (f"{kind}.{item['name']}.{key}", json.dumps(item[key], ensure_ascii=False))
                for key in ("input_schema", "output_schema")
                if key in item
            ]
    return texts


def _manifest(raw: dict[str, Any]) -> Manifest:
    return Manifest(
        contract=raw["contract"],
        name=raw["name"],
        namespace=raw.get("namespace", raw["name"]),
        version=raw["version"],
        title=raw.get("title", raw["name"]),
        description=raw["description"],
        licence=raw["licence"],
        homepage=raw.get("homepage"),
        hosts=read_policy(raw, granted=None, provided={})[0].rules,
        public_web="public_web" in raw,
        secrets=tuple(secret["name"] for secret in raw.get("secrets", [])),
        limits=raw.get("limits", {}),
        tools=tuple(_tool(tool) for tool in raw["tools"]),
        formats=tuple(
            Format(
                name=document_format["name"],
                description=document_format["description"],
                media_types=tuple(document_format.get("media_types", ())),
                output_schema=document_format["output_schema"],
                takes_bytes=document_format.get("bytes", False),
            )
            for document_format in raw["formats"]
        ),
        lookup=_lookup(raw.get("lookup")),
        assigns=tuple(raw.get("assigns", ())),
        roles={name: _role(name, role) for name, role in raw.get("roles", {}).items()},
        resources=tuple(
            ResourceSpec(
                uri=resource["uri"],
                name=resource["name"],
                title=resource.get("title"),
                description=resource["description"],
                output_schema=resource["output_schema"],
            )
            for resource in raw.get("resources", [])
        ),
        raw=raw,
    )


def _tool(raw: dict[str, Any]) -> ToolSpec:
    hints = raw["annotations"]
    return ToolSpec(
        name=raw["name"],
        title=raw.get("title"),
        description=raw["description"],
        input_schema=raw["input_schema"],
        output_schema=raw["output_schema"],
        read_only=hints["read_only"],
        destructive=hints["destructive"],
        idempotent=hints["idempotent"],
        open_world=hints["open_world"],
    )


def _lookup(raw: dict[str, Any] | None) -> LookupSpec | None:
    if raw is None:
        return None
    return LookupSpec(identifiers=tuple(raw["identifiers"]), batch=raw.get("batch", 1))


def _role(name: str, raw: Mapping[str, Any]) -> RoleSpec:
    return RoleSpec(
        name=name,
        identifiers=tuple(raw.get("identifiers", ())),
        batch=raw.get("batch", 1),
        most=raw.get("max"),
        filters=tuple(raw.get("filters", ())),
    )
