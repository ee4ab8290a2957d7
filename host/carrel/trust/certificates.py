"""Signing certificates: subject, issuer, and the chain to an authority."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.x509 import verification
from cryptography.x509.oid import ExtendedKeyUsageOID

from .strict import RefusedError

_AGNOSTIC = verification.Criticality.AGNOSTIC
#: Fulcio's extensions for the OpenID Connect issuer: first the text itself, later a DER string.
_ISSUER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
_ISSUER_DER = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
#: Fulcio's kind of name for user names that are not e-mail addresses.
_OTHER_NAME = x509.ObjectIdentifier("1.3.6.1.4.1.57264.1.7")
#: The most certificates in an authority's file.
_MAX_ROOTS = 100


def read_roots(path: Path) -> list[x509.Certificate]:
    """Reads an authority's certificates from a PEM file.

    Raises:
        RefusedError: no certificates in it.
        OSError: it cannot be read.
    """
    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())
    except ValueError:
        raise RefusedError(f"{path} holds no certificates in PEM") from None
    return found[:_MAX_ROOTS]


def read_chain(chain: Sequence[bytes]) -> list[x509.Certificate]:
    """Parses certificates in DER.

    Raises:
        RefusedError: one of them is none.
    """
    try:
        return [x509.load_der_x509_certificate(certificate) for certificate in chain]
    except ValueError:
        raise RefusedError("its certificate cannot be read") from None


def subject_names(leaf: x509.Certificate, *, only_first: bool) -> list[str]:
    """Returns the subjects of a certificate.

    A bundle's certificate has one subject, a URI before an e-mail address, as for cosign; in the
    older layout every name is a subject.
    """
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        raise RefusedError("its certificate names no signer") from None
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    mails = names.get_values_for_type(x509.RFC822Name)
    other_names = [
        _der_text(name.value)
        for name in names.get_values_for_type(x509.OtherName)
        if name.type_id == _OTHER_NAME
    ]
    if only_first:
        return [*uris, *mails, *other_names][:1]
    addresses: list[ipaddress.IPv4Address | ipaddress.IPv6Address] = [
        address
        for address in names.get_values_for_type(x509.IPAddress)
        if isinstance(address, (ipaddress.IPv4Address, ipaddress.IPv6Address))
    ]
    hosts = names.get_values_for_type(x509.DNSName)
    return [*hosts, *mails, *map(str, addresses), *uris, *other_names]


def issuer_name(leaf: x509.Certificate, *, older: bool) -> str:
    """Returns the OpenID Connect issuer in a certificate; empty when there is none.

    Verifiers of the older layout read the first of the two extensions only.

    Raises:
        RefusedError: the two extensions contradict each other.
    """
    plain = _extension(leaf, _ISSUER)
    first = "" if plain is None else plain.decode("utf-8")
    encoded = _extension(leaf, _ISSUER_DER)
    if encoded is None:
        return first
    second = _der_text(encoded)
    if plain is not None and first != second:
        raise RefusedError("its certificate names two issuers")
    return first if older else second


def check_chain(
    leaf: x509.Certificate,
    intermediates: Sequence[x509.Certificate],
    roots: Sequence[x509.Certificate],
    times: Sequence[datetime],
) -> None:
    """Checks that a code-signing certificate chains to one of `roots` at each of `times`.

    Raises:
        RefusedError: no valid chain at one of the times, or another purpose.
    """
    for time in times:
        try:
            (
                verification.PolicyBuilder()
                .store(verification.Store(list(roots)))
                .time(time)
                .extension_policies(ca_policy=_authorities(), ee_policy=_signers())
                .build_client_verifier()
                .verify(leaf, list(intermediates))
            )
        except (verification.VerificationError, x509.UnsupportedGeneralNameType) as error:
            _refuse_time(leaf, time)
            raise RefusedError(f"its certificate does not lead to an authority: {error}") from None


def check_time(leaf: x509.Certificate, time: datetime) -> None:
    """Checks that `time` is within a certificate's validity.

    Raises:
        RefusedError: it is not.
    """
    _refuse_time(leaf, time)


def _refuse_time(leaf: x509.Certificate, time: datetime) -> None:
    if leaf.not_valid_after_utc < time:
        raise RefusedError(f"its certificate expired on {leaf.not_valid_after_utc:%Y-%m-%d}")
    if leaf.not_valid_before_utc > time:
        raise RefusedError(f"its certificate starts on {leaf.not_valid_before_utc:%Y-%m-%d}")


def _authorities() -> verification.ExtensionPolicy:
    # Not the web's profile: private authorities rarely follow it, and cosign does not require it.
    return (
        verification.ExtensionPolicy.permit_all()
        .require_present(x509.BasicConstraints, _AGNOSTIC, _is_authority)
        .may_be_present(x509.KeyUsage, _AGNOSTIC, _may_sign_certificates)
        .may_be_present(x509.ExtendedKeyUsage, _AGNOSTIC, _allows_code_signing)
    )


def _signers() -> verification.ExtensionPolicy:
    return verification.ExtensionPolicy.permit_all().require_present(
        x509.ExtendedKeyUsage, _AGNOSTIC, _is_for_code_signing
    )


def _is_authority(_policy: object, _certificate: object, extension: x509.BasicConstraints) -> None:
    if not extension.ca:
        raise ValueError("not an authority")


def _may_sign_certificates(
    _policy: object, _certificate: object, usage: x509.KeyUsage | None
) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("an authority that may not sign certificates")


def _allows_code_signing(
    _policy: object, _certificate: object, usage: x509.ExtendedKeyUsage | None
) -> None:
    allowed = {ExtendedKeyUsageOID.CODE_SIGNING, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    if usage is not None and not allowed & set(usage):
        raise ValueError("an authority that is not for code signing")


def _is_for_code_signing(
    _policy: object, _certificate: object, usage: x509.ExtendedKeyUsage
) -> None:
    if ExtendedKeyUsageOID.CODE_SIGNING not in usage:
        raise ValueError("a certificate that is not for code signing")


def _extension(leaf: x509.Certificate, oid: x509.ObjectIdentifier) -> bytes | None:
    try:
        value = leaf.extensions.get_extension_for_oid(oid).value
    except x509.ExtensionNotFound:
        return None
    return value.value if isinstance(value, x509.UnrecognizedExtension) else None


def _der_text(data: bytes) -> str:
    """Reads a DER UTF8String of up to 65,535 bytes."""
    tag, length, body = data[:1], data[1:2], data[2:]
    size = length[0] if length else -1
    if size in {0x81, 0x82}:
        digits = size - 0x80
        size, body = int.from_bytes(body[:digits], "big"), body[digits:]
    if tag != b"\x0c" or size != len(body):
        raise RefusedError("its certificate holds text that cannot be read")
    return body.decode("utf-8")
