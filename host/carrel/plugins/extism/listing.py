"""Builds a manifest for a module from what it lists.

A module declares no hosts, no limits and no version. So the manifest has the hosts that the
operator grants, and all that clients will see is checked like a component's manifest: every fault
is reported before anything is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from carrel.errors import LoadError
from carrel.fetch.policy.hosts import parse_host_entry
from carrel.fetch.policy.rules import HostRule
from carrel.plugins.manifests.manifest import (
    Manifest,
    PromptArgument,
    PromptSpec,
    ResourceSpec,
    TemplateSpec,
)
from carrel.plugins.manifests.templates import template_fault
from carrel.plugins.manifests.tool_spec import ToolSpec
from carrel.plugins.schemas.schema import schema_faults

from .texts import (
    MAX_DESCRIPTION,
    NAME,
    description_of,
    hides,
    is_media_type,
    is_uri,
    title_of,
)

T = TypeVar("T")

MAX_ITEMS = 500
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
METHODS = ("GET", "HEAD", "POST")
#: Schemes that are the host's own, or that no plugin may serve.
RESERVED_SCHEMES = frozenset({"carrel", "research", "file", "ui"})

Listed = Mapping[str, Sequence[Any]]


def module_manifest(
    name: str,
    *,
    version: str,
    contract: str,
    description: str,
    hosts: Sequence[str],
    listed: Listed,
) -> Manifest:
    """Builds the manifest of a module.

    Args:
        name: the plugin's, which is also the prefix of its tools.
        version: used in place of a version.
        contract: which of hyper-mcp's interfaces it has.
        description: for people.
        hosts: the operator's grant.
        listed: what each of `tools`, `resources`, `resourceTemplates` and `prompts` lists.

    Raises:
        LoadError: with every fault.
    """
    faults: list[str] = []
    tools = _read("tools", listed, _tool, lambda tool: tool.name, faults)
    resources = _read("resources", listed, _resource, lambda resource: resource.uri, faults)
    templates = _read(
        "resourceTemplates", listed, _template, lambda template: template.uri_template, faults
    )
    prompts = _read("prompts", listed, _prompt, lambda prompt: prompt.name, faults)
    rules = []
    for host in hosts:
        try:
            rules.append(HostRule(parse_host_entry(host), frozenset(METHODS)))
        except ValueError as fault:
            faults.append(f"allowed_hosts: {fault}")
    if faults:
        raise LoadError(
            f"{name}: its lists or hosts are refused: {'; '.join(faults[:20])}", plugin=name
        )
    return Manifest(
        contract=contract,
        name=name,
        namespace=name,
        version=version,
        title=name,
        description=description,
        licence="unknown",
        homepage=None,
        hosts=tuple(rules),
        tools=tools,
        resources=resources,
        templates=templates,
        prompts=prompts,
        raw={
            "contract": contract,
            "name": name,
            "version": version,
            "description": description,
            "hosts": [{"host": rule.host, "methods": list(METHODS)} for rule in rules],
            "secrets": [],
            **{key: list(values) for key, values in listed.items()},
            "formats": [],
        },
    )


def _read(
    kind: str,
    listed: Listed,
    read: Callable[[dict[str, Any], list[str]], T],
    key: Callable[[T], str],
    faults: list[str],
) -> tuple[T, ...]:
    """Reads the items of one list; adds what is wrong with any of them to `faults`."""
    raw = listed.get(kind, ())
    if len(raw) > MAX_ITEMS:
        faults.append(f"{kind}: more than {MAX_ITEMS}")
        return ()
    items: dict[str, T] = {}
    for at, entry in enumerate(raw):
        if not isinstance(entry, dict):
            faults.append(f"{kind}[{at}] is not an object")
            continue
        found: list[str] = []
        item = read(entry, found)
        if key(item) in items:
            found.append("is listed twice")
        items[key(item)] = item
        faults += [f"{kind}.{str(entry.get('name'))[:80]!r} {fault}" for fault in found]
    return tuple(items.values())


def _named(raw: dict[str, Any], faults: list[str]) -> tuple[str, str | None, str]:
    """Reads name, title and description, which all four kinds have."""
    name, description = raw.get("name"), description_of(raw)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        faults.append("has no name of letters, digits, dots, hyphens and underscores")
    if len(description) > MAX_DESCRIPTION:
        faults.append(f"has a description of more than {MAX_DESCRIPTION} characters")
    if hides(description) or hides(str(raw.get("title") or "")):
        faults.append("has a title or description with control or invisible characters")
    return str(name), title_of(raw), description


def _tool(raw: dict[str, Any], faults: list[str]) -> ToolSpec:
    name, title, description = _named(raw, faults)
    schemas: dict[str, dict[str, Any] | None] = {}
    for key, needed in (("inputSchema", True), ("outputSchema", False)):
        schema = raw.get(key)
        schemas[key] = schema if isinstance(schema, dict) else None
        if isinstance(schema, dict):
            faults += [f"{key} {fault}" for fault in schema_faults(schema)]
            if schema.get("type") != "object":
                faults.append(f"{key} is not that of an object")
            if _words_hide(schema):
                faults.append(f"{key} holds control or invisible characters")
        elif needed or schema is not None:
            faults.append(f"{key} is not a JSON Schema")
    hints = raw.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    return ToolSpec(
        name=name,
        title=title or title_of(hints),
        description=description,
        input_schema=schemas["inputSchema"] or {"type": "object"},
        output_schema=schemas["outputSchema"],
        read_only=hints.get("readOnlyHint") is True,
        destructive=hints.get("destructiveHint") is not False,
        idempotent=hints.get("idempotentHint") is True,
        # Always open-world: the results of a third-party module are external content.
        open_world=True,
        hints=_valid_hints(hints),
    )


def _valid_hints(raw: Mapping[str, Any]) -> dict[str, bool | str]:
    """Returns the annotations that MCP knows and that are of their type."""
    hints: dict[str, bool | str] = {
        key: raw[key] for key in _HINTS if isinstance(raw.get(key), bool)
    }
    title = title_of(dict(raw))
    if title is not None:
        hints["title"] = title
    return hints


def _words_hide(value: Any) -> bool:
    """Whether any text in a schema, keys included, has hidden characters."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str) and hides(node):
            return True
        if isinstance(node, dict):
            stack += [*node, *node.values()]
        elif isinstance(node, list):
            stack += node
    return False


