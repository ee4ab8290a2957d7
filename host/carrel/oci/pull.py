"""From a registry into the store: the plugin, and everything that could prove who signed it.

The tag's name is written last, so a pull that is cut off leaves the tag as it was, with all that it
needs. What is already in the store is not fetched again, and a blob that had come in part is gone
on with where the repository was opened with the store's `partial_blobs`.
"""

from __future__ import annotations

from collections.abc import Callable

from carrel.errors import RegistryError

from .documents import INDEXES, MANIFESTS, fallback_tag, read_descriptors, read_object
from .layout import PluginArtifact, read_plugin
from .reference import ImageReference
from .repository import Descriptor, Document, RepositoryReader
from .store import PluginStore, StoredRepository

#: Bytes so far, bytes in all where they are known, and what is done.
ProgressHandler = Callable[[float, float | None, str], None]

#: The most that is kept of what is about one plugin: manifests, and bytes of one blob and of all.
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
    """Fetches a plugin with its signatures into the store.

    Args:
        reference: which plugin.
        repository: where it is.
        store: where it is kept.
        max_bytes: the largest component.
        on_progress: told what is being done.

    Raises:
        RegistryError: the registry has no such plugin, or is not honest about it.
        StorageError: the store's disk refuses.
    """
    tell = on_progress or (lambda _done, _total, _message: None)
    store.prune_partial_blobs()
    tell(0, None, "manifest")
    document = repository.manifest(reference.wanted)
    if document is None:
        kind = "manifest" if reference.digest else "tag"
        raise RegistryError(
            f"{reference.host}/{reference.repository} has no {kind} {reference.wanted}; check the "
            f"name and the {'digest' if reference.digest else 'tag'}"
        )
    if reference.digest and document.digest != reference.digest:
        raise RegistryError(f"{document.digest} was handed out in place of {reference.digest}")
    kept = store.repository(reference)
    through = _Keeping(repository, kept, document)
    tell(0, None, "component")
    artifact = read_plugin(through, document.digest, max_bytes=max_bytes)
    tell(len(artifact.wasm), None, "signatures")
    for digest in dict.fromkeys((artifact.digest, artifact.manifest_digest)):
        _keep_signatures(repository, through, kept, digest)
    kept.point(reference.wanted, document)
    return artifact


class _Keeping:
    """A repository that keeps what is read through it, and asks only for what is not kept yet."""

    def __init__(
        self, repository: RepositoryReader, kept: StoredRepository, document: Document
    ) -> None:
        self._repository = repository
        self._kept = kept
        self._document = document

    def manifest(self, reference: str) -> Document | None:
        """The manifest of a digest."""
        document: Document | None = self._document
        if reference != self._document.digest:
            document = self._kept.manifest(reference) or self._repository.manifest(reference)
        if document is not None:
            self._kept.keep_manifest(document)
        return document

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """A blob; one that is kept already is checked and not fetched."""
        if descriptor.size <= max_bytes:
            data = self._kept.has_blob(descriptor)
            if data is not None:
                return data
        data = self._repository.blob(descriptor, max_bytes=max_bytes)
        self._kept.keep_blob(data)
        return data

    def referrers(self, digest: str) -> list[Descriptor]:
        """Always asked for anew: signatures come and go."""
        return list(self._repository.referrers(digest))


def _keep_signatures(
    repository: RepositoryReader, through: _Keeping, kept: StoredRepository, digest: str
) -> None:
    """Keeps the manifests about `digest`, and those of its tag for signatures of the old kind.

    What is too large or too much to be a signature is left out, so that it cannot keep a plugin
    from being pulled; a signature that is then missing is missed by whoever asks for it.
    """
    room = [MAX_SIGNATURES_BYTES]
    listed = [one for one in through.referrers(digest) if _may_be_signature(one)]
    found = [one for one in listed[:MAX_REFERRERS] if _keep_whole(through, one.digest, room)]
    kept.keep_referrers(digest, found)
    tag = f"{fallback_tag(digest)}.sig"
    document = repository.manifest(tag)
    if document is not None and document.media_type not in INDEXES:
        kept.keep_manifest(document)
        if _keep_whole(through, document.digest, room):
            kept.point(tag, document)
            return
    kept.forget(tag)


def _may_be_signature(listed: Descriptor) -> bool:
    return listed.media_type in MANIFESTS and listed.size <= MAX_SIGNATURE_BYTES


def _keep_whole(through: _Keeping, digest: str, room: list[int]) -> bool:
    """Keeps a manifest with its blobs; whether there was room for all of it."""
    document = through.manifest(digest)
    if document is None or document.media_type in INDEXES:
        return False
    what = f"the manifest {digest}"
    try:
        body = read_object(document.data, what)
        blobs = read_descriptors(body.get("layers"), what, at_most=_MAX_LAYERS)
    except RegistryError:
        return False  # it is about the plugin and not a signature
    size = sum(one.size for one in blobs)
    if size > room[0] or any(one.size > MAX_SIGNATURE_BYTES for one in blobs):
        return False
    room[0] -= size
    for one in blobs:
        through.blob(one, max_bytes=MAX_SIGNATURE_BYTES)
    return True
