"""The table of bundles as cosign 3 writes them: valid ones, and faults in each part."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)

from support.http_repository import INDEX, HttpRepository
from support.signed import (
    BUNDLE,
    artifact,
    attach,
    bundle,
    changed_signature,
    dsse_message,
    encoded,
    raw_sign,
    statement,
)
from support.signing_keys import Asked, SigningKeys, Table

TABLE = Table()
accepted, refused, stricter = TABLE.accepted, TABLE.refused, TABLE.stricter

Case = tuple[str, Asked]
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def changed(signing_keys: SigningKeys, repository: HttpRepository, change: Any) -> Case:
    """Returns a valid bundle after `change` of its JSON, which gets the bundle and the
    digest.
    """
    digest = artifact(repository)
    document = bundle(signing_keys.key, statement(digest))
    document = change(document, digest) or document
    attach(repository, digest, document)
    return digest, signing_keys.by_key()


def says(
    signing_keys: SigningKeys,
    repository: HttpRepository,
    payload: Any,
    *,
    key: Any = None,
    **parts: Any,
) -> Case:
    """Returns a bundle by `key`, by default the accepted one, of `payload` for the digest.

    `parts` are those of `bundle`.
    """
    key = key or signing_keys.key
    digest = artifact(repository)
    attach(repository, digest, bundle(key, payload(digest), **parts))
    return digest, signing_keys.by_key(key)


def with_signature(
    signing_keys: SigningKeys, repository: HttpRepository, change: Callable[[str], str]
) -> Case:
    """Returns a valid bundle after `change` of its signature's base64."""

    def replace(document: Any, _: str) -> None:
        envelope = document["dsseEnvelope"]
        message = dsse_message(base64.b64decode(envelope["payload"]))
        envelope["signatures"][0]["sig"] = changed_signature(signing_keys.key, message, change)

    return changed(signing_keys, repository, replace)


def with_signature_bytes(
    signing_keys: SigningKeys, repository: HttpRepository, change: Callable[[bytes], bytes]
) -> Case:
    """Returns a valid bundle after `change` of its signature."""
    return with_signature(
        signing_keys, repository, lambda text: encoded(change(base64.b64decode(text)))
    )


@accepted("good")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, statement)


@refused("by another key")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, _ = says(signing_keys, repository, statement)
    return digest, signing_keys.by_key(signing_keys.other_key)


@refused("payload with a byte flipped")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def flip(document: Any, _: str) -> None:
        payload = bytearray(base64.b64decode(document["dsseEnvelope"]["payload"]))
        payload[-2] ^= 1
        document["dsseEnvelope"]["payload"] = encoded(bytes(payload))

    return changed(signing_keys, repository, flip)


@refused("signature with a byte flipped")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature_bytes(
        signing_keys, repository, lambda raw: raw[:-1] + bytes([raw[-1] ^ 1])
    )


@refused("signature followed by another byte")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature_bytes(signing_keys, repository, lambda raw: raw + b"\0")


@accepted("signature with the other of its two numbers")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def negate(raw: bytes) -> bytes:
        r, s = decode_dss_signature(raw)
        return encode_dss_signature(r, P256_ORDER - s)

    return with_signature_bytes(signing_keys, repository, negate)


