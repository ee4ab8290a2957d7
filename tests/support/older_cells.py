"""The table of the older layout, simple signing: valid signatures, and faults in each part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from support.http_repository import INDEX, HttpRepository
from support.signed import (
    artifact,
    attach,
    attach_older,
    bundle,
    changed_signature,
    encoded,
    older_layer,
    payload_of,
    raw_sign,
    statement,
)
from support.signing_keys import Asked, SigningKeys, Table

TABLE = Table()
accepted, refused, stricter = TABLE.accepted, TABLE.refused, TABLE.stricter
Case = tuple[str, Asked]


def says(
    signing_keys: SigningKeys,
    repository: HttpRepository,
    payload: Any,
    *,
    key: Any = None,
    **parts: Any,
) -> Case:
    """Returns a signature by `key`, by default the accepted one, of `payload` for the digest.

    `parts` are those of `older_layer`.
    """
    key = key or signing_keys.key
    digest = artifact(repository)
    attach_older(repository, digest, older_layer(repository, key, payload(digest), **parts))
    return digest, signing_keys.by_key(key)


def with_signature(
    signing_keys: SigningKeys, repository: HttpRepository, change: Callable[[str], str]
) -> Case:
    """Returns a valid signature after `change` of its base64."""
    digest = artifact(repository)
    body = json.dumps(payload_of(digest)).encode()
    signature = changed_signature(signing_keys.key, body, change)
    attach_older(
        repository, digest, older_layer(repository, signing_keys.key, body, signature=signature)
    )
    return digest, signing_keys.by_key()


@accepted("good")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, payload_of)


@refused("by another key")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, _ = says(signing_keys, repository, payload_of)
    return digest, signing_keys.by_key(signing_keys.other_key)


@refused("payload exchanged")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    other = json.dumps(payload_of("sha256:" + "0" * 64)).encode()
    signature = encoded(raw_sign(signing_keys.key, other))
    layer = older_layer(repository, signing_keys.key, payload_of(digest), signature=signature)
    attach_older(repository, digest, layer)
    return digest, signing_keys.by_key()


@refused("signature with a byte flipped")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature(
        signing_keys, repository, lambda s: s[:20] + ("A" if s[20] != "A" else "B") + s[21:]
    )


@refused("about another digest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda _: payload_of("sha256:" + "0" * 64))


@refused("moved to another digest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    signed, digest = artifact(repository), artifact(repository)
    attach_older(repository, digest, older_layer(repository, signing_keys.key, payload_of(signed)))
    return digest, signing_keys.by_key()


@stricter("another type of payload, signed", "a key signs more than plugins; the type says which")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda digest: payload_of(digest, type="another"))


@accepted("a bad and a good signature")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    layers = [
        older_layer(repository, signing_keys.other_key, payload_of(digest)),
        older_layer(repository, signing_keys.key, payload_of(digest, identity={})),
    ]
    attach_older(repository, digest, *layers)
    return digest, signing_keys.by_key()


SPELLING = "the same signature would have many spellings"


@stricter("signature in base64 with a line break", SPELLING)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature(signing_keys, repository, lambda s: s[:4] + "\n" + s[4:])


@stricter("signature in base64 with stray bits", SPELLING)
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def stray(signature: str) -> str:
        digits = signature.rstrip("=")
        if digits == signature:  # every bit of the last digit is significant
            return signature
        last = alphabet[alphabet.index(digits[-1]) + 1]
        return digits[:-1] + last + signature[len(digits) :]

    return with_signature(signing_keys, repository, stray)


@refused("signature in the web's base64")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature(signing_keys, repository, lambda s: s.replace("+", "-").replace("/", "_"))


@refused("signature without padding")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return with_signature(signing_keys, repository, lambda s: s.rstrip("="))


@refused("no signature")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    layer = older_layer(repository, signing_keys.key, payload_of(digest))
    attach_older(repository, digest, {**layer, "annotations": {}})
    return digest, signing_keys.by_key()


@stricter("a member named twice, signed", "two readers would read two different things")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def twice(digest: str) -> bytes:
        bad = json.dumps(payload_of("sha256:" + "0" * 64)["critical"])
        return f'{{"critical":{bad},{json.dumps(payload_of(digest))[1:]}'.encode()

    return says(signing_keys, repository, twice)


@stricter("members in capitals, signed", "JSON's names are exact")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    def capitals(digest: str) -> bytes:
        return json.dumps(payload_of(digest)).replace("critical", "CRITICAL").encode()

    return says(signing_keys, repository, capitals)


@accepted("an unknown member, signed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, lambda digest: {**payload_of(digest), "more": 1})


@accepted("layer of another type")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, payload_of, media_type="application/json")


@refused("an index in place of the manifest")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, asked = says(signing_keys, repository, payload_of)
    tag = f"{digest.replace(':', '-')}.sig"
    repository.put_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": []}, INDEX, tag)
    return digest, asked


@refused("no layers")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach_older(repository, digest)
    return digest, signing_keys.by_key()


@refused("tag removed")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    signed, asked = says(signing_keys, repository, payload_of)
    assert signed
    return artifact(repository), asked


@accepted("Ed25519")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, payload_of, key=signing_keys.ed25519)


@stricter("RSA", "one algorithm for each of two kinds of key leaves nothing to choose")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return says(signing_keys, repository, payload_of, key=signing_keys.rsa)


@accepted("good in both layouts")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, asked = says(signing_keys, repository, payload_of)
    attach(repository, digest, bundle(signing_keys.key, statement(digest)))
    return digest, asked


@refused("beside a bundle by another key")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, asked = says(signing_keys, repository, payload_of)
    attach(repository, digest, bundle(signing_keys.other_key, statement(digest)))
    return digest, asked


@accepted("beside a referrer of another kind")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest, asked = says(signing_keys, repository, payload_of)
    attach(repository, digest, {"spdxVersion": "SPDX-2.3"}, "application/spdx+json")
    return digest, asked
