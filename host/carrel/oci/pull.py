"""Pulls a plugin into the store, with everything that may be its signature.

The tag's name is written last, so an interrupted pull leaves the tag as it was, with everything it
needs. Content in the store is not downloaded again, and a partial download is resumed if the
repository was opened with the store's `partial_blobs`.
"""

from __future__ import annotations

from collections.abc import Callable

from carrel.errors import RegistryError

from .documents import INDEXES, MANIFESTS, fallback_tag, read_descriptors, read_object
from .layout import PluginArtifact, read_plugin
from .reference import ImageReference
from .repository import Descriptor, Document, RepositoryReader
from .store import PluginStore, StoredRepository

#: Called with bytes so far, bytes in all if known, and the current step.
ProgressHandler = Callable[[float, float | None, str], None]

#: Limits of what is stored about one plugin: manifests, and bytes of one blob and of all.
MAX_REFERRERS = 64
MAX_SIGNATURE_BYTES = 4 * 2**20
MAX_SIGNATURES_BYTES = 32 * 2**20
_MAX_LAYERS = 64


def pull(
    reference: ImageReference,
    repository: RepositoryReader,
    store: PluginStore,
    *,
    max_bytes: int,
    on_progress: ProgressHandler | None = None,
) -> PluginArtifact:
    """Pulls a plugin with its signatures into the store.

    Args:
        reference: which plugin.
        repository: of the plugin.
        store: to pull into.
        max_bytes: the largest component.
        on_progress: called with the current step.

    Raises:
        RegistryError: the registry has no such plugin, or sends other content.
        StorageError: the store's disk refuses.
    """
    report = on_progress or (lambda _done, _total, _message: None)
    store.prune_partial_blobs()
    report(0, None, "manifest")
    document = repository.manifest(reference.wanted)
    if document is None:
        kind = "manifest" if reference.digest else "tag"
        raise RegistryError(
            f"{reference.host}/{reference.repository} has no {kind} {reference.wanted}; check the "
            f"name and the {'digest' if reference.digest else 'tag'}"
        )
    if reference.digest and document.digest != reference.digest:
        raise RegistryError(f"{document.digest} was handed out in place of {reference.digest}")
    stored = store.repository(reference)
    through = _Keeping(repository, stored, document)
    report(0, None, "component")
    artifact = read_plugin(through, document.digest, max_bytes=max_bytes)
    report(len(artifact.wasm), None, "signatures")
    for digest in dict.fromkeys((artifact.digest, artifact.manifest_digest)):
        _keep_signatures(repository, through, stored, digest)
    stored.point(reference.wanted, document)
    return artifact


class _Keeping:
    """A repository that stores what is read, and requests only what is not stored yet."""

    def __init__(
        self, repository: RepositoryReader, stored: StoredRepository, document: Document
    ) -> None:
        self._repository = repository
        self._kept = stored
        self._document = document

    def manifest(self, reference: str) -> Document | None:
        """Returns the manifest of a digest."""
        document: Document | None = self._document
        if reference != self._document.digest:
            document = self._kept.manifest(reference) or self._repository.manifest(reference)
        if document is not None:
            self._kept.keep_manifest(document)
        return document

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """Returns a blob; a stored one is checked and not requested."""
        if descriptor.size <= max_bytes:
            data = self._kept.has_blob(descriptor)
            if data is not None:
                return data
        data = self._repository.blob(descriptor, max_bytes=max_bytes)
        self._kept.keep_blob(data)
        return data

    def referrers(self, digest: str) -> list[Descriptor]:
        """Always requested: signatures are added and removed."""
        return list(self._repository.referrers(digest))


def _keep_signatures(
    repository: RepositoryReader, through: _Keeping, stored: StoredRepository, digest: str
) -> None:
    """Stores the manifests about `digest`, and those of its tag for signatures of the old kind.

    Content that is too large to be a signature is skipped, so that it cannot prevent a pull; a
    missing signature is reported when one is required.
    """
    room = [MAX_SIGNATURES_BYTES]
    listed = [
        descriptor for descriptor in through.referrers(digest) if _may_be_signature(descriptor)
    ]
    found = [
        descriptor
        for descriptor in listed[:MAX_REFERRERS]
        if _keep_whole(through, descriptor.digest, room)
    ]
    stored.keep_referrers(digest, found)
    tag = f"{fallback_tag(digest)}.sig"
    document = repository.manifest(tag)
    if document is not None and document.media_type not in INDEXES:
        stored.keep_manifest(document)
        if _keep_whole(through, document.digest, room):
            stored.point(tag, document)
            return
    stored.forget(tag)


def _may_be_signature(listed: Descriptor) -> bool:
    return listed.media_type in MANIFESTS and listed.size <= MAX_SIGNATURE_BYTES


def _keep_whole(through: _Keeping, digest: str, room: list[int]) -> bool:
    """Stores a manifest with its blobs; returns whether the limits allowed all of it."""
    document = through.manifest(digest)
    if document is None or document.media_type in INDEXES:
        return False
    what = f"the manifest {digest}"
    try:
        body = read_object(document.data, what)
        blobs = read_descriptors(body.get("layers"), what, at_most=_MAX_LAYERS)
    except RegistryError:
        return False  # it is about the plugin and is no signature
    size = sum(blob.size for blob in blobs)
    if size > room[0] or any(blob.size > MAX_SIGNATURE_BYTES for blob in blobs):
        return False
    room[0] -= size
    for blob in blobs:
        through.blob(blob, max_bytes=MAX_SIGNATURE_BYTES)
    return True