@refused("payload type changed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def change(document: Any, _: str) -> None:
        document["dsseEnvelope"]["payloadType"] = "application/json"

    return changed(signing_keys, repository, change)


@refused("another payload type, signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, statement, payload_type="application/json")


@refused("signed without the pre-authentication encoding")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def plainly(key: Any, message: bytes) -> bytes:
        return raw_sign(key, message[message.index(b"{") :])

    return says(signing_keys, repository, statement, sign=plainly)


@stricter("another predicate, signed", "an attestation about a plugin is not its approval")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    provenance = "https://slsa.dev/provenance/v1"
    return says(
        signing_keys, repository, lambda digest: statement(digest, predicateType=provenance)
    )


@stricter("another type of statement, signed", "only the statement that cosign signs is read")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    older = "https://in-toto.io/Statement/v0.1"
    return says(signing_keys, repository, lambda digest: statement(digest, _type=older))


@refused("about another digest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda _: statement("sha256:" + "0" * 64))


@refused("moved to another digest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, _ = artifact(repository), artifact(repository)
    document = bundle(signing_keys.key, statement(artifact(repository)))
    attach(repository, digest, document)
    return digest, signing_keys.by_key()


@accepted("about two digests, one of them this")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def two(digest: str) -> Any:
        other = {"digest": {"sha256": "0" * 64}}
        return statement(digest, subject=[other, *statement(digest)["subject"]])

    return says(signing_keys, repository, two)


@refused("about no digest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda digest: statement(digest, subject=[]))


@refused("digest in capitals", cosign={2: True, 3: False}, why="a digest has one spelling")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def capitals(digest: str) -> Any:
        value = digest.removeprefix("sha256:").upper()
        return statement(digest, subject=[{"digest": {"sha256": value}}])

    return says(signing_keys, repository, capitals)


@refused("digest of another algorithm")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def other(digest: str) -> Any:
        value = digest.removeprefix("sha256:")
        return statement(digest, subject=[{"digest": {"sha512": value}}])

    return says(signing_keys, repository, other)


@refused("statement with a member named twice, signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def twice(digest: str) -> bytes:
        good = json.dumps(statement(digest))
        bad = json.dumps(statement("sha256:" + "0" * 64)["subject"])
        return f'{{"subject":{bad},{good[1:]}'.encode()

    return says(signing_keys, repository, twice)


@refused("statement with an unknown member, signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda digest: statement(digest, more=1))


@accepted("a bad and a good bundle")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(signing_keys.other_key, statement(digest)))
    attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    return digest, signing_keys.by_key()


@refused("envelope with a good and a bad signature")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def add(document: Any, _: str) -> None:
        document["dsseEnvelope"]["signatures"].append({"sig": encoded(b"another")})

    return changed(signing_keys, repository, add)


@refused("envelope with two good signatures")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def add(document: Any, digest: str) -> None:
        again = bundle(signing_keys.key, statement(digest))["dsseEnvelope"]["signatures"]
        document["dsseEnvelope"]["signatures"] += again

    return changed(signing_keys, repository, add)


@refused("envelope without a signature")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(
        signing_keys, repository, lambda one, _: one["dsseEnvelope"].update(signatures=[])
    )


SPELLING = "the same signature would have many spellings"


@stricter("signature in the web's base64", SPELLING)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature(
        signing_keys, repository, lambda s: s.replace("+", "-").replace("/", "_").rstrip("=")
    )


@stricter("payload in base64 without padding", SPELLING)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def strip(document: Any, digest: str) -> Any:
        for fill in ("", " ", "  "):  # repeats until the encoding needs padding
            payload = (json.dumps(statement(digest)) + fill).encode()
            document = bundle(signing_keys.key, payload)
            if document["dsseEnvelope"]["payload"].endswith("="):
                break
        document["dsseEnvelope"]["payload"] = document["dsseEnvelope"]["payload"].rstrip("=")
        return document

    return changed(signing_keys, repository, strip)


@stricter("signature in base64 with line breaks", SPELLING)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    # Four, because cosign infers missing padding from the length.
    return with_signature(signing_keys, repository, lambda s: s[:4] + "\n\n\n\n" + s[4:])


@refused("bundle with a member named twice")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def twice(document: Any, _: str) -> bytes:
        return f'{{"mediaType":{json.dumps(BUNDLE)},{json.dumps(document)[1:]}'.encode()

    return changed(signing_keys, repository, twice)


@refused("bundle with an unknown member")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(signing_keys, repository, lambda one, _: one.update(more=1))


@refused("bundle that is no JSON")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(signing_keys, repository, lambda one, _: json.dumps(one).encode() + b"}")


@accepted("hint of another key")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    hint = encoded(hashlib.sha256(b"another").digest())
    return changed(
        signing_keys,
        repository,
        lambda one, _: one["verificationMaterial"]["publicKey"].update(hint=hint),
    )


@accepted("no hint")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(
        signing_keys, repository, lambda one, _: one["verificationMaterial"]["publicKey"].clear()
    )


@refused("a key id")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(
        signing_keys,
        repository,
        lambda one, _: one["dsseEnvelope"]["signatures"][0].update(keyid="x"),
    )


@accepted("an empty key id")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(
        signing_keys,
        repository,
        lambda one, _: one["dsseEnvelope"]["signatures"][0].update(keyid=""),
    )


@accepted("empty list of log entries")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(
        signing_keys, repository, lambda one, _: one["verificationMaterial"].update(tlogEntries=[])
    )


@accepted("the other spelling of its version")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    other = "application/vnd.dev.sigstore.bundle+json;version=0.3"
    return changed(signing_keys, repository, lambda one, _: one.update(mediaType=other))


@refused("bundle of version 0.2")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    other = "application/vnd.dev.sigstore.bundle+json;version=0.2"
    return changed(signing_keys, repository, lambda one, _: one.update(mediaType=other))


@refused("bundle of version 0.4")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    other = "application/vnd.dev.sigstore.bundle.v0.4+json"
    return changed(signing_keys, repository, lambda one, _: one.update(mediaType=other))


@refused("no verification material")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return changed(signing_keys, repository, lambda one, _: one["verificationMaterial"].clear())


@refused("a message's signature in place of an envelope")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def replace(document: Any, digest: str) -> None:
        manifest = repository.manifest(digest)
        assert manifest is not None
        del document["dsseEnvelope"]
        value = encoded(bytes.fromhex(digest.removeprefix("sha256:")))
        document["messageSignature"] = {
            "messageDigest": {"algorithm": "SHA2_256", "digest": value},
            "signature": encoded(raw_sign(signing_keys.key, manifest.data)),
        }

    return changed(signing_keys, repository, replace)


@refused("layer of another type")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(signing_keys.key, statement(digest)), "application/json")
    return digest, signing_keys.by_key()


@refused("two layers")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(signing_keys.key, statement(digest)), extra_layers=1)
    return digest, signing_keys.by_key()


@accepted("beside referrers of other kinds")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, {"spdxVersion": "SPDX-2.3"}, "application/spdx+json")
    attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    attach(repository, digest, b"\x1f\x8b", "application/octet-stream")
    return digest, signing_keys.by_key()


@refused("only referrers of other kinds")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, {"spdxVersion": "SPDX-2.3"}, "application/spdx+json")
    return digest, signing_keys.by_key()


@refused("not signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return artifact(repository), signing_keys.by_key()


@refused("taken off the list of referrers")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    made = attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    tag = digest.replace(":", "-")
    if repository.manifest(tag) is None:
        repository.delete(made.digest)
    else:
        repository.put_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}, INDEX, tag)
    return digest, signing_keys.by_key()


@accepted("by its tag")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository, "latest")
    attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    return "latest", signing_keys.by_key()


@refused("tag moved to something that is not signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository, "moved")
    attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    artifact(repository, "moved")
    return "moved", signing_keys.by_key()


@accepted("Ed25519")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, statement, key=signing_keys.ed25519)


@refused("Ed25519 over a hash, as cosign itself signs")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def hashed(key: Any, message: bytes) -> bytes:
        return raw_sign(key, hashlib.sha512(message).digest())

    return says(signing_keys, repository, statement, key=signing_keys.ed25519, sign=hashed)


KINDS = "one algorithm for each of two kinds of key leaves nothing to choose or to confuse"


@stricter("RSA", KINDS)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, statement, key=signing_keys.rsa)


@stricter("P-384 with SHA-256", KINDS)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, statement, key=signing_keys.p384)


@refused("P-384 with SHA-384, as cosign itself signs")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def longer(key: Any, message: bytes) -> bytes:
        return raw_sign(key, message, hashes.SHA384())

    return says(signing_keys, repository, statement, key=signing_keys.p384, sign=longer)
