"""The signers that a plugin's signature is accepted from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Identity:
    """A signer identified by the certificate of an authority.

    Attributes:
        subject: the e-mail address or URI in the certificate, exactly; a regular expression for
            the whole of it when `subject_is_pattern`.
        issuer: the OpenID Connect issuer in the certificate, exactly; a regular expression for the
            whole of it when `issuer_is_pattern`.
        roots: PEM file of the authority's certificates, or a Sigstore trusted root in JSON; None
            means the public Sigstore instance, whose signatures carry a transparency log's proof.
    """

    subject: str
    issuer: str
    roots: Path | None = None
    subject_is_pattern: bool = False
    issuer_is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """The accepted signers; a signature of any one of them is enough.

    Attributes:
        keys: PEM files of public keys.
        identities: signers by certificate.
    """

    keys: tuple[Path, ...] = ()
    identities: tuple[Identity, ...] = ()


@dataclass(frozen=True, slots=True)
class Signer:
    """The signer of a digest, for the lock and for people.

    Attributes:
        kind: `key`, `certificate` or `keyless`.
        name: for a key `sha256:` and the hex digest of its SubjectPublicKeyInfo; otherwise the
            certificate's subject.
        issuer: the certificate's OpenID Connect issuer; empty for a key.
    """

    kind: str
    name: str
    issuer: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" + (f" ({self.issuer})" if self.issuer else "")
