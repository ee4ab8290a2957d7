"""Entries of the lock: what was approved of a plugin, and how the plugin differs from it.

The lock has what an operator has to see before approving: which bytes, who signed them, which hosts
they may reach, and every word of them that a model will read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from carrel.errors import LockError
from carrel.fetch.policy.hosts import PUBLIC_WEB
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.manifests.tool_spec import ToolSpec

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class LockedTool:
    """A tool as approved.

    Attributes:
        title: the name for people; empty when there is none.
        description: what a model reads, whole.
        input_schema: hash of the schema.
        output_schema: hash of the schema.
        annotations: hash of the hints for clients.
    """

    title: str
    description: str
    input_schema: str
    output_schema: str
    annotations: str


@dataclass(frozen=True, slots=True)
class LockEntry:
    """A plugin as approved; every hash is `sha256:` and hex digits.

    Attributes:
        url: as the configuration has it.
        digest: of the OCI manifest; None for a plugin that comes from no registry.
        wasm: of the component or module.
        manifest: of the whole manifest.
        tool_set: of names, descriptions, schemas and annotations of all tools.
        hosts: those that the manifest declares.
        signer: who signed the digest; None when no signature was asked for.
        tools: the tools by name.
    """

    url: str
    digest: str | None
    wasm: str
    manifest: str
    tool_set: str
    hosts: tuple[str, ...] = ()
    signer: str | None = None
    tools: Mapping[str, LockedTool] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns the entry as the file has it."""
        return {
            "url": self.url,
            "digest": self.digest,
            "wasm": self.wasm,
            "manifest": self.manifest,
            "tool_set": self.tool_set,
            "hosts": list(self.hosts),
            "signer": self.signer,
            "tools": {
                name: {key: getattr(tool, key) for key in LockedTool.__slots__}
                for name, tool in self.tools.items()
            },
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> LockEntry:
        """Returns the entry of what `to_json` returned.

        Raises:
            KeyError, TypeError, ValueError: it is no entry.
        """
        entry = cls(
            **{
                **{key: raw[key] for key in cls.__slots__},
                "hosts": tuple(raw["hosts"]),
                "tools": {name: LockedTool(**tool) for name, tool in raw["tools"].items()},
            }
        )
        texts = [entry.url, entry.wasm, entry.manifest, entry.tool_set, *entry.hosts]
        texts += [value for value in (entry.digest, entry.signer) if value is not None]
        texts += [getattr(tool, key) for tool in entry.tools.values() for key in tool.__slots__]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("expected texts")
        return entry


def lock_entry(
    manifest: Manifest, *, url: str, digest: str | None, wasm: str, signer: str | None
) -> LockEntry:
    """Returns the entry to approve for a plugin.

    Args:
        manifest: the plugin's.
        url: as the configuration has it.
        digest: of the OCI manifest, `sha256:…`; None for a file.
        wasm: SHA-256 of the component, hex.
        signer: who signed the digest.
    """
    tools = {tool.name: _locked_tool(tool) for tool in manifest.tools}
    return LockEntry(
        url=url,
        digest=digest,
        wasm=f"sha256:{wasm}",
        manifest=_hash(manifest.raw),
        tool_set=_hash({name: _members(tool) for name, tool in tools.items()}),
        hosts=_requested_hosts(manifest),
        signer=signer,
        tools=tools,
    )


def _requested_hosts(manifest: Manifest) -> tuple[str, ...]:
    """Returns the hosts that a manifest requests; the public web is one of them."""
    hosts = {rule.host for rule in manifest.hosts}
    return tuple(sorted(hosts | {PUBLIC_WEB} if manifest.public_web else hosts))


def changes(before: LockEntry, after: LockEntry) -> list[str]:
    """Returns one line for each difference, for a person; empty when there is none."""
    lines = [
        _change(what, getattr(before, key), getattr(after, key))
        for key, what in (
            ("url", "address"), ("signer", "signer"), ("digest", "digest"),
            ("wasm", "component"),
        )
        if getattr(before, key) != getattr(after, key)
    ]  # fmt: skip
    lines += [f"host added: {host}" for host in after.hosts if host not in before.hosts]
    lines += [f"host removed: {host}" for host in before.hosts if host not in after.hosts]
    lines += [f"tool added: {name}" for name in after.tools if name not in before.tools]
    lines += [f"tool removed: {name}" for name in before.tools if name not in after.tools]
    for name, tool in after.tools.items():
        if name in before.tools:
            lines += _tool_changes(name, before.tools[name], tool)
    explained = any(line.startswith(("host ", "tool ")) for line in lines)
    if before.manifest != after.manifest and not explained:
        lines.append(_change("manifest", before.manifest, after.manifest))
    if before.tool_set != after.tool_set and not explained:
        lines.append(_change("tool set", before.tool_set, after.tool_set))
    return lines


def first_sight(entry: LockEntry) -> list[str]:
    """Returns what a person approves of a new plugin, line by line."""
    lines = [
        f"address: {entry.url}",
        f"signer: {entry.signer or 'none was asked for'}",
        *([f"digest: {entry.digest}"] if entry.digest else []),
        f"component: {entry.wasm}",
        *(f"host: {host}" for host in entry.hosts),
    ]
    lines += [f"tool {name}: {_shown(tool.description)}" for name, tool in entry.tools.items()]
    return [printable(line, 4000) for line in lines]


def require_locked(name: str, locked: LockEntry | None, found: LockEntry) -> None:
    """Refuses a plugin that differs from the approved one.

    Raises:
        LockError: with every difference and the command that approves it.
    """
    if locked is None:
        raise not_locked(name, found.url)
    if locked == found:
        return
    lines = changes(locked, found)
    raise LockError(
        f"{name}: not what was approved: {'; '.join(lines[:8])}"
        f"{'; …' if len(lines) > 8 else ''}; to approve it: carrel plugin lock {name}",
        plugin=name,
        changes=lines,
    )


def not_locked(name: str, url: str) -> LockError:
    """Returns the error of a plugin from a registry that is not approved."""
    return LockError(
        f"{name}: {url} is not in the lock; to review and approve it: carrel plugin lock {name}",
        plugin=name,
    )


def _locked_tool(tool: ToolSpec) -> LockedTool:
    hints = [tool.read_only, tool.destructive, tool.idempotent, tool.open_world]
    return LockedTool(
        title=tool.title or "",
        description=tool.description,
        input_schema=_hash(tool.input_schema),
        output_schema=_hash(tool.output_schema),
        annotations=_hash(hints),
    )


def _members(tool: LockedTool) -> dict[str, str]:
    return {key: getattr(tool, key) for key in LockedTool.__slots__}


def _tool_changes(name: str, before: LockedTool, after: LockedTool) -> list[str]:
    lines = [
        f"tool {name}: {key} changed from {_quoted(was)} to {_quoted(now)}"
        for key in ("title", "description")
        if (was := getattr(before, key)) != (now := getattr(after, key))
    ]
    lines += [
        f"tool {name}: its {key.replace('_', ' ')} changed"
        for key in ("input_schema", "output_schema", "annotations")
        if getattr(before, key) != getattr(after, key)
    ]
    return lines


def _change(what: str, before: str | None, after: str | None) -> str:
    return printable(f"{what}: {before or 'none'} → {after or 'none'}", 1000)


def _shown(text: str) -> str:
    text = printable(text, _SHOWN + 1)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _quoted(text: str) -> str:
    return json.dumps(_shown(text), ensure_ascii=False)


def _hash(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
