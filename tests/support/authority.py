"""Makes a certificate authority, and signers' certificates with any fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
ISSUER_DER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
CODE_SIGNING = ExtendedKeyUsageOID.CODE_SIGNING
NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Any

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)


@dataclass(frozen=True)
class Wanted:
    """The contents of a signer's certificate; `replace` makes one with a fault."""

    names: Sequence[x509.GeneralName] = (x509.RFC822Name("dev@example.org"),)
    issuer: str | None = "https://id.example.org"
    issuer_der: str | None = "https://id.example.org"
    usages: Sequence[x509.ObjectIdentifier] = (CODE_SIGNING,)
    starts: datetime = NOW - HOUR
    ends: datetime = NOW + HOUR
    others: Sequence[tuple[x509.ExtensionType, bool]] = ()


def p256() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def root(
    name: str = "Root", *, starts: datetime = NOW - 9 * HOUR, ends: datetime = NOW + 9 * HOUR
) -> Issued:
    key = p256()
    return Issued(
        _certificate(name, key, name, key, starts=starts, ends=ends, extensions=_authority()), key
    )


def intermediate(
    above: Issued,
    *,
    ca: bool = True,
    may_sign: bool = True,
    usages: Sequence[x509.ObjectIdentifier] = (),
) -> Issued:
    key = p256()
    extensions = _authority(ca=ca)
    if usages:
        extensions.append((x509.ExtendedKeyUsage(usages), False))
    if not may_sign:
        extensions.append((key_usage(digital_signature=True), True))
    made = _certificate(
        "Intermediate",
        key,
        _name_of(above),
        above.key,
        starts=NOW - 8 * HOUR,
        ends=NOW + 8 * HOUR,
        extensions=extensions,
    )
    return Issued(made, key)


def leaf(above: Issued, wanted: Wanted = Wanted(), key: Any = None, **changes: Any) -> Issued:
    wanted = replace(wanted, **changes)
    key = key or p256()
    extensions: list[tuple[x509.ExtensionType, bool]] = []
    if wanted.names:
        extensions.append((x509.SubjectAlternativeName(list(wanted.names)), True))
    if wanted.usages:
        extensions.append((x509.ExtendedKeyUsage(list(wanted.usages)), False))
    if wanted.issuer is not None:
        value = wanted.issuer.encode()
        extensions.append((x509.UnrecognizedExtension(ISSUER, value), False))
    if wanted.issuer_der is not None:
        value = wanted.issuer_der.encode()
        value = bytes([0x0C, len(value)]) + value
        extensions.append((x509.UnrecognizedExtension(ISSUER_DER, value), False))
    extensions += wanted.others
    made = _certificate(
        "",
        key,
        _name_of(above),
        above.key,
        starts=wanted.starts,
        ends=wanted.ends,
        extensions=extensions,
    )
    return Issued(made, key)


def self_signed(pretended: Issued) -> Issued:
    """Returns a certificate with the issuer `pretended`, signed by its own key."""
    key = p256()
    return leaf(Issued(pretended.certificate, key), key=key)


def key_usage(**allowed: bool) -> x509.KeyUsage:
    """Returns a key usage extension with only the named usages."""
    known = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment",
        "key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: allowed.get(name, False) for name in known})


def _authority(*, ca: bool = True) -> list[tuple[x509.ExtensionType, bool]]:
    return [(x509.BasicConstraints(ca=ca, path_length=None), True)]


def _name_of(issued: Issued) -> str:
    (name,) = issued.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(name.value)


def _certificate(
    subject: str,
    key: Any,
    issuer: str,
    signer: Any,
    *,
    starts: datetime,
    ends: datetime,
    extensions: Sequence[tuple[x509.ExtensionType, bool]],
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(_common_name(subject))
        .issuer_name(_common_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(starts)
        .not_valid_after(ends)
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    plain = isinstance(signer, Ed25519PrivateKey)
    return builder.sign(signer, None if plain else hashes.SHA256())


def _common_name(name: str) -> x509.Name:
    if not name:
        return x509.Name([])
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
