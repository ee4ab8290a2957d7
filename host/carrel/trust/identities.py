"""Signers by certificate: matching a certificate against an identity."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from .certificates import check_chain, issuer_name, read_chain, read_roots, subject_names
from .find import SignatureCandidate
from .keyless import check_keyless
from .keys import accepted, has_signed
from .policy import Identity, Signer
from .strict import RefusedError


@dataclass(frozen=True, slots=True)
class Authority:
    """An identity with its authority's certificates; without any for a Sigstore instance."""

    identity: Identity
    roots: tuple[x509.Certificate, ...]

    def signer(self, candidate: SignatureCandidate, digest: str) -> Signer:
        """Returns the signer of `digest` if it has this identity.

        Raises:
            RefusedError: the signer is another, or the certificate is not valid.
        """
        if not self.roots:
            name, issuer = self._check_keyless(candidate, digest)
            return Signer("keyless", name, issuer)
        leaf, *intermediates = read_chain(candidate.certificates)
        times = [datetime.now(UTC)]
        if candidate.older:
            times.append(leaf.not_valid_before_utc)
        elif any(certificate.subject == certificate.issuer for certificate in intermediates):
            raise RefusedError("its chain brings an authority of its own")
        check_chain(leaf, intermediates, self.roots, times)
        # Only now: patterns are matched only against certificates with a valid chain.
        name, issuer = _names(leaf, candidate.older, self.identity)
        if not has_signed(accepted(leaf.public_key()), candidate.signature, candidate.message):
            raise RefusedError("the key of its certificate did not make it")
        candidate.check_claim(digest)
        return Signer("certificate", name, issuer)

    def _check_keyless(self, candidate: SignatureCandidate, digest: str) -> tuple[str, str]:
        if candidate.older:
            raise RefusedError(
                "signatures of a Sigstore instance are accepted as bundles only (cosign 3)"
            )
        found: list[tuple[str, str]] = []

        def check_identity(leaf: x509.Certificate) -> None:
            found.append(_names(leaf, candidate.older, self.identity))

        check_keyless(candidate.document, digest, self.identity.roots, check_identity)
        return found[0]


def read_authority(identity: Identity) -> Authority:
    """Reads an identity's file of roots.

    Raises:
        RefusedError: a pattern is invalid, or the file has no certificates.
        OSError: the file cannot be read.
    """
    _check_patterns(identity)
    if identity.roots is None or _is_trusted_root(identity.roots):
        return Authority(identity, ())
    return Authority(identity, tuple(read_roots(identity.roots)))


def _is_trusted_root(path: Path) -> bool:
    """Whether a file of roots is a Sigstore instance's trusted root, which is JSON."""
    return path.read_bytes().lstrip()[:1] == b"{"


def _check_patterns(identity: Identity) -> None:
    for pattern, is_pattern in (
        (identity.subject, identity.subject_is_pattern),
        (identity.issuer, identity.issuer_is_pattern),
    ):
        try:
            if is_pattern:
                re.compile(pattern)
        except re.error as error:
            raise RefusedError(f"{pattern!r} is not a regular expression: {error}") from None


def _names(leaf: x509.Certificate, older: bool, identity: Identity) -> tuple[str, str]:
    """Returns the subject and issuer of a certificate if `identity` matches them."""
    names = subject_names(leaf, only_first=not older)
    issuer = issuer_name(leaf, older=older)
    for name in names:
        if _matches(name, identity.subject, identity.subject_is_pattern) and _matches(
            issuer, identity.issuer, identity.issuer_is_pattern
        ):
            return name, issuer
    who = ", ".join(names) or "nobody"
    raise RefusedError(
        f"it is by {who} of {issuer or 'no issuer'}, not {identity.subject} of {identity.issuer}"
    )


def _matches(value: str, expected: str, is_pattern: bool) -> bool:
    if not value:
        return False
    return bool(re.fullmatch(expected, value)) if is_pattern else value == expected
