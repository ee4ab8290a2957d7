"""Reads a plugin from a repository, in one of these layouts.

| layout | config | layers |
|---|---|---|
| `cncf` | `application/vnd.wasm.config.v0+json` | one wasm |
| `artifact` | anything else, usually the empty config | one wasm |
| `image` | an image's | tar, tar+gzip with `/plugin.wasm` or any `*.wasm` |
| `wassette` | the first's or an image's | one wasm and a YAML policy (reported, not used) |

An index leads to the manifest for wasm, else for linux/amd64, else to its only one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from carrel.errors import RegistryError
from carrel.text.printable import printable

from .documents import INDEXES, read_annotations, read_descriptor, read_descriptors, read_object
from .documents import sha256 as _digest_of
from .package import CONFIG_TYPE, MANIFEST_ANNOTATION, WASM_TYPE, PluginPackage, write_plugin
from .repository import Descriptor, Document, RepositoryReader
from .tarlayer import find_component

__all__ = ["Layout", "PluginArtifact", "PluginPackage", "read_plugin", "write_plugin"]

Layout = Literal["cncf", "artifact", "image", "wassette"]

WASM_TYPES = frozenset(
    {
        WASM_TYPE,
        "application/vnd.wasm.component.v1",
        "application/vnd.bytecodealliance.wasm.component.layer.v0+wasm",
        "application/vnd.wasm.content.layer.v1+wasm",
        "application/vnd.module.wasm.content.layer.v1+wasm",
    }
)
_POLICY_TYPES = frozenset(
    {
        "application/vnd.wasm.policy.v1+yaml",
        "application/vnd.wassette.policy+yaml",
        "application/x-yaml",
        "text/yaml",
    }
)
_TAR_TYPES = frozenset(
    {
        "application/vnd.oci.image.layer.v1.tar",
        "application/vnd.oci.image.layer.v1.tar+gzip",
        "application/vnd.docker.image.rootfs.diff.tar",
        "application/vnd.docker.image.rootfs.diff.tar.gzip",
    }
)

_MAX_LAYERS = 32
_MAX_PLATFORMS = 64
_MAGIC = b"\0asm"


@dataclass(frozen=True, slots=True)
class PluginArtifact:
    """A plugin from a registry.

    Attributes:
        wasm: the component's or module's bytes.
        wasm_digest: theirs.
        digest: of the requested index or manifest: the one that is signed.
        manifest_digest: of the manifest that was read; the same unless `digest` is an index.
        layout: of the package.
        annotations: the manifest's, and the index's where the manifest has none; data from outside.
        ignored: further content, in words.
    """

    wasm: bytes
    wasm_digest: str
    digest: str
    manifest_digest: str
    layout: Layout
    annotations: Mapping[str, str]
    ignored: tuple[str, ...] = ()

    @property
    def manifest_text(self) -> str | None:
        """The plugin's manifest in the publisher's annotation.

        It is a claim of the publisher; the component's own manifest is checked when it is loaded.
        """
        return self.annotations.get(MANIFEST_ANNOTATION)


def read_plugin(repository: RepositoryReader, digest: str, *, max_bytes: int) -> PluginArtifact:
    """Reads the plugin of a manifest or index in any of the layouts.

    Args:
        repository: where to read.
        digest: of the manifest or index.
        max_bytes: the largest component.

    Raises:
        RegistryError: it does not exist, is no plugin, or is too large.
    """
    top = _document(repository, digest)
    document, outer = top, {}
    if top.media_type in INDEXES:
        body = read_object(top.data, f"the index {digest}")
        outer = read_annotations(body.get("annotations"))
        document = _document(repository, _choose_platform(body, digest).digest)
        if document.media_type in INDEXES:
            raise RegistryError(f"the index {digest} leads to another index, which is not followed")
    what = f"the manifest {document.digest}"
    body = read_object(document.data, what)
    config = read_descriptor(body.get("config"), what)
    layers = read_descriptors(body.get("layers"), what, at_most=_MAX_LAYERS)
    wasm, layout = _read_layers(repository, config, layers, what, max_bytes)
    if not wasm.startswith(_MAGIC):
        raise RegistryError(f"{what} declares a WebAssembly layer whose content is not WebAssembly")
    return PluginArtifact(
        wasm=wasm,
        wasm_digest=_digest_of(wasm),
        digest=top.digest,
        manifest_digest=document.digest,
        layout=layout,
        annotations={**outer, **read_annotations(body.get("annotations"))},
        ignored=tuple(
            f"a layer of type {printable(layer.media_type, 80)}"
            for layer in layers
            if not _is_wasm(layer) and layer.media_type not in _TAR_TYPES
        ),
    )


def _document(repository: RepositoryReader, digest: str) -> Document:
    document = repository.manifest(digest)
    if document is None:
        raise RegistryError(f"the repository has no manifest {digest}")
    if document.digest != digest:
        raise RegistryError(f"{document.digest} was handed out in place of {digest}")
    return document


def _choose_platform(body: Mapping[str, Any], digest: str) -> Descriptor:
    what = f"the index {digest}"
    listed = body.get("manifests")
    descriptors = read_descriptors(listed, what, at_most=_MAX_PLATFORMS)
    assert isinstance(listed, list), "it was read as one"
    platforms = [_platform(entry) for entry in listed]
    for preferred in (("", "wasm"), ("linux", "amd64")):
        for descriptor, (system, machine) in zip(descriptors, platforms, strict=True):
            if machine == preferred[1] and preferred[0] in {"", system}:
                return descriptor
    # Attestations are listed under an unknown platform.
    real = [
        descriptor
        for descriptor, platform in zip(descriptors, platforms, strict=True)
        if platform != ("unknown", "unknown")
    ]
    if len(real) == 1:
        return real[0]
    raise RegistryError(f"{what} has no manifest for wasm, nor one for linux/amd64")


def _platform(value: Mapping[str, Any]) -> tuple[str, str]:
    platform = value.get("platform")
    if not isinstance(platform, dict):
        return ("", "")
    return (str(platform.get("os", "")), str(platform.get("architecture", "")))


def _is_wasm(layer: Descriptor) -> bool:
    if layer.media_type in WASM_TYPES:
        return True
    title = layer.annotations.get("org.opencontainers.image.title", "")
    return layer.media_type not in _TAR_TYPES | _POLICY_TYPES and title.endswith(".wasm")


def _read_layers(
    repository: RepositoryReader,
    config: Descriptor,
    layers: Sequence[Descriptor],
    what: str,
    max_bytes: int,
) -> tuple[bytes, Layout]:
    components = [layer for layer in layers if _is_wasm(layer)]
    if len(components) > 1:
        raise RegistryError(f"{what} has {len(components)} components; one is read")
    if components:
        if any(layer.media_type in _POLICY_TYPES for layer in layers):
            layout: Layout = "wassette"
        else:
            layout = "cncf" if config.media_type == CONFIG_TYPE else "artifact"
        return repository.blob(components[0], max_bytes=max_bytes), layout
    archives = [layer for layer in layers if layer.media_type in _TAR_TYPES]
    if archives:
        if sum(layer.size for layer in archives) > max_bytes + 2**20:
            raise RegistryError(f"{what} has layers of more than {max_bytes} bytes in all")
        contents = [repository.blob(archive, max_bytes=max_bytes + 2**20) for archive in archives]
        wasm = find_component(contents, what, max_bytes=max_bytes)
        if wasm is not None:
            return wasm, "image"
    types = printable(", ".join(sorted({layer.media_type for layer in layers})), 200)
    raise RegistryError(
        f"{what} holds no plugin: expected a layer of type {WASM_TYPE}, or an archive with "
        f"plugin.wasm, but found {types or 'no layers'}"
    )
