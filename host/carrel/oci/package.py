"""Packages a plugin in the CNCF's wasm layout, with exactly one layer.

The plugin's own manifest goes into an annotation, because clients that know the layout refuse a
second layer. Equal input gives equal bytes, and so an equal digest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from carrel.errors import ConfigError

from .documents import OCI_MANIFEST, descriptor_json, encode_json, sha256
from .repository import Descriptor

CONFIG_TYPE = "application/vnd.wasm.config.v0+json"
WASM_TYPE = "application/wasm"

#: Where the plugin's manifest is, as JSON.
MANIFEST_ANNOTATION = "io.github.carrel.plugin.manifest"

#: A manifest larger than this stays out of the annotations; registries cap theirs at 4 MiB.
_MAX_ANNOTATION = 512 * 2**10

_TITLE = "org.opencontainers.image."
_COMPONENT = b"\0asm\x0d\x00\x01\x00"


@dataclass(frozen=True, slots=True)
class PluginPackage:
    """The content to upload for one plugin.

    Attributes:
        blobs: content and media type, in the order of uploading; the component is the last.
        manifest: the manifest's bytes.
        media_type: the manifest's.
    """

    blobs: tuple[tuple[bytes, str], ...]
    manifest: bytes
    media_type: str = OCI_MANIFEST

    @property
    def digest(self) -> str:
        """The manifest's digest, which is signed and pinned."""
        return sha256(self.manifest)

    @property
    def wasm_digest(self) -> str:
        """The component's digest."""
        return sha256(self.blobs[-1][0])

    @property
    def size(self) -> int:
        """Bytes of the component."""
        return len(self.blobs[-1][0])


def write_plugin(
    wasm: bytes,
    *,
    name: str,
    plugin_manifest: Mapping[str, Any] | None = None,
    imports: Sequence[str] = (),
    exports: Sequence[str] = (),
    created: datetime | None = None,
) -> PluginPackage:
    """Packs a component or module.

    Args:
        wasm: its bytes.
        name: the file's name without `.wasm`, where no manifest says better.
        plugin_manifest: the plugin's; title, version, description, licence and homepage are taken
            from it.
        imports: the names that a component imports.
        exports: the names that it exports.
        created: None takes `SOURCE_DATE_EPOCH`, else now.
    """
    at = _rfc3339(created or _now())
    declared = plugin_manifest or {}
    layer = Descriptor(
        WASM_TYPE,
        sha256(wasm),
        len(wasm),
        annotations={f"{_TITLE}title": f"{declared.get('name', name)}.wasm"},
    )
    config: dict[str, Any] = {
        "created": at,
        "architecture": "wasm",
        "os": "wasip2" if wasm.startswith(_COMPONENT) else "wasip1",
        "layerDigests": [layer.digest],
    }
    if wasm.startswith(_COMPONENT):
        config["component"] = {"exports": list(exports), "imports": list(imports)}
    config_bytes = encode_json(config)
    manifest = {
        "schemaVersion": 2,
        "mediaType": OCI_MANIFEST,
        "config": descriptor_json(Descriptor(CONFIG_TYPE, sha256(config_bytes), len(config_bytes))),
        "layers": [descriptor_json(layer)],
        "annotations": _annotations(declared, name, at),
    }
    return PluginPackage(
        blobs=((config_bytes, CONFIG_TYPE), (wasm, WASM_TYPE)), manifest=encode_json(manifest)
    )


def _annotations(plugin_manifest: Mapping[str, Any], name: str, created: str) -> dict[str, str]:
    found = {
        "created": created,
        "title": plugin_manifest.get("title") or plugin_manifest.get("name") or name,
        "version": plugin_manifest.get("version"),
        "description": plugin_manifest.get("description"),
        "licenses": plugin_manifest.get("licence"),
        "url": plugin_manifest.get("homepage"),
        "source": plugin_manifest.get("homepage"),
    }
    annotations = {_TITLE + key: str(value) for key, value in found.items() if value}
    if plugin_manifest:
        text = encode_json(plugin_manifest).decode()
        if len(text) <= _MAX_ANNOTATION:
            annotations[MANIFEST_ANNOTATION] = text
    return annotations


#: Of the year 9999, the last that RFC 3339 can write.
_LAST_SECOND = 253_402_300_799


def _now() -> datetime:
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.now(UTC)
    if not (epoch.isascii() and epoch.isdigit()):
        raise ConfigError([f"SOURCE_DATE_EPOCH: expected whole seconds since 1970, got {epoch!r}"])
    try:
        return datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError):
        raise ConfigError(
            [f"SOURCE_DATE_EPOCH: {epoch:.40} is out of range; the last second is {_LAST_SECOND}"]
        ) from None


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
