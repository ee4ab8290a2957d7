"""One repository of a registry, as those who read and write it see it.

Three things satisfy it: a repository behind a registry's HTTP API, the local store of what was
pulled, and what tests put in their place. Whatever comes out of it has been held against the digest
that it was asked for by; what it means is for the reader to check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What the OCI image specification calls a descriptor: content named by its digest.

    Attributes:
        media_type: what the content claims to be.
        digest: `sha256:` and 64 lower-case hex digits.
        size: bytes.
        artifact_type: of a manifest, where it is told.
        annotations: as given; data from outside.
    """

    media_type: str
    digest: str
    size: int
    artifact_type: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A manifest's bytes as they came.

    Attributes:
        digest: computed here from `data`, never taken from a header.
    """

    media_type: str
    data: bytes
    digest: str


class RepositoryReader(Protocol):
    """Reading a repository.

    Each method raises `carrel.errors.RegistryError` when the registry cannot be reached, refuses,
    or hands out something other than what was asked for.
    """

    def manifest(self, reference: str) -> Document | None:
        """The manifest or index of a tag or `sha256:…` digest; None when there is none."""

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """A blob of the descriptor's size and digest, at most `max_bytes`."""

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        """The manifests that say they are about `digest`: by the API, else by the fallback tag."""


class RepositoryWriter(RepositoryReader, Protocol):
    """Reading and writing a repository."""

    def put_blob(self, data: bytes, media_type: str) -> Descriptor:
        """Uploads a blob unless the repository has it."""

    def put_manifest(
        self, data: bytes, media_type: str, reference: str | None = None
    ) -> Descriptor:
        """Uploads a manifest under a tag, or under its own digest when `reference` is None.

        A manifest with a `subject` is also listed in the fallback tag where the registry has no
        referrers API.
        """
