"""Finds the signatures of a digest in a repository, in both layouts; verifies none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from carrel.errors import RegistryError
from carrel.oci.repository import Descriptor, Document, RepositoryReader

from . import bundle as bundles
from . import claims
from .strict import MAX_DOCUMENT_BYTES, RefusedError, base64_bytes, items, json_object

SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json"
SIGNATURE = "dev.cosignproject.cosign/signature"
CERTIFICATE = "dev.sigstore.cosign/certificate"
CHAIN = "dev.sigstore.cosign/chain"

#: Referrers and older signatures that are read; a repository can list any number.
MAX_REFERRERS = 64
MAX_OLDER = 64

#: Errors that make one signature unreadable. Hostile data raises many a ValueError.
UNREADABLE = (RefusedError, RegistryError, ValueError)


@dataclass(frozen=True, slots=True)
class SignatureCandidate:
    """One signature, unverified.

    Attributes:
        place: where it was found, for people.
        message: the signed bytes.
        signature: the signature.
        check_claim: raises `RefusedError` unless the payload is about the given digest.
        hint: names the key that may have signed; empty without one.
        certificates: in DER, the signer's first, then the chain above it.
        older: whether it is of the older layout.
        is_signature: whether its claim is only that a digest is signed.
        document: the bundle; empty in the older layout.
    """

    place: str
    message: bytes
    signature: bytes
    check_claim: Callable[[str], None]
    hint: str = ""
    certificates: tuple[bytes, ...] = ()
    older: bool = False
    is_signature: bool = True
    document: bytes = field(default=b"", repr=False)


Found = SignatureCandidate | tuple[str, str]


def find_signatures(repository: RepositoryReader, digest: str) -> Iterator[Found]:
    """Returns the signatures of `digest`, and the place and reason of each unreadable one.

    The older layout counts only if no bundle is a signature, as for cosign. A bundle with another
    claim about the digest, such as how it was built, is not a signature.

    Raises:
        RegistryError: the repository cannot list them.
    """
    referrers = repository.referrers(digest)
    has_bundle = False
    for referrer in referrers[:MAX_REFERRERS]:
        place = f"bundle {short(referrer.digest)}"
        try:
            found = _from_referrer(repository, referrer, place)
        except UNREADABLE as error:
            yield place, str(error)
        else:
            if found is not None:
                has_bundle = has_bundle or found.is_signature
                yield found
    if len(referrers) > MAX_REFERRERS:
        yield "referrers", f"only the first {MAX_REFERRERS} of {len(referrers)} were read"
    document = repository.manifest(older_tag(digest))
    if document is not None and has_bundle:
        yield "older signatures", "not read, because there is a bundle"
    elif document is not None:
        yield from _older(repository, document)


def older_tag(digest: str) -> str:
    """Returns the tag of the signatures of `digest` in the older layout."""
    return f"{digest.replace(':', '-')}.sig"


def short(digest: str) -> str:
    """Shortens a digest for people."""
    return digest.removeprefix("sha256:")[:12]


def _from_referrer(
    repository: RepositoryReader, descriptor: Descriptor, place: str
) -> SignatureCandidate | None:
    """Reads the bundle of a referrer; None for a referrer of another kind."""
    document = repository.manifest(descriptor.digest)
    if document is None:
        raise RefusedError("the repository lists it and does not have it")
    layers = _layers(document)
    if len(layers) != 1 or not layers[0].media_type.startswith(bundles.MEDIA_TYPE_PREFIX):
        return None
    data = repository.blob(layers[0], max_bytes=MAX_DOCUMENT_BYTES)
    read = bundles.read_bundle(data)
    return SignatureCandidate(
        place=place,
        message=claims.signed_message(read.payload_type, read.payload),
        signature=read.signature,
        check_claim=lambda digest: claims.check_statement(read.payload_type, read.payload, digest),
        hint=read.hint,
        certificates=read.certificates,
        is_signature=claims.predicate_type(read.payload) == claims.PREDICATE_TYPE,
        document=data,
    )


def _older(repository: RepositoryReader, document: Document) -> Iterator[Found]:
    try:
        layers = _layers(document)
    except RefusedError as error:
        yield "older signatures", str(error)
        return
    for number, layer in enumerate(layers[:MAX_OLDER], 1):
        place = f"older signature {number}"
        try:
            yield _from_layer(repository, layer, place)
        except UNREADABLE as error:
            yield place, str(error)
    if len(layers) > MAX_OLDER:
        yield "older signatures", f"only the first {MAX_OLDER} of {len(layers)} were read"


def _from_layer(repository: RepositoryReader, layer: Descriptor, place: str) -> SignatureCandidate:
    if SIGNATURE not in layer.annotations:
        raise RefusedError("it has no signature")
    signature = base64_bytes(layer.annotations[SIGNATURE], "the signature")
    certificates = _pem_chain(layer.annotations.get(CERTIFICATE, ""))[:1]
    # cosign writes the chain without its last certificate, which is the authority's own.
    above = _pem_chain(layer.annotations.get(CHAIN, ""))[:-1]
    payload = repository.blob(layer, max_bytes=MAX_DOCUMENT_BYTES)
    return SignatureCandidate(
        place=place,
        message=payload,
        signature=signature,
        check_claim=lambda digest: claims.check_simple_signing(payload, digest),
        certificates=(*certificates, *above) if certificates else (),
        older=True,
    )


def _pem_chain(pem: str) -> tuple[bytes, ...]:
    if not pem:
        return ()
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    try:
        found = x509.load_pem_x509_certificates(pem.encode("utf-8"))
    except ValueError:
        raise RefusedError("its certificate cannot be read") from None
    return tuple(certificate.public_bytes(Encoding.DER) for certificate in found)


def _layers(document: Document) -> list[Descriptor]:
    """Returns the layers that a manifest lists."""
    manifest = json_object(document.data, "the manifest")
    found = items(manifest.get("layers", []), "the manifest's layers", 1000)
    return [_descriptor(layer) for layer in found]


def _descriptor(value: Any) -> Descriptor:
    match value:
        case {"mediaType": str(media_type), "digest": str(digest), "size": int(size)}:
            annotations = value.get("annotations") or {}
            if isinstance(annotations, dict) and all(
                isinstance(annotation, str) for annotation in annotations.values()
            ):
                return Descriptor(media_type, digest, size, annotations=annotations)
    raise RefusedError("the manifest lists an invalid descriptor")
