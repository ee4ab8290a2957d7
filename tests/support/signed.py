"""Makes signatures as cosign writes them, with a fault in any part."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from carrel.oci.repository import Descriptor, RepositoryWriter
from support.authority import Issued
from support.http_repository import MANIFEST

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
IN_TOTO = "application/vnd.in-toto+json"
SIMPLE_SIGNING = "application/vnd.dev.cosign.simplesigning.v1+json"
COSIGN_SIGN = "https://sigstore.dev/cosign/sign/v1"
EMPTY = "application/vnd.oci.empty.v1+json"

Json = dict[str, Any]


def artifact(repository: RepositoryWriter, tag: str | None = None) -> str:
    """Publishes a new artifact and returns its digest."""
    config = repository.put_blob(b"{}", "application/vnd.wasm.config.v0+json")
    layer = repository.put_blob(os.urandom(16), "application/wasm")
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor_json(config),
        "layers": [descriptor_json(layer)],
    }
    return put_json(repository, manifest, tag).digest


def put_json(repository: RepositoryWriter, value: Json, reference: str | None = None) -> Descriptor:
    """Publishes a manifest."""
    return repository.put_manifest(json.dumps(value).encode(), MANIFEST, reference)


def descriptor_json(descriptor: Descriptor) -> Json:
    return {
        "mediaType": descriptor.media_type,
        "digest": descriptor.digest,
        "size": descriptor.size,
    }


def public_pem(key: Any) -> bytes:
    pem: bytes = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def raw_sign(key: Any, message: bytes, digest: hashes.HashAlgorithm | None = None) -> bytes:
    """Returns a signature by a key of any kind."""
    digest = digest or hashes.SHA256()
    signature: bytes
    if isinstance(key, Ed25519PrivateKey):
        signature = key.sign(message)
    elif isinstance(key, rsa.RSAPrivateKey):
        signature = key.sign(message, padding.PKCS1v15(), digest)
    else:
        signature = key.sign(message, ec.ECDSA(digest))
    return signature


def changed_signature(key: Any, message: bytes, change: Callable[[str], str]) -> str:
    """Returns a signature's base64 after `change`; signs again until the change has an effect.

    For example, only some signatures have padding that can be removed.
    """
    while True:
        signature = encoded(raw_sign(key, message))
        changed = change(signature)
        if changed != signature:
            return changed


def statement(digest: str, **changes: Any) -> Json:
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"digest": {"sha256": digest.removeprefix("sha256:")}}],
        "predicateType": COSIGN_SIGN,
        "predicate": {},
        **changes,
    }


def encoded(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")


def dsse_message(payload: bytes, payload_type: str = IN_TOTO) -> bytes:
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def bundle(
    signer: Any,
    payload: Json | bytes,
    payload_type: str = IN_TOTO,
    sign: Callable[[Any, bytes], bytes] = raw_sign,
    chain: Sequence[Issued] = (),
) -> Json:
    """Returns a bundle signed by a key, or by the key of a certificate."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    material: Json = {"publicKey": {"hint": "aGludA=="}}
    key = signer
    if isinstance(signer, Issued):
        key = signer.key
        material = {"certificate": {"rawBytes": encoded(signer.der)}}
        if chain:
            listed = [{"rawBytes": encoded(one.der)} for one in (signer, *chain)]
            material = {"x509CertificateChain": {"certificates": listed}}
    return {
        "mediaType": BUNDLE,
        "verificationMaterial": material,
        "dsseEnvelope": {
            "payload": encoded(body),
            "payloadType": payload_type,
            "signatures": [{"sig": encoded(sign(key, dsse_message(body, payload_type)))}],
        },
    }


def attach(
    repository: RepositoryWriter,
    digest: str,
    document: Json | bytes,
    media_type: str = BUNDLE,
    extra_layers: int = 0,
) -> Descriptor:
    """Publishes a document as a referrer of a digest."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    layers = [repository.put_blob(data, media_type)]
    layers += [repository.put_blob(os.urandom(4), "text/plain") for _ in range(extra_layers)]
    subject = repository.manifest(digest)
    assert subject is not None
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": media_type,
        "config": descriptor_json(repository.put_blob(b"{}", EMPTY)),
        "layers": [descriptor_json(one) for one in layers],
        "subject": {"mediaType": MANIFEST, "digest": digest, "size": len(subject.data)},
    }
    return put_json(repository, manifest)


def payload_of(digest: str, **changes: Any) -> Json:
    return {
        "critical": {
            "identity": {"docker-reference": "plugins"},
            "image": {"docker-manifest-digest": digest},
            "type": "cosign container image signature",
            **changes,
        },
        "optional": None,
    }


def older_layer(
    repository: RepositoryWriter,
    signer: Any,
    payload: Json | bytes,
    *,
    signature: str | None = None,
    chain: Sequence[Issued] = (),
    media_type: str = SIMPLE_SIGNING,
) -> Json:
    """Returns one signature of the older layout, for `attach_older`."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    key = signer.key if isinstance(signer, Issued) else signer
    annotations = {
        "dev.cosignproject.cosign/signature": signature or encoded(raw_sign(key, body)),
    }
    if isinstance(signer, Issued):
        annotations["dev.sigstore.cosign/certificate"] = signer.pem.decode()
    if chain:
        annotations["dev.sigstore.cosign/chain"] = b"".join(one.pem for one in chain).decode()
    return {**descriptor_json(repository.put_blob(body, media_type)), "annotations": annotations}


def attach_older(repository: RepositoryWriter, digest: str, *layers: Json) -> None:
    """Publishes signatures of the older layout with a digest's tag."""
    config = {
        "architecture": "",
        "os": "",
        "rootfs": {"type": "layers", "diff_ids": [one["digest"] for one in layers]},
    }
    blob = repository.put_blob(
        json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor_json(blob),
        "layers": list(layers),
    }
    put_json(repository, manifest, f"{digest.replace(':', '-')}.sig")
