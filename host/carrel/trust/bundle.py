"""Sigstore bundles of version 0.3: a signed statement with the material to verify it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from .claims import PAYLOAD_TYPE
from .keys import PublicKey, key_bytes
from .strict import RefusedError, base64_bytes, items, json_object, members, text

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
#: The media type prefix of layers with a bundle of any version.
MEDIA_TYPE_PREFIX = "application/vnd.dev.sigstore.bundle"

_SPELLINGS = (MEDIA_TYPE, "application/vnd.dev.sigstore.bundle+json;version=0.3")
_MAX_CERTIFICATES = 8
_MAX_LOG_ENTRIES = 32


@dataclass(frozen=True, slots=True)
class Bundle:
    """A well-formed bundle. Nothing in it is verified yet.

    Attributes:
        payload_type: of the signed document.
        payload: the signed document.
        signature: the one signature over type and payload.
        hint: names the key that may have signed; empty with a certificate.
        certificates: in DER, the signer's first; empty if a key signed.
    """

    payload_type: str
    payload: bytes
    signature: bytes
    hint: str
    certificates: tuple[bytes, ...]


def read_bundle(data: bytes) -> Bundle:
    """Parses a bundle.

    Log entries and timestamps are left to the `sigstore` library, which reads `data` again.

    Raises:
        RefusedError: it is not a bundle with exactly one signed envelope.
    """
    bundle = members(
        json_object(data, "the bundle"),
        "the bundle",
        required=("mediaType", "verificationMaterial"),
        optional=("dsseEnvelope", "messageSignature"),
    )
    if bundle["mediaType"] not in _SPELLINGS:
        raise RefusedError(f"its bundle is a {bundle['mediaType']!r}, not of version 0.3")
    if "messageSignature" in bundle or "dsseEnvelope" not in bundle:
        raise RefusedError("its bundle has no signed envelope")
    hint, certificates = _material(bundle["verificationMaterial"])
    envelope = members(
        bundle["dsseEnvelope"], "the envelope", required=("payload", "payloadType", "signatures")
    )
    signatures = items(envelope["signatures"], "the envelope's signatures", 1)
    if not signatures:
        raise RefusedError("the envelope is not signed")
    signature = members(signatures[0], "the signature", required=("sig",), optional=("keyid",))
    if signature.get("keyid"):
        # Not signed and not needed, and cosign takes none: the key is the policy's to choose.
        raise RefusedError("its signature names a key of its own")
    return Bundle(
        payload_type=text(envelope["payloadType"], "the payload's type"),
        payload=base64_bytes(envelope["payload"], "the payload"),
        signature=base64_bytes(signature["sig"], "the signature"),
        hint=hint,
        certificates=certificates,
    )


def _material(value: object) -> tuple[str, tuple[bytes, ...]]:
    kinds = ("publicKey", "certificate", "x509CertificateChain")
    material = members(
        value,
        "the verification material",
        optional=(*kinds, "tlogEntries", "timestampVerificationData"),
    )
    items(material.get("tlogEntries", []), "the log entries", _MAX_LOG_ENTRIES)
    if sum(kind in material for kind in kinds) != 1:
        raise RefusedError("its bundle names not exactly one key or certificate")
    if "publicKey" in material:
        key = members(material["publicKey"], "the public key", optional=("hint",))
        return text(key.get("hint", ""), "the key's hint"), ()
    if "certificate" in material:
        chain = [material["certificate"]]
    else:
        whole = members(material["x509CertificateChain"], "the chain", required=("certificates",))
        chain = items(whole["certificates"], "the chain", _MAX_CERTIFICATES)
    if not chain:
        raise RefusedError("the chain is empty")
    return "", tuple(
        base64_bytes(
            members(certificate, "a certificate", required=("rawBytes",))["rawBytes"], "it"
        )
        for certificate in chain
    )


def write_bundle(
    payload: bytes, signature: bytes, key: PublicKey, certificates: Sequence[bytes] = ()
) -> bytes:
    """Encodes a bundle of a statement signed by `key` or by the first of `certificates`."""
    material: dict[str, object]
    if not certificates:
        material = {"publicKey": {"hint": key_hint(key)}}
    elif len(certificates) == 1:
        material = {"certificate": {"rawBytes": _spelled(certificates[0])}}
    else:
        chain = [{"rawBytes": _spelled(certificate)} for certificate in certificates]
        material = {"x509CertificateChain": {"certificates": chain}}
    return json.dumps(
        {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": material,
            "dsseEnvelope": {
                "payload": _spelled(payload),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [{"sig": _spelled(signature)}],
            },
        },
        separators=(",", ":"),
    ).encode("ascii")


def key_hint(key: PublicKey) -> str:
    """Returns a bundle's name for a key. It selects a key to try and proves nothing."""
    return _spelled(hashlib.sha256(key_bytes(key)).digest())


def _spelled(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
