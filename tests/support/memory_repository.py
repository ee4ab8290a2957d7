"""A registry's repository in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence

from carrel.errors import RegistryError
from carrel.oci.documents import OCI_MANIFEST, describe_manifest, fallback_tag, sha256
from carrel.oci.package import PluginPackage
from carrel.oci.repository import Descriptor, Document


class MemoryRepository:
    """A `RepositoryWriter`.

    Attributes:
        blobs: digest → content; tests write it directly.
        manifests: tag or digest → manifest.
        about: digest → its referrers.
        asked: every requested tag and digest.
    """

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, Document] = {}
        self.about: dict[str, list[Descriptor]] = {}
        self.asked: list[str] = []

    def manifest(self, reference: str) -> Document | None:
        self.asked.append(reference)
        return self.manifests.get(reference)

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        self.asked.append(descriptor.digest)
        data = self.blobs.get(descriptor.digest)
        if data is None or len(data) != descriptor.size or len(data) > max_bytes:
            raise RegistryError("the blob is not there, or larger than it may be")
        return data

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        return self.about.get(digest, [])

    def put_blob(self, data: bytes, media_type: str) -> Descriptor:
        self.blobs[sha256(data)] = data
        return Descriptor(media_type, sha256(data), len(data))

    def put_manifest(
        self, data: bytes, media_type: str, reference: str | None = None
    ) -> Descriptor:
        document = Document(media_type, data, sha256(data))
        self.manifests[document.digest] = document
        if reference is not None:
            self.manifests[reference] = document
        made = describe_manifest(data, media_type)
        if subject := json.loads(data).get("subject"):
            self.about.setdefault(subject["digest"], []).append(made)
        return made

    def publish(self, package: PluginPackage, tag: str) -> str:
        """Publishes a plugin with a tag; returns its manifest's digest."""
        for data, media_type in package.blobs:
            self.put_blob(data, media_type)
        return self.put_manifest(package.manifest, package.media_type, tag).digest

    def put_layers(
        self, *layers: tuple[bytes, str], tag: str = "1", config: str = "application/json"
    ) -> str:
        """Publishes a manifest with these layers; returns its digest."""
        return self.put_manifest(self._with_layers(layers, config), OCI_MANIFEST, tag).digest

    def attach(self, digest: str, data: bytes) -> str:
        """Publishes a referrer of a manifest, with one blob; returns its digest."""
        made = self.put_manifest(
            self._with_layers([(data, "application/octet-stream")], "application/json"),
            OCI_MANIFEST,
        )
        self.about.setdefault(digest, []).append(made)
        return made.digest

    def tag_signature(self, digest: str, data: bytes) -> None:
        """Publishes a signature of the older layout with its tag."""
        layers = [(data, "application/vnd.dev.cosign.simplesigning.v1+json")]
        manifest = self._with_layers(layers, "application/json")
        self.put_manifest(manifest, OCI_MANIFEST, f"{fallback_tag(digest)}.sig")

    def _with_layers(self, layers: Sequence[tuple[bytes, str]], config: str) -> bytes:
        listed = [self.put_blob(data, kind) for data, kind in layers]
        first = self.put_blob(b"{}", config)
        return json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": OCI_MANIFEST,
                "config": {"mediaType": config, "digest": first.digest, "size": first.size},
                "layers": [
                    {"mediaType": one.media_type, "digest": one.digest, "size": one.size}
                    for one in listed
                ],
            }
        ).encode()
