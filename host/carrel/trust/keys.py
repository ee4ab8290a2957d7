"""Public keys: the two accepted kinds, their fingerprints, verifying signatures."""

from __future__ import annotations

import hashlib

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .strict import RefusedError

#: One algorithm each: ECDSA on P-256 with SHA-256, and pure Ed25519. A signature cannot choose.
PublicKey = ec.EllipticCurvePublicKey | Ed25519PublicKey


def accepted(key: object) -> PublicKey:
    """Returns `key` if it is of an accepted kind.

    Raises:
        RefusedError: RSA, another curve, or something else.
    """
    if isinstance(key, Ed25519PublicKey):
        return key
    if isinstance(key, ec.EllipticCurvePublicKey):
        if isinstance(key.curve, ec.SECP256R1):
            return key
        kind = f"an elliptic curve key on {key.curve.name}"
    else:
        kind = type(key).__name__.lstrip("_").removesuffix("PublicKey") or "another"
        kind = f"a key of kind {kind}"
    raise RefusedError(f"{kind}; ECDSA on P-256 and Ed25519 are accepted")


def public_key(pem: bytes) -> PublicKey:
    """Reads the public key in a PEM text.

    Raises:
        RefusedError: no PEM public key, or of a kind that is not accepted.
    """
    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise RefusedError("not a public key in PEM (BEGIN PUBLIC KEY)") from None
    return accepted(key)


def key_bytes(key: PublicKey) -> bytes:
    """Returns the key's SubjectPublicKeyInfo in DER."""
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def fingerprint(key: PublicKey) -> str:
    """Returns `sha256:` and the hex digest of the key's SubjectPublicKeyInfo."""
    return f"sha256:{hashlib.sha256(key_bytes(key)).hexdigest()}"


def has_signed(key: PublicKey, signature: bytes, message: bytes) -> bool:
    """Whether `signature` is valid for the key and `message`."""
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, message)
        else:
            key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return True
