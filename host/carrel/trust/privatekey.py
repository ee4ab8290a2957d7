"""Private keys: PKCS #8, and cosign's own files, which are encrypted with a password.

cosign's file is PEM around JSON: scrypt derives a key from the password, and NaCl's secretbox
(XSalsa20 and Poly1305) encrypts the PKCS #8 key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from carrel.errors import ArgumentError

from .keys import accepted
from .strict import RefusedError, base64_bytes, json_object

if TYPE_CHECKING:
    from nacl.secret import SecretBox

PrivateKey = ec.EllipticCurvePrivateKey | Ed25519PrivateKey
#: Called for a password only if the key is encrypted.
Password = Callable[[], bytes]

_LABEL = "ENCRYPTED SIGSTORE PRIVATE KEY"
_BOXED = re.compile(
    rb"-----BEGIN (ENCRYPTED (?:SIGSTORE|COSIGN) PRIVATE KEY)-----\s+"
    rb"([A-Za-z0-9+/=\s]+?)\s*-----END \1-----\s*\Z"
)
#: scrypt's N of all cosign versions; r is 8 and p is 1. The largest takes 128 MiB for a moment.
_COSTS = (1 << 15, 1 << 16, 1 << 17)
_COST = 1 << 16


def read_private_key(pem: bytes, password: Password) -> PrivateKey:
    """Reads the private key in a PEM text: cosign's own file or PKCS #8, encrypted or not.

    Raises:
        ArgumentError: no such key, a kind that is not accepted, or the wrong password. The text
            never contains anything of the key or the password.
    """
    try:
        boxed = _BOXED.match(pem.lstrip())
        if boxed is not None:
            key = serialization.load_der_private_key(_open(boxed[2], password()), None)
        elif b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in pem:
            key = serialization.load_pem_private_key(pem, password())
        else:
            key = serialization.load_pem_private_key(pem, None)
        accepted(key.public_key())
    except RefusedError as error:
        raise ArgumentError([f"the key cannot be used: {error}"]) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The library's message may quote the file.
        raise ArgumentError(
            ["the key cannot be read: not a private key in PEM, or the password is wrong"]
        ) from None
    if not isinstance(key, (ec.EllipticCurvePrivateKey, Ed25519PrivateKey)):
        raise ArgumentError(["the key cannot be used: it does not sign"])
    return key


def new_private_key() -> PrivateKey:
    """Generates a key of cosign's kind: ECDSA on P-256."""
    return ec.generate_private_key(ec.SECP256R1())


def write_private_key(key: PrivateKey, password: bytes) -> bytes:
    """Returns the key as cosign's own file, encrypted with `password`."""
    plain = key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    salt = os.urandom(32)
    box = _box(_derive(password, salt, _COST))
    sealed = box.encrypt(plain)
    document = {
        "kdf": {
            "name": "scrypt",
            "params": {"N": _COST, "r": 8, "p": 1},
            "salt": base64.b64encode(salt).decode("ascii"),
        },
        "cipher": {
            "name": "nacl/secretbox",
            "nonce": base64.b64encode(sealed.nonce).decode("ascii"),
        },
        "ciphertext": base64.b64encode(sealed.ciphertext).decode("ascii"),
    }
    body = base64.b64encode(json.dumps(document, separators=(",", ":")).encode("ascii"))
    lines = [body[at : at + 64].decode("ascii") for at in range(0, len(body), 64)]
    return "\n".join([f"-----BEGIN {_LABEL}-----", *lines, f"-----END {_LABEL}-----", ""]).encode()


def write_public_key(key: PrivateKey) -> bytes:
    """Returns the public key in PEM."""
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def make_signature(key: PrivateKey, message: bytes) -> bytes:
    """Signs `message`."""
    if isinstance(key, Ed25519PrivateKey):
        return key.sign(message)
    return key.sign(message, ec.ECDSA(hashes.SHA256()))


def _open(body: bytes, password: bytes) -> bytes:
    from nacl.exceptions import CryptoError

    try:
        data = base64.b64decode(b"".join(body.split()), validate=True)
    except binascii.Error:
        raise RefusedError("its file is damaged") from None
    match json_object(data, "its file"):
        case {
            "kdf": {"name": "scrypt", "params": {"N": int(cost), "r": 8, "p": 1}, "salt": salt},
            "cipher": {"name": "nacl/secretbox", "nonce": nonce},
            "ciphertext": ciphertext,
        } if cost in _COSTS:
            pass
        case _:
            raise RefusedError("its file is encrypted in a way that cosign does not use")
    box = _box(_derive(password, base64_bytes(salt, "the salt"), cost))
    try:
        return box.decrypt(
            base64_bytes(ciphertext, "the ciphertext"), base64_bytes(nonce, "the nonce")
        )
    except (CryptoError, ValueError):
        raise RefusedError("the password is wrong, or its file is damaged") from None


def _derive(password: bytes, salt: bytes, cost: int) -> bytes:
    memory = 128 * 8 * cost
    return hashlib.scrypt(
        password, salt=salt, n=cost, r=8, p=1, maxmem=memory + (1 << 20), dklen=32
    )


def _box(key: bytes) -> SecretBox:
    # `cryptography` has no XSalsa20; loaded here, because only cosign's own files need it.
    from nacl.secret import SecretBox

    return SecretBox(key)
