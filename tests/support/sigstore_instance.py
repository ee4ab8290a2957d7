"""A minimal Sigstore instance: an authority, a certificate log, and a signature log.

Verifiers see only what the three sign, so no server is needed: the test makes the ten-minute
certificate, its certificate timestamp, the log entry with its promise and inclusion proof, and the
trusted root with the three keys.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from support.authority import ISSUER, ISSUER_DER, Issued, key_usage, p256
from support.signed import bundle, encoded, raw_sign, statement
from support.signing_keys import ISSUER as ISSUER_URL
from support.signing_keys import TRUSTED_ROOT, WHO

_TIMESTAMPS = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
HOST = "log.example.org"
#: With the tree's number, by which verifiers recognize the first generation of logs.
ORIGIN = f"{HOST} - 4711"
Json = dict[str, Any]


def make_root() -> Issued:
    """Returns an authority whose certificate has the extensions that the web PKI requires."""
    key = p256()
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Example"),
            x509.NameAttribute(NameOID.COMMON_NAME, "Example"),
        ]
    )
    usage = key_usage(key_cert_sign=True, crl_sign=True)
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=10))
        .not_valid_after(now + timedelta(days=10))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .sign(key, hashes.SHA256())
    )
    return Issued(certificate, key)


@dataclass(frozen=True)
class Faults:
    """Faults of one signature; none by default.

    Attributes:
        certificate_log: the key that signs the certificate timestamp.
        promise_log: the key that signs the log's promise.
        proof_log: the key that signs the log's checkpoint.
        logged_minutes_late: minutes from the certificate's expiry to the log entry.
        other_entry: the log entry is for another payload.
        subject: the certificate's name.
        issuer: the certificate's issuer.
        root: another authority issues the certificate.
    """

    certificate_log: Any = None
    promise_log: Any = None
    proof_log: Any = None
    logged_minutes_late: int = 0
    other_entry: bool = False
    subject: str = WHO
    issuer: str = ISSUER_URL
    root: Issued | None = None


@dataclass
class SigstoreInstance:
    """The three keys; makes signatures with them."""

    root: Issued = field(default_factory=make_root)
    certificate_log: Any = field(default_factory=p256)
    log: Any = field(default_factory=p256)

    def trusted_root(self) -> bytes:
        """Returns the trusted root for verifiers."""
        valid = {"start": "2020-01-01T00:00:00Z"}
        authority = {
            "subject": {"organization": "Example", "commonName": "Example"},
            "uri": "https://ca.example.org",
            "certChain": {"certificates": [{"rawBytes": encoded(self.root.der)}]},
            "validFor": valid,
        }
        return json.dumps(
            {
                "mediaType": TRUSTED_ROOT,
                "tlogs": [_log("https://log.example.org", self.log)],
                "certificateAuthorities": [authority],
                "ctlogs": [_log("https://ct.example.org", self.certificate_log)],
            }
        ).encode()

    def sign(self, digest: str, faults: Faults = Faults()) -> Json:
        """Returns a bundle for a digest, signed an hour ago with a ten-minute certificate."""
        moment = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
        signer = self._certificate(moment, faults)
        made = bundle(signer, statement(digest))
        logged = moment + timedelta(minutes=5)
        if faults.logged_minutes_late:
            logged = moment + timedelta(minutes=10 + faults.logged_minutes_late)
        entry = self._entry(made, signer, int(logged.timestamp()), faults)
        made["verificationMaterial"]["tlogEntries"] = [entry]
        return made

    def _certificate(self, moment: datetime, faults: Faults) -> Issued:
        key, authority = p256(), faults.root or self.root
        issuer = faults.issuer.encode()
        der_issuer = bytes([0x0C, len(issuer)]) + issuer
        usage = key_usage(digital_signature=True)
        above = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(authority.certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(moment)
            .not_valid_after(moment + timedelta(minutes=10))
            .add_extension(usage, critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(above, False)
            .add_extension(x509.SubjectAlternativeName([x509.RFC822Name(faults.subject)]), True)
            .add_extension(x509.UnrecognizedExtension(ISSUER, issuer), False)
            .add_extension(x509.UnrecognizedExtension(ISSUER_DER, der_issuer), False)
        )
        unlogged = builder.sign(authority.key, hashes.SHA256())
        timestamps = self._timestamps(unlogged, authority, moment, faults)
        builder = builder.add_extension(
            x509.UnrecognizedExtension(_TIMESTAMPS, timestamps), critical=False
        )
        return Issued(builder.sign(authority.key, hashes.SHA256()), key)

    def _timestamps(
        self, unlogged: x509.Certificate, authority: Issued, moment: datetime, faults: Faults
    ) -> bytes:
        """Returns the extension's list of one signed certificate timestamp (RFC 6962)."""
        log_id = _key_id(self.certificate_log)
        time = int(moment.timestamp() * 1000)
        body = unlogged.tbs_certificate_bytes
        signed = struct.pack("!BBQH", 0, 0, time, 1) + _key_id(authority.key)
        signed += len(body).to_bytes(3, "big") + body + struct.pack("!H", 0)
        signature = raw_sign(faults.certificate_log or self.certificate_log, signed)
        one = struct.pack("!B", 0) + log_id + struct.pack("!QH", time, 0)
        one += struct.pack("!BBH", 4, 3, len(signature)) + signature
        listed = struct.pack("!H", len(one)) + one
        listed = struct.pack("!H", len(listed)) + listed
        return bytes([0x04]) + _der_length(len(listed)) + listed

    def _entry(self, made: Json, signer: Issued, time: int, faults: Faults) -> Json:
        payload = base64.b64decode(made["dsseEnvelope"]["payload"])
        envelope = json.dumps(made["dsseEnvelope"]).encode()
        spec = {
            "envelopeHash": {"algorithm": "sha256", "value": hashlib.sha256(envelope).hexdigest()},
            "payloadHash": {
                "algorithm": "sha256",
                "value": hashlib.sha256(payload + b" " * faults.other_entry).hexdigest(),
            },
            "signatures": [
                {
                    "signature": made["dsseEnvelope"]["signatures"][0]["sig"],
                    "verifier": encoded(signer.pem),
                }
            ],
        }
        body = _canonical({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec})
        log_id = _key_id(self.log)
        promised = {
            "body": encoded(body),
            "integratedTime": time,
            "logID": log_id.hex(),
            "logIndex": 0,
        }
        leaf = hashlib.sha256(b"\0" + body).digest()
        note = f"{ORIGIN}\n1\n{encoded(leaf)}\n"
        signature = log_id[:4] + raw_sign(faults.proof_log or self.log, note.encode())
        return {
            "logIndex": "0",
            "logId": {"keyId": encoded(log_id)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(time),
            "inclusionPromise": {
                "signedEntryTimestamp": encoded(
                    raw_sign(faults.promise_log or self.log, _canonical(promised))
                )
            },
            "inclusionProof": {
                "logIndex": "0",
                "rootHash": encoded(leaf),
                "treeSize": "1",
                "hashes": [],
                "checkpoint": {"envelope": f"{note}\n\u2014 {HOST} {encoded(signature)}\n"},
            },
            "canonicalizedBody": encoded(body),
        }


def _log(url: str, key: ec.EllipticCurvePrivateKey) -> Json:
    return {
        "baseUrl": url,
        "hashAlgorithm": "SHA2_256",
        "publicKey": {
            "rawBytes": encoded(_key_bytes(key)),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": {"start": "2020-01-01T00:00:00Z"},
        },
        "logId": {"keyId": encoded(_key_id(key))},
    }


def _key_bytes(key: Any) -> bytes:
    data: bytes = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return data


def _key_id(key: Any) -> bytes:
    return hashlib.sha256(_key_bytes(key)).digest()


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _der_length(length: int) -> bytes:
    if length < 0x80:
        return bytes([length])
    digits = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([0x80 + len(digits)]) + digits
