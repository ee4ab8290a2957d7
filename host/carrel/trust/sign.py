"""Signs a digest in a repository, so that cosign verifies it.

The signature is a bundle that refers to the manifest, as cosign 3 writes it, or on request in the
older layout, which all versions of cosign read.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding

from carrel.errors import ArgumentError, SignatureError
from carrel.oci.repository import Descriptor, Document, RepositoryWriter

from . import bundle as bundles
from . import claims
from .find import CERTIFICATE, CHAIN, SIGNATURE, SIMPLE_SIGNING, older_tag, short
from .keys import accepted, key_bytes
from .privatekey import PrivateKey, make_signature
from .strict import RefusedError, json_object

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_EMPTY = "application/vnd.oci.empty.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"


def read_certificates(
    key: PrivateKey, certificate: bytes, chain: bytes = b""
) -> list[x509.Certificate]:
    """Reads a signer's certificate and the chain above it from PEM, the signer's first.

    Raises:
        ArgumentError: they cannot be read, or the certificate is for another key.
    """
    try:
        leaf = x509.load_pem_x509_certificates(certificate)[0]
        above = x509.load_pem_x509_certificates(chain) if chain else []
        same = key_bytes(accepted(leaf.public_key())) == key_bytes(key.public_key())
    except (ValueError, UnsupportedAlgorithm):
        raise ArgumentError(["the certificate or its chain cannot be read as PEM"]) from None
    except RefusedError:
        same = False
    if not same:
        raise ArgumentError(["the certificate belongs to another key"])
    return [leaf, *(authority for authority in above if authority != leaf)]


def sign(
    repository: RepositoryWriter,
    digest: str,
    key: PrivateKey,
    *,
    certificates: Sequence[x509.Certificate] = (),
    older: bool = False,
    name: str = "",
) -> Descriptor:
    """Signs `digest` and returns the descriptor of the signature's manifest.

    Signing twice adds a second signature.

    Args:
        repository: with the digest; the signature is added to it.
        digest: of a manifest in it.
        key: the private key; the signature names its public key or the certificate.
        certificates: for a signer by certificate: theirs, then those above it up to the root.
        older: whether to write the older layout instead.
        name: the repository's name for people in the older layout; not checked.

    Raises:
        SignatureError: there is no such manifest, or its older signatures cannot be read.
        RegistryError: the repository cannot be read or written.
    """
    signed = repository.manifest(digest)
    if signed is None:
        raise SignatureError(f"there is no {short(digest)} to sign")
    if older:
        return _sign_older(repository, digest, key, certificates, name)
    payload = claims.statement(digest)
    signature = make_signature(key, claims.signed_message(claims.PAYLOAD_TYPE, payload))
    chain = [
        certificate.public_bytes(Encoding.DER)
        for certificate in certificates
        # Verifiers have the authority's own certificate; a bundle must not contain it.
        if certificate.subject != certificate.issuer
    ]
    bundle = bundles.write_bundle(payload, signature, key.public_key(), chain)
    layer = repository.put_blob(bundle, bundles.MEDIA_TYPE)
    return repository.put_manifest(_referrer(repository, signed, layer), MANIFEST)


def _referrer(repository: RepositoryWriter, signed: Document, layer: Descriptor) -> bytes:
    config = repository.put_blob(b"{}", _EMPTY)
    return _compact(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": bundles.MEDIA_TYPE,
            "config": _to_json(config, _EMPTY),
            "layers": [_to_json(layer, bundles.MEDIA_TYPE)],
            "subject": {
                "mediaType": signed.media_type,
                "digest": signed.digest,
                "size": len(signed.data),
            },
            "annotations": {
                "dev.sigstore.bundle.content": "dsse-envelope",
                "dev.sigstore.bundle.predicateType": claims.PREDICATE_TYPE,
                "org.opencontainers.image.created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            },
        }
    )


def _sign_older(
    repository: RepositoryWriter,
    digest: str,
    key: PrivateKey,
    certificates: Sequence[x509.Certificate],
    name: str,
) -> Descriptor:
    """Adds a signature to those under the older layout's tag."""
    payload = claims.simple_signing(digest, name)
    annotations = {SIGNATURE: base64.b64encode(make_signature(key, payload)).decode("ascii")}
    if certificates:
        annotations[CERTIFICATE] = _pem(certificates[:1])
    if certificates[1:]:
        annotations[CHAIN] = _pem(certificates[1:])
    layer = repository.put_blob(payload, SIMPLE_SIGNING)
    tag = older_tag(digest)
    layers = _older_layers(repository, tag)
    layers.append({**_to_json(layer, SIMPLE_SIGNING), "annotations": annotations})
    config = _compact(
        {
            "architecture": "",
            "os": "",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": [entry["digest"] for entry in layers]},
        }
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": _to_json(repository.put_blob(config, _CONFIG), _CONFIG),
        "layers": layers,
    }
    return repository.put_manifest(_compact(manifest), MANIFEST, tag)


def _older_layers(repository: RepositoryWriter, tag: str) -> list[dict[str, Any]]:
    document = repository.manifest(tag)
    if document is None:
        return []
    try:
        layers = json_object(document.data, "the manifest").get("layers")
    except RefusedError as error:
        raise SignatureError(f"the older signatures under {tag} cannot be kept: {error}") from None
    if not isinstance(layers, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("digest"), str) for entry in layers
    ):
        raise SignatureError(f"the older signatures under {tag} cannot be kept: not a manifest")
    return layers


def _to_json(descriptor: Descriptor, media_type: str) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": descriptor.digest, "size": descriptor.size}


def _pem(certificates: Sequence[x509.Certificate]) -> str:
    return b"".join(cert.public_bytes(Encoding.PEM) for cert in certificates).decode("ascii")


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
