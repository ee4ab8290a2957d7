"""Makes keys, authorities and their files, and defines the table of signature cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from carrel.trust.policy import Identity, TrustPolicy
from support import authority
from support.authority import Issued
from support.http_repository import HttpRepository
from support.signed import encoded, public_pem

WHO = "dev@example.org"
ISSUER = "https://id.example.org"
TRUSTED_ROOT = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"


@dataclass(frozen=True)
class Asked:
    """A verifier's question: the policy for Carrel, the arguments for cosign."""

    policy: TrustPolicy
    arguments: Sequence[str]


class SigningKeys:
    """Makes each key and authority when it is first used, with its files in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = authority.p256()
        self.other_key = authority.p256()
        self.root = authority.root()
        self.between = authority.intermediate(self.root)

    @cached_property
    def ed25519(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.generate()

    @cached_property
    def rsa(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(65537, 2048)

    @cached_property
    def p384(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP384R1())

    @cached_property
    def other_root(self) -> Issued:
        return authority.root()

    @cached_property
    def leaf(self) -> Issued:
        return authority.leaf(self.root)

    def leaf_with(self, above: Issued | None = None, **changes: Any) -> Issued:
        return authority.leaf(above or self.root, **changes)

    def by_key(self, key: Any = None) -> Asked:
        """Returns the question for a signature by a key."""
        path = self._file("key", "pub", public_pem(key or self.key))
        return Asked(
            TrustPolicy(keys=(path,)),
            ["--key", str(path), "--trusted-root", str(self._trusted_root([]))],
        )

    def by_identity(
        self,
        subject: str = WHO,
        issuer: str = ISSUER,
        roots: Sequence[Issued] | None = None,
        *,
        older: bool = False,
        pattern: bool = False,
    ) -> Asked:
        """Returns the question for a signature by a certificate's owner."""
        roots = [self.root] if roots is None else roots
        pem = self._file("roots", "pem", b"".join(one.pem for one in roots))
        ending = "-regexp" if pattern else ""
        arguments = [f"--certificate-identity{ending}", subject]
        arguments += [f"--certificate-oidc-issuer{ending}", issuer, "--insecure-ignore-sct"]
        if older:
            arguments += ["--ca-roots", str(pem)]
        else:
            arguments += ["--trusted-root", str(self._trusted_root(roots))]
        identity = Identity(
            subject, issuer, pem, subject_is_pattern=pattern, issuer_is_pattern=pattern
        )
        return Asked(TrustPolicy(identities=(identity,)), arguments)

    @staticmethod
    def private_pem(key: Any) -> bytes:
        """Returns a private key as PKCS #8 without a password."""
        pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem

    def _trusted_root(self, chain: Sequence[Issued]) -> Path:
        root: dict[str, Any] = {"mediaType": TRUSTED_ROOT}
        if chain:
            certificates = [{"rawBytes": encoded(one.der)} for one in chain]
            root["certificateAuthorities"] = [
                {
                    "subject": {},
                    "uri": "https://ca.example.org",
                    "certChain": {"certificates": certificates},
                    "validFor": {"start": "2020-01-01T00:00:00Z"},
                }
            ]
        return self._file("root", "json", json.dumps(root).encode())

    def _file(self, name: str, ending: str, data: bytes) -> Path:
        path = self.folder / f"{name}-{hash(data) & 0xFFFFFFFFFFFF:012x}.{ending}"
        path.write_bytes(data)
        return path


Build = Callable[[SigningKeys, HttpRepository], tuple[str, Asked]]
Add = Callable[[Build], Build]


@dataclass(frozen=True)
class Cell:
    """One case of the table.

    Attributes:
        name: the case.
        build: publishes it; returns the reference to verify and the question.
        ours: whether Carrel accepts it.
        cosign: whether cosign accepts it, by major version; equals `ours` unless `why` is set.
        why: why this verifier is stricter.
    """

    name: str
    build: Build
    ours: bool
    cosign: dict[int, bool]
    why: str


class Table:
    """Collects cells."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []

    def accepted(self, name: str, *, cosign: dict[int, bool] | None = None, why: str = "") -> Add:
        return self.add(name, True, cosign, why)

    def refused(self, name: str, *, cosign: dict[int, bool] | None = None, why: str = "") -> Add:
        return self.add(name, False, cosign, why)

    def stricter(self, name: str, why: str) -> Add:
        """Adds a case that Carrel refuses and both versions of cosign accept."""
        return self.add(name, False, {2: True, 3: True}, why)

    def add(self, name: str, ours: bool, cosign: dict[int, bool] | None, why: str) -> Add:
        def keep(build: Build) -> Build:
            self.cells.append(Cell(name, build, ours, cosign or {2: ours, 3: ours}, why))
            return build

        return keep


def uri(value: str) -> x509.UniformResourceIdentifier:
    return x509.UniformResourceIdentifier(value)


def mail(value: str) -> x509.RFC822Name:
    return x509.RFC822Name(value)
