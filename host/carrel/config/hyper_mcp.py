"""Translates hyper-mcp's configuration files.

A file with hyper-mcp's keys only, and perhaps `limits`, is one of hyper-mcp's; a TOML file, which
is Carrel's own format, or one with `limits`, only if one of its keys is unknown to Carrel.
Supported keys are translated; each unsupported one becomes a warning with the key and the reason.
Where ignoring a key could restrict a plugin, the plugin's notes say so too. No grant becomes wider
than in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_TOP = frozenset({"auths", "dynamic_loading", "oci", "plugins"})
#: `limits` is Carrel's own; a file of hyper-mcp may have it in addition to `memory_limit`.
_ENTRY = frozenset({"url", "path", "description", "runtime_config", "limits"})
_SKIPS = ("skip_tools", "skip_prompts", "skip_resources", "skip_resource_templates")
_RUNTIME_CONFIG = frozenset(
    {
        *_SKIPS,
        "allowed_hosts",
        "allowed_paths",
        "allowed_secrets",
        "env_vars",
        "limits",
        "memory_limit",
    }
)
_FOREIGN = frozenset({"allowed_paths", "memory_limit"})
_OCI_UNUSED = ("fulcio_certs", "rekor_pub_keys", "use_sigstore_tuf_data")

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


@dataclass(slots=True)
class Translation:
    """A translated file.

    Attributes:
        document: the tables in Carrel's format.
        as_declared: plugins whose grant is every host that their manifest declares.
        notes: plugin → what the file requests for it and it does not get.
    """

    document: dict[str, Any] = field(default_factory=dict)
    as_declared: set[str] = field(default_factory=set)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _warnings: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Returns every warning, each beginning with its key."""
        return tuple(self._warnings)

    def warn(self, location: str, text: str, plugin: str | None = None) -> None:
        """Records an unsupported key."""
        self._warnings.append(f"{location}: {text}")
        if plugin is not None:
            self.notes[plugin] = (*self.notes.get(plugin, ()), f"{location}: {text}")


def translate(document: object, *, is_toml: bool) -> Translation | None:
    """Translates a document; returns None when it is no file of hyper-mcp's."""
    if not _is_hyper(document):
        return None
    if (is_toml or _has_own_key(document)) and not _has_foreign_key(document):
        return None
    assert isinstance(document, dict), "just looked at"
    translation = Translation()
    if document.get("auths"):
        translation.warn(
            "auths", "not used: registries' credentials come from Docker's configuration"
        )
    if document.get("dynamic_loading"):
        translation.warn("dynamic_loading", "not offered: clients cannot load plugins")
    _translate_oci(_present(document.get("oci")), translation)
    plugins = document["plugins"]
    if isinstance(plugins, dict):
        plugins = {name: _entry(str(name), entry, translation) for name, entry in plugins.items()}
    translation.document["plugins"] = plugins
    return translation


def _is_hyper(document: object) -> bool:
    if not isinstance(document, dict) or "plugins" not in document or set(document) - _TOP:
        return False
    plugins = document["plugins"]
    if not isinstance(plugins, dict):
        return set(document) > {"plugins"}
    for entry in plugins.values():
        if not isinstance(entry, dict) or set(entry) - _ENTRY:
            return False
        granted = entry.get("runtime_config") or {}
        if not isinstance(granted, dict) or set(granted) - _RUNTIME_CONFIG:
            return False
        hosts = granted.get("allowed_hosts") or []
        if isinstance(hosts, list) and any(isinstance(host, dict) for host in hosts):
            return False
    return True


def _has_own_key(document: object) -> bool:
    """Whether it has a key that only Carrel knows."""
    assert isinstance(document, dict), "just looked at"
    entries = document["plugins"].values() if isinstance(document["plugins"], dict) else ()
    return any(
        "limits" in entry or "limits" in _present(entry.get("runtime_config")) for entry in entries
    )


def _has_foreign_key(document: object) -> bool:
    """Whether it has a key that only hyper-mcp knows."""
    assert isinstance(document, dict), "just looked at"
    if len(document) > 1:
        return True
    entries = document["plugins"].values()
    return any(set(entry.get("runtime_config") or {}) & _FOREIGN for entry in entries)


def _present(value: object) -> dict[str, Any]:
    """Returns the members of a table that are not null."""
    if not isinstance(value, Mapping):
        return {}
    return {key: item for key, item in value.items() if item is not None}


