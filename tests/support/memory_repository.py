"""A repository in memory, for what needs no registry: thousands of changed signatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from carrel.errors import RegistryError
from carrel.oci.repository import Descriptor, Document
from support.http_repository import MANIFEST, digest_of


@dataclass
class MemoryRepository:
    """Holds manifests by tag and digest, blobs by digest, and lists of referrers."""

    manifests: dict[str, bytes] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    lists: dict[str, list[Descriptor]] = field(default_factory=dict)

    def manifest(self, reference: str) -> Document | None:
        data = self.manifests.get(reference)
        return None if data is None else Document(MANIFEST, data, digest_of(data))

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        data = self.blobs.get(descriptor.digest)
        if data is None or len(data) != descriptor.size or len(data) > max_bytes:
            raise RegistryError("the blob is not there, or larger than it may be")
        return data

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        return self.lists.get(digest, [])

    def put_blob(self, data: bytes, media_type: str) -> Descriptor:
        digest = digest_of(data)
        self.blobs[digest] = data
        return Descriptor(media_type, digest, len(data))

    def put_manifest(
        self, data: bytes, media_type: str, reference: str | None = None
    ) -> Descriptor:
        import json

        digest = digest_of(data)
        self.manifests[digest] = data
        if reference:
            self.manifests[reference] = data
        descriptor = Descriptor(media_type, digest, len(data))
        subject = json.loads(data).get("subject")
        if subject:
            self.lists.setdefault(subject["digest"], []).append(descriptor)
        return descriptor
