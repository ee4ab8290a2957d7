"""The interface of a repository of a registry, for reading and writing.

Three classes implement it: a repository behind a registry's HTTP API, the local store, and those of
tests. Implementations check content against the digest it was requested by; readers check the
content itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The OCI image specification's descriptor: content named by its digest.

    Attributes:
        media_type: the content's claimed type.
        digest: `sha256:` and 64 lower-case hex digits.
        size: bytes.
        artifact_type: of a manifest, if it has one.
        annotations: untrusted.
    """

    media_type: str
    digest: str
    size: int
    artifact_type: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A manifest's bytes.

    Attributes:
        digest: computed here from `data`, never taken from a header.
    """

    media_type: str
    data: bytes
    digest: str


class RepositoryReader(Protocol):
    """Reading a repository.

    Each method raises `carrel.errors.RegistryError` when the registry cannot be reached, refuses,
    or sends other content.
    """

    def manifest(self, reference: str) -> Document | None:
        """Returns the manifest or index of a tag or `sha256:…` digest; None when there is none."""

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """Returns a blob of the descriptor's size and digest, at most `max_bytes`."""

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        """Returns the manifests about `digest`: by the API, else by the fallback tag."""


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
