"""Reads the public keys of an issuer (JWKS, RFC 7517) and verifies signatures with them.

The key decides the algorithm, never the token: a key has the algorithms of its type, and a token
that names another is refused before anything is computed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import jwt
from jwt.exceptions import PyJWTError

from .tokens import TokenError, UnverifiedToken

logger = logging.getLogger(__name__)

#: Keys of a set that are read.
MAX_KEYS: Final = 64
_MIN_RSA_BITS: Final = 2048

_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
#: Type and curve of a key → its algorithms. Symmetric keys are not among them.
_ALGORITHMS: Final[Mapping[tuple[str, str | None], tuple[str, ...]]] = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}

#: The algorithms of tokens that an issuer signs.
ASYMMETRIC: Final = (*_RSA, "ES256", "ES384", "ES512", "EdDSA")


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A key and the algorithms that it may be used with.

    Attributes:
        kid: its name; None if it has none.
        algorithms: never both symmetric and asymmetric ones.
        material: what PyJWT verifies with.
    """

    kid: str | None
    algorithms: tuple[str, ...]
    material: Any = field(repr=False)

    def verify(self, token: UnverifiedToken) -> None:
        """Verifies the signature of a token.

        Raises:
            TokenError: the key does not have the token's algorithm, or did not sign it.
        """
        if token.alg not in self.algorithms:
            raise TokenError("the token's alg is not one of its key's")
        try:
            jwt.PyJWS(algorithms=[token.alg]).decode(
                token.text, self.material, algorithms=[token.alg]
            )
        except (PyJWTError, ValueError, TypeError):
            raise TokenError("the token's signature does not match") from None


def secret_key(secret: bytes) -> Key:
    """Returns the key of an operator's secret, for HS256 alone."""
    return Key(None, ("HS256",), secret)


def read_keys(data: bytes, allowed: Collection[str]) -> tuple[Key, ...]:
    """Reads a JWKS; leaves out keys that are not for signatures, too weak, or not `allowed`.

    Raises:
        ValueError: it is not a JWKS.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("the key set is not JSON") from None
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the key set has no list of keys")  # noqa: TRY004 - of a document
    if len(listed) > MAX_KEYS:
        raise ValueError(f"the key set has more than {MAX_KEYS} keys")
    found = [key for item in listed if (key := _read_key(item, allowed)) is not None]
    if not found:
        logger.error("the issuer has no key that can be used; every token is refused")
    return tuple(found)


def find_key(keys: Sequence[Key], token: UnverifiedToken) -> Key | None:
    """Returns the only key that a token can have been signed with; None if none is certain.

    A token without `kid` fits a set of one key.
    """
    candidates = [key for key in keys if key.kid == token.kid] if token.kid is not None else keys
    fitting = [key for key in candidates if token.alg in key.algorithms]
    return fitting[0] if len(fitting) == 1 else None


def _read_key(value: object, allowed: Collection[str]) -> Key | None:
    if not isinstance(value, dict):
        return None
    kind, curve = value.get("kty"), value.get("crv")
    if not isinstance(kind, str) or not isinstance(curve, str | None):
        return None
    usable = _ALGORITHMS.get((kind, curve if kind != "RSA" else None), ())
    algorithm, operations = value.get("alg"), value.get("key_ops", ["verify"])
    if algorithm is not None:
        usable = tuple(name for name in usable if name == algorithm)
    usable = tuple(name for name in usable if name in allowed)
    kid = value.get("kid")
    if not usable or value.get("use", "sig") != "sig" or not isinstance(kid, str | None):
        return None
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    public = {
        name: member for name, member in value.items() if name in {"kty", "crv", "n", "e", "x", "y"}
    }
    try:
        material = jwt.PyJWK(public, algorithm=usable[0]).key
    except (PyJWTError, ValueError, TypeError, KeyError):
        logger.warning("a key of the issuer cannot be read; it is left out")
        return None
    if kind == "RSA" and material.key_size < _MIN_RSA_BITS:
        logger.warning("a key of the issuer has %d bits; it is left out", material.key_size)
        return None
    return Key(kid, usable, material)