def _translate_oci(oci: dict[str, Any], translation: Translation) -> None:
    """Translates signature settings; a required signature stays required."""
    for key in _OCI_UNUSED:
        if key in oci:
            translation.warn(
                f"oci.{key}", "not used, as by hyper-mcp itself; `trust` says whose count"
            )
    subject = oci.get("cert_email") or oci.get("cert_url")
    issuer = oci.get("cert_issuer")
    if oci.get("insecure_skip_signature", not (subject or issuer)):
        return
    translation.document["trust"] = {
        "identities": [
            {
                "subject": subject or ".*", "subject_is_pattern": True,
                "issuer": issuer or ".*", "issuer_is_pattern": True,
            }
        ]
    }  # fmt: skip


def _entry(name: str, entry: Mapping[str, Any], translation: Translation) -> dict[str, Any]:
    location = f"plugins.{name}"
    present = _present(entry)
    url = str(present.get("url") or present.get("path") or "")
    scheme = url.partition(":")[0].lower()
    if scheme in {"http", "https", "s3"}:
        translation.warn(f"{location}.url", f"not loaded: no component comes over {scheme}", name)
    granted = _present(present.pop("runtime_config", None))
    location += ".runtime_config"
    if granted.pop("allowed_paths", None):
        translation.warn(f"{location}.allowed_paths", "not offered: a plugin sees no files", name)
    for key in _SKIPS:
        if isinstance(granted.get(key), list):
            granted[key] = [_anchored(pattern) for pattern in granted[key]]
    if isinstance(granted.get("env_vars"), dict):
        granted["env_vars"] = {
            key: str(value) if isinstance(value, int | float) else value
            for key, value in granted["env_vars"].items()
        }
    _translate_memory(present, granted, location, name, translation)
    _translate_hosts(granted, location, name, translation)
    return {**present, "runtime_config": granted}


def _anchored(pattern: object) -> object:
    """Returns a pattern that matches the same whole names as in hyper-mcp.

    hyper-mcp anchors a pattern at both ends unless it has an anchor already: `^admin` alone means
    every name that begins so.
    """
    if not isinstance(pattern, str):
        return pattern
    pattern = pattern.replace(r"\z", r"\Z")
    if pattern.startswith(("^", r"\A")) or pattern.endswith(("$", r"\Z")):
        return f"(?s:.*?)(?:{pattern})(?s:.*)"
    return pattern


def _translate_memory(
    entry: dict[str, Any],
    granted: dict[str, Any],
    location: str,
    name: str,
    translation: Translation,
) -> None:
    """Translates `memory_limit`; one in `limits` takes precedence."""
    size = granted.pop("memory_limit", None)
    if size is None:
        return
    found = _SIZE.fullmatch(str(size).strip())
    if found is None:
        translation.warn(
            f"{location}.memory_limit", f"not a size, the default holds: {size!r:.40}", name
        )
        return
    number, unit, binary = found.groups()
    requested = int(float(number) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
    allowed = min(max(requested, 2**20), 2**32)
    if allowed != requested:
        translation.warn(f"{location}.memory_limit", f"limited to {allowed:,} bytes", name)
    above = entry if "limits" in entry else granted
    limits = above.setdefault("limits", {})
    if not isinstance(limits, dict):
        return  # reported where limits are read
    if "memory_bytes" in limits:
        translation.warn(
            f"{location}.memory_limit", "not used: `limits.memory_bytes` is set too", name
        )
    above["limits"] = {"memory_bytes": allowed, **limits}


def _translate_hosts(
    granted: dict[str, Any], location: str, name: str, translation: Translation
) -> None:
    """Translates globs: a name, `*.name` for one more label, `*` for what the manifest declares."""
    from carrel.fetch.policy.hosts import parse_host_entry

    hosts = granted.get("allowed_hosts")
    if not isinstance(hosts, list):
        return
    translated: list[object] = []
    for index, host in enumerate(hosts):
        at = f"{location}.allowed_hosts[{index}]"
        if host == "*":
            translation.as_declared.add(name)
            translation.warn(
                at,
                "'*' grants the hosts that a component's manifest declares; a module without one "
                "gets no host by it: name its hosts",
                name,
            )
            continue
        try:
            translated.append(parse_host_entry(host) if isinstance(host, str) else host)
        except ValueError as error:
            translation.warn(at, f"{host!r:.100} is not granted: {error}", name)
    if name in translation.as_declared:
        del granted["allowed_hosts"]
    else:
        granted["allowed_hosts"] = translated