def _resource(raw: dict[str, Any], faults: list[str]) -> ResourceSpec:
    name, title, description = _document(raw, faults)
    uri, size = raw.get("uri"), raw.get("size")
    if not is_uri(uri):
        faults.append("has no URI")
    elif scheme_of(uri) in RESERVED_SCHEMES:
        faults.append(f"has a URI of the scheme {scheme_of(uri)}, which is not a plugin's")
    return ResourceSpec(
        uri=str(uri),
        name=name,
        title=title,
        description=description,
        output_schema=None,
        mime_type=_mime_type(raw, faults),
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )


def _template(raw: dict[str, Any], faults: list[str]) -> TemplateSpec:
    name, title, description = _document(raw, faults)
    template = raw.get("uriTemplate")
    fault = template_fault(template) if isinstance(template, str) else "is missing"
    if fault is not None or not isinstance(template, str):
        faults.append(f"has a uriTemplate that {fault}")
    elif hides(template):
        faults.append("has a uriTemplate with invisible characters")
    elif scheme_of(template) in RESERVED_SCHEMES:
        faults.append(f"has a URI of the scheme {scheme_of(template)}, which is not a plugin's")
    return TemplateSpec(
        uri_template=str(template),
        name=name,
        title=title,
        description=description,
        mime_type=_mime_type(raw, faults),
    )


def _document(raw: dict[str, Any], faults: list[str]) -> tuple[str, str | None, str]:
    """As `_named`; the name of a document is for people, so it may hold spaces."""
    name = raw.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200 or hides(name):
        faults.append("has no name, or one that cannot be shown")
    _, title, description = _named({**raw, "name": "name"}, faults)
    return str(name), title, description


def _mime_type(raw: dict[str, Any], faults: list[str]) -> str | None:
    mime_type = raw.get("mimeType")
    if mime_type is None:
        return None
    if not is_media_type(mime_type):
        faults.append("has a mimeType that is none")
    return str(mime_type)


def scheme_of(uri: Any) -> str:
    """Returns the scheme of a URI or template, in lower case."""
    return str(uri).partition(":")[0].lower()


def _prompt(raw: dict[str, Any], faults: list[str]) -> PromptSpec:
    name, title, description = _named(raw, faults)
    arguments = []
    raw_arguments = raw.get("arguments") or []
    for at, entry in enumerate(raw_arguments if isinstance(raw_arguments, list) else [None]):
        if not isinstance(entry, dict):
            faults.append(f"arguments[{at}] is not an object")
            continue
        inner: list[str] = []
        argument, words, about = _named(entry, inner)
        faults += [f"arguments[{at}] {fault}" for fault in inner]
        arguments.append(PromptArgument(argument, words, about, entry.get("required") is True))
    return PromptSpec(name, title, description, tuple(arguments))
