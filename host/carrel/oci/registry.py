"""A repository behind a registry's HTTP interface, by the OCI distribution specification.

All content is checked against the digest it was requested by; digests are computed here, never
taken from a header.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from carrel.errors import RegistryError
from carrel.fetch.registries.client import Network
from carrel.fetch.registries.url import RegistryUrl
from carrel.text.printable import printable

from .client import RegistryClient, Reply
from .documents import (
    ACCEPT,
    INDEXES,
    OCI_INDEX,
    describe_manifest,
    descriptor_json,
    encode_json,
    fallback_tag,
    make_document,
    read_descriptors,
    read_object,
    sha256,
)
from .download import Download, ProgressHandler
from .partial import PartialBlobs
from .reference import ImageReference, is_digest
from .repository import Descriptor, Document, RepositoryWriter
from .settings import RegistrySettings
from .upload import upload_blob

__all__ = ["HttpRepository", "RegistrySettings", "open_repository"]

#: How a registry reports that it has no referrers API; other clients use the same.
_NO_REFERRERS_API = frozenset({400, 404, 405, 406, 501})

#: Pages of referrers that are read.
_MAX_PAGES = 8


@contextmanager
def open_repository(
    reference: ImageReference,
    settings: RegistrySettings | None = None,
    *,
    on_progress: ProgressHandler | None = None,
    partial_blobs: PartialBlobs | None = None,
    network: Network | None = None,
) -> Iterator[RepositoryWriter]:
    """Opens the repository that a reference names, for the duration of the `with` block.

    No request is sent before the first method is called.

    Args:
        reference: any in the repository.
        settings: how the registry is reached; None takes the defaults.
        on_progress: called with the number of a blob's bytes sent or received.
        partial_blobs: stores blobs while they are downloaded, so that another process can resume;
            None keeps them in memory only.
        network: resolves names and connects; for tests.
    """
    client = RegistryClient(reference, settings or RegistrySettings(), network=network)
    try:
        yield HttpRepository(client, on_progress, partial_blobs)
    finally:
        client.close()


class HttpRepository:
    """A `RepositoryWriter` over HTTP. Not thread-safe."""

    def __init__(
        self,
        client: RegistryClient,
        on_progress: ProgressHandler | None = None,
        partial_blobs: PartialBlobs | None = None,
    ) -> None:
        self._client = client
        self._partial_blobs = partial_blobs
        self._on_progress = on_progress or (lambda _done, _total, _message: None)
        self._name = f"{client.host}/{client.repository}"

    def manifest(self, reference: str) -> Document | None:
        """Returns the manifest or index of a tag or digest; None when there is none."""
        reply = self._client.ask(
            "GET", self._client.url(f"manifests/{reference}"), headers={"Accept": ACCEPT}
        )
        what = f"the manifest {reference} of {self._name}"
        if reply.status == 404:
            return None
        if reply.status != 200:
            raise self._client.refused(reply, f"read {what}")
        document = make_document(reply.body, self._type(reply, what), what)
        if is_digest(reference) and document.digest != reference:
            raise RegistryError(f"{what}: the registry sent {document.digest} in its place")
        return document

    def blob(self, descriptor: Descriptor, *, max_bytes: int) -> bytes:
        """Downloads a blob of the descriptor's size and digest; resumes a partial download."""
        what = f"the blob {descriptor.digest} of {self._name}"
        if not is_digest(descriptor.digest):
            raise RegistryError(f"{what} is not named by a sha256 digest")
        if descriptor.size > max_bytes:
            raise RegistryError(
                f"{what} has {descriptor.size} bytes; at most {max_bytes} are taken"
            )
        partial = self._partial_blobs and self._partial_blobs.open(
            descriptor.digest, descriptor.size
        )
        with partial or nullcontext() as opened:
            return Download(self._client, descriptor, what, self._on_progress, opened).fetch()

    def referrers(self, digest: str) -> Sequence[Descriptor]:
        """Returns the manifests about `digest`: by the API, else by the fallback tag."""
        found = self._referrers_by_api(digest)
        return self._referrers_by_tag(digest) if found is None else found

    def put_blob(self, data: bytes, media_type: str) -> Descriptor:
        """Uploads a blob unless the repository has it."""
        descriptor = Descriptor(media_type, sha256(data), len(data))
        upload_blob(self._client, descriptor, data, self._on_progress)
        return descriptor

    def put_manifest(
        self, data: bytes, media_type: str, reference: str | None = None
    ) -> Descriptor:
        """Uploads a manifest under a tag, or under its own digest; lists it with its subject."""
        descriptor = describe_manifest(data, media_type)
        reply = self._client.ask(
            "PUT",
            self._client.url(f"manifests/{reference or descriptor.digest}"),
            actions="pull,push",
            headers={"Content-Type": media_type},
            body=data,
        )
        what = f"the manifest {reference or descriptor.digest} of {self._name}"
        if reply.status not in {200, 201, 202}:
            raise self._client.refused(reply, f"write {what}")
        stored_digest = reply.headers.get("docker-content-digest")
        if is_digest(stored_digest) and stored_digest != descriptor.digest:
            raise RegistryError(f"{what} became {stored_digest}; {descriptor.digest} was sent")
        subject = read_object(data, what).get("subject")
        if isinstance(subject, dict) and is_digest(subject.get("digest")):
            self._list(descriptor, str(subject["digest"]), reply)
        return descriptor

    def _list(self, descriptor: Descriptor, subject: str, reply: Reply) -> None:
        """Adds a manifest to the fallback tag of its subject if the registry has no API."""
        if "oci-subject" in reply.headers or self._referrers_by_api(subject) is not None:
            return
        tag = fallback_tag(subject)
        listed = [
            referrer
            for referrer in self._referrers_by_tag(subject)
            if referrer.digest != descriptor.digest
        ]
        index = {
            "schemaVersion": 2,
            "mediaType": OCI_INDEX,
            "manifests": [descriptor_json(referrer) for referrer in [*listed, descriptor]],
        }
        self.put_manifest(encode_json(index), OCI_INDEX, tag)

    def _referrers_by_api(self, digest: str) -> list[Descriptor] | None:
        """Returns what the referrers API lists; None if there is no such API."""
        what = f"the referrers of {digest} in {self._name}"
        url: RegistryUrl | None = self._client.url(f"referrers/{digest}")
        found: list[Descriptor] = []
        for page in range(_MAX_PAGES):
            assert url is not None, "the loop ends with the last page"
            reply = self._client.ask("GET", url, headers={"Accept": OCI_INDEX})
            kind = _media_type(reply.headers)
            if page == 0 and (
                reply.status in _NO_REFERRERS_API or (reply.status == 200 and kind != OCI_INDEX)
            ):
                return None
            if reply.status != 200:
                raise self._client.refused(reply, f"read {what}")
            found += self._listed(read_object(reply.body, what), what)
            url = self._next_page(reply, what)
            if url is None:
                return found
        raise RegistryError(f"{what} take more than {_MAX_PAGES} pages")

    def _next_page(self, reply: Reply, what: str) -> RegistryUrl | None:
        link = reply.headers.get("link", "")
        target, _, rest = link.strip().removeprefix("<").partition(">")
        if not target or 'rel="next"' not in rest.replace("rel=next", 'rel="next"'):
            return None
        return self._client.locate(reply.url, target, f"a next page of {what}")

    def _referrers_by_tag(self, digest: str) -> list[Descriptor]:
        tag = fallback_tag(digest)
        document = self.manifest(tag)
        if document is None or document.media_type not in INDEXES:
            return []
        what = f"the tag {tag} of {self._name}"
        return self._listed(read_object(document.data, what), what)

    def _listed(self, body: Mapping[str, Any], what: str) -> list[Descriptor]:
        most = self._client.settings.max_referrers
        return read_descriptors(body.get("manifests"), what, at_most=most)

    def _type(self, reply: Reply, what: str) -> str:
        kind = _media_type(reply.headers)
        if kind == "text/html":
            raise RegistryError(
                f"{what}: {self._client.host} answered with a web page; it is not a registry, or "
                "a proxy answers for it"
            )
        return kind


def _media_type(headers: Mapping[str, str]) -> str:
    return printable(headers.get("content-type", "").partition(";")[0].strip().lower(), 200)
