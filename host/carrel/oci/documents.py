"""Reads untrusted manifests, indexes and descriptors, and writes canonical ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from carrel.errors import RegistryError
from carrel.text.printable import printable

from .reference import is_digest
from .repository import Descriptor, Document

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"

MANIFESTS = frozenset({OCI_MANIFEST, DOCKER_MANIFEST})
INDEXES = frozenset({OCI_INDEX, DOCKER_LIST})

#: The Accept header of every request for a manifest.
ACCEPT = f"{OCI_MANIFEST}, {OCI_INDEX}, {DOCKER_MANIFEST}, {DOCKER_LIST}"

#: The largest valid size of a blob in a descriptor.
_MAX_SIZE = 2**53


def sha256(data: bytes) -> str:
    """Returns the digest of `data` as in descriptors."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def fallback_tag(digest: str) -> str:
    """Returns the tag that lists a digest's referrers where a registry has no referrers API."""
    return digest.replace(":", "-", 1)


def encode_json(value: Mapping[str, Any]) -> bytes:
    """Encodes JSON canonically: equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_object(data: bytes, what: str) -> dict[str, Any]:
    """Parses the JSON object in `data`.

    Raises:
        RegistryError: it is not one; `what` names it in the message.
    """
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        raise RegistryError(f"{what} is not JSON") from fault
    if not isinstance(value, dict):
        raise RegistryError(f"{what} is not a JSON object")
    return value


def read_descriptor(value: object, what: str) -> Descriptor:
    """Reads a descriptor in a document.

    Raises:
        RegistryError: a member is missing or of the wrong kind.
    """
    if isinstance(value, dict):
        digest, size, kind = value.get("digest"), value.get("size"), value.get("mediaType")
        artifact = value.get("artifactType")
        if (
            is_digest(digest)
            and isinstance(size, int)
            and not isinstance(size, bool)
            and 0 <= size < _MAX_SIZE
            and isinstance(kind, str)
        ):
            return Descriptor(
                media_type=kind,
                digest=str(digest),
                size=size,
                artifact_type=artifact if isinstance(artifact, str) else None,
                annotations=read_annotations(value.get("annotations")),
            )
    raise RegistryError(
        f"{what} has a descriptor that is not one: {printable(repr(value), 120)}; "
        "expected mediaType, a sha256 digest and a size"
    )


def read_descriptors(value: object, what: str, *, at_most: int) -> list[Descriptor]:
    """Reads a list of descriptors.

    Raises:
        RegistryError: it is not a list, is longer than `at_most`, or holds something else.
    """
    if not isinstance(value, list):
        raise RegistryError(f"{what} lacks a list of descriptors")
    if len(value) > at_most:
        raise RegistryError(f"{what} lists {len(value)} descriptors; at most {at_most} are read")
    return [read_descriptor(item, what) for item in value]


def read_annotations(value: object) -> dict[str, str]:
    """Reads annotations; drops values that are not texts."""
    if not isinstance(value, dict):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}


def descriptor_json(descriptor: Descriptor) -> dict[str, Any]:
    """Returns a descriptor's JSON."""
    members: dict[str, Any] = {
        "mediaType": descriptor.media_type,
        "digest": descriptor.digest,
        "size": descriptor.size,
    }
    if descriptor.artifact_type:
        members["artifactType"] = descriptor.artifact_type
    if descriptor.annotations:
        members["annotations"] = dict(descriptor.annotations)
    return members


def describe_manifest(data: bytes, media_type: str) -> Descriptor:
    """Returns the descriptor for a manifest in an index, as the specification derives it."""
    body = read_object(data, "the manifest")
    config = body.get("config")
    kind = body.get("artifactType")
    if not isinstance(kind, str) and isinstance(config, dict):
        kind = config.get("mediaType")
    return Descriptor(
        media_type=media_type,
        digest=sha256(data),
        size=len(data),
        artifact_type=kind if isinstance(kind, str) else None,
        annotations=read_annotations(body.get("annotations")),
    )


def make_document(data: bytes, media_type: str, what: str) -> Document:
    """Checks a manifest's type.

    Args:
        data: its bytes.
        media_type: the registry's; empty when it has none that is usable.
        what: names it in messages.

    Raises:
        RegistryError: it is not a manifest, or the registry and the document disagree about its
            type, so that two clients would read two documents.
    """
    body = read_object(data, what)
    inner = body.get("mediaType")
    supported = MANIFESTS | INDEXES
    if isinstance(inner, str) and media_type in supported and inner != media_type:
        raise RegistryError(
            f"{what} is served as {media_type} but calls itself {printable(inner, 100)}"
        )
    kind = media_type if media_type in supported else inner
    if kind not in supported:
        shown = printable(str(kind or media_type or "nothing"), 100)
        raise RegistryError(f"{what} is of type {shown}, which is not a supported manifest type")
    if "manifests" in body and ("layers" in body or "config" in body):
        raise RegistryError(f"{what} is a manifest and an index at once")
    return Document(str(kind), data, sha256(data))
