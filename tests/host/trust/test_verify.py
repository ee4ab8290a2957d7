"""Tests verification: reports, limits, and verification of cached plugins."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509

from carrel.errors import RegistryError, SignatureError
from carrel.oci.registry import open_repository
from carrel.oci.repository import Descriptor
from carrel.trust import find, sign
from carrel.trust.keys import fingerprint
from carrel.trust.policy import Identity, Signer, TrustPolicy
from carrel.trust.strict import MAX_DOCUMENT_BYTES
from carrel.trust.verify import verify
from support.http_repository import MANIFEST, HttpRepository
from support.memory_repository import MemoryRepository
from support.registries import Registry
from support.signed import (
    attach,
    attach_older,
    bundle,
    descriptor_json,
    older_layer,
    payload_of,
    statement,
)
from support.signing_keys import ISSUER, WHO, SigningKeys


@pytest.fixture
def memory() -> MemoryRepository:
    return MemoryRepository()


def put_artifact(repository: MemoryRepository) -> str:
    return repository.put_manifest(b'{"schemaVersion":2}', MANIFEST).digest


def refusal(repository: MemoryRepository, digest: str, policy: TrustPolicy) -> SignatureError:
    with pytest.raises(SignatureError) as caught:
        verify(repository, digest, policy, plugin="lists")
    assert caught.value.plugin == "lists"
    return caught.value


# Who signed, and why not


def test_the_signer_is_named(memory: MemoryRepository, signing_keys: SigningKeys) -> None:
    digest = put_artifact(memory)
    sign.sign(memory, digest, signing_keys.key)
    assert verify(memory, digest, signing_keys.by_key().policy) == Signer(
        "key", fingerprint(signing_keys.key.public_key())
    )
    sign.sign(memory, digest, signing_keys.leaf.key, certificates=[signing_keys.leaf.certificate])
    assert verify(memory, digest, signing_keys.by_identity().policy) == Signer(
        "certificate", WHO, ISSUER
    )


def test_any_of_the_keys_and_identities_is_enough(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    sign.sign(memory, digest, signing_keys.key)
    keys = (
        *signing_keys.by_key(signing_keys.other_key).policy.keys,
        *signing_keys.by_key().policy.keys,
    )
    policy = TrustPolicy(keys, signing_keys.by_identity().policy.identities)
    assert verify(memory, digest, policy).name == fingerprint(signing_keys.key.public_key())


@pytest.mark.requirement("plugin:signed:refused")
def test_each_signature_is_named_with_its_reason(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    attach(memory, digest, bundle(signing_keys.other_key, statement(digest)))
    attach(memory, digest, bundle(signing_keys.key, statement("sha256:" + "0" * 64)))
    attach(memory, digest, bundle(signing_keys.leaf, statement(digest)))
    attach(memory, digest, b"{}")
    error = refusal(memory, digest, signing_keys.by_key().policy)
    reasons = [one.partition(": ")[2] for one in error.tried]
    assert reasons == [
        "none of the accepted keys made it",
        "it was made for another digest",
        "a certificate signed it, and the policy names keys",
        "the bundle has no 'mediaType'",
    ]
    assert all(reason in error.message for reason in reasons)
    assert "\n" not in error.message


def test_verify_reports_that_a_legacy_signature_is_ignored_beside_a_bundle(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    attach(memory, digest, bundle(signing_keys.other_key, statement(digest)))
    attach_older(memory, digest, older_layer(memory, signing_keys.key, payload_of(digest)))
    attempt = refusal(memory, digest, signing_keys.by_key().policy).tried[-1]
    assert attempt == "older signatures: not read, because there is a bundle"


@pytest.mark.requirement("plugin:signed:beside-attestations")
def test_an_attestation_does_not_replace_a_signature_of_the_older_layout(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    provenance = "https://slsa.dev/provenance/v1"
    for key in (signing_keys.key, signing_keys.other_key):
        attach(memory, digest, bundle(key, statement(digest, predicateType=provenance)))
    attach_older(memory, digest, older_layer(memory, signing_keys.key, payload_of(digest)))
    verify(memory, digest, signing_keys.by_key().policy)
    attempts = refusal(memory, digest, signing_keys.by_key(signing_keys.ed25519).policy).tried
    assert not any("not read" in one for one in attempts)


def test_a_wrong_identity_is_refused_with_the_certificates_identity(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    attach(memory, digest, bundle(signing_keys.leaf, statement(digest)))
    error = refusal(memory, digest, signing_keys.by_identity("other@example.org").policy)
    assert f"it is by {WHO} of {ISSUER}, not other@example.org of {ISSUER}" in error.message


def test_texts_of_a_signature_cannot_control_a_terminal(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    hostile = "\x1b[2J\u202e" + "x" * 5000
    attach(memory, digest, bundle(signing_keys.key, statement(digest, predicateType=hostile)))
    (attempt,) = refusal(memory, digest, signing_keys.by_key().policy).tried
    assert "\x1b" not in attempt
    assert "\u202e" not in attempt
    assert len(attempt) < 500


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda _: TrustPolicy(), "names no accepted signer"),
        (lambda folder: TrustPolicy((folder / "absent.pub",)), "absent.pub: No such file"),
        (lambda folder: TrustPolicy((folder / "bad.pub",)), "bad.pub: not a public key"),
        (
            lambda folder: TrustPolicy((), (Identity("a", "b", folder / "bad.pub"),)),
            "bad.pub holds no certificates",
        ),
        (
            lambda folder: TrustPolicy(
                (), (Identity("(", "b", folder / "bad.pub", subject_is_pattern=True),)
            ),
            "is not a regular expression",
        ),
    ],
)
def test_a_policy_that_cannot_be_used_accepts_nothing(
    policy: object,
    message: str,
    memory: MemoryRepository,
    signing_keys: SigningKeys,
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.pub").write_text("nothing of the kind", "utf-8")
    digest = put_artifact(memory)
    sign.sign(memory, digest, signing_keys.key)
    assert callable(policy)
    assert message in refusal(memory, digest, policy(tmp_path)).message


def test_only_a_digest_is_verified(memory: MemoryRepository, signing_keys: SigningKeys) -> None:
    error = refusal(memory, "latest", signing_keys.by_key().policy)
    assert "only a digest can be verified" in error.message


def test_a_registry_without_referrers_is_an_error_and_no_verdict(signing_keys: SigningKeys) -> None:
    class Down(MemoryRepository):
        def referrers(self, digest: str) -> list[Descriptor]:
            raise RegistryError("no route to it", status=503)

    with pytest.raises(RegistryError, match="no route"):
        verify(Down(), "sha256:" + "0" * 64, signing_keys.by_key().policy)


def test_a_signature_that_cannot_be_fetched_does_not_hide_the_others(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    broken = attach(memory, digest, bundle(signing_keys.other_key, statement(digest)))
    layer = json.loads(memory.manifests[broken.digest].data)["layers"][0]["digest"]
    del memory.blobs[layer]
    sign.sign(memory, digest, signing_keys.key)
    assert verify(memory, digest, signing_keys.by_key().policy).kind == "key"


def test_halves_of_characters_are_refused(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    document = bundle(signing_keys.key, statement(digest))
    document["dsseEnvelope"]["payloadType"] = "\ud800"
    attach(memory, digest, document)
    older = older_layer(memory, signing_keys.key, payload_of(digest))
    older["annotations"]["dev.sigstore.cosign/certificate"] = "\udfff"
    attach_older(memory, digest, older)
    assert len(refusal(memory, digest, signing_keys.by_key().policy).tried) == 2


def test_a_pattern_is_not_matched_against_an_unlisted_name(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    """Another signer's certificate could have a name on which the pattern backtracks for ever."""
    name = x509.RFC822Name("a" * 28 + "@example.org")
    digest = put_artifact(memory)
    attach(
        memory,
        digest,
        bundle(signing_keys.leaf_with(signing_keys.other_root, names=[name]), statement(digest)),
    )
    policy = signing_keys.by_identity(r"(a+)+!", ".*", pattern=True).policy
    started = time.perf_counter()
    assert "does not lead to an authority" in refusal(memory, digest, policy).message
    assert time.perf_counter() - started < 2


# Bounds


def test_no_more_referrers_are_read_than_the_bound(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    made = attach(memory, digest, bundle(signing_keys.other_key, statement(digest)))
    memory.about[digest] = [made] * 10_000
    started = time.perf_counter()
    error = refusal(memory, digest, signing_keys.by_key().policy)
    assert time.perf_counter() - started < 2
    assert len(error.tried) == find.MAX_REFERRERS + 1
    assert "and 60 more" in error.message


def test_no_more_older_signatures_are_read_than_the_bound(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    layer = older_layer(memory, signing_keys.other_key, payload_of(digest))
    attach_older(memory, digest, *[layer] * 900)
    error = refusal(memory, digest, signing_keys.by_key().policy)
    assert len(error.tried) == find.MAX_OLDER + 1


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b" " * (MAX_DOCUMENT_BYTES + 1), "larger than it may be"),
        (b"[" * MAX_DOCUMENT_BYTES, "nested too deeply"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "deeper than 32"),
        (b'{"mediaType":' + b"9" * 100_000 + b"}", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"NaN", "not JSON"),
        (b"[]", "not a JSON object"),
    ],
)
def test_documents_without_measure_are_refused(
    document: bytes, reason: str, memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    attach(memory, digest, document)
    started = time.perf_counter()
    (attempt,) = refusal(memory, digest, signing_keys.by_key().policy).tried
    assert reason in attempt
    assert time.perf_counter() - started < 2


def test_a_manifest_without_measure_is_refused(
    memory: MemoryRepository, signing_keys: SigningKeys
) -> None:
    digest = put_artifact(memory)
    tag = find.older_tag(digest)
    attach_older(memory, digest, older_layer(memory, signing_keys.key, payload_of(digest)))
    good = memory.manifests[tag]
    memory.manifests[tag] = replace(good, data=good.data + b" " * MAX_DOCUMENT_BYTES)
    assert "larger than" in refusal(memory, digest, signing_keys.by_key().policy).message


# Cached plugins are verified too


@pytest.mark.requirement("plugin:signed:cached")
@pytest.mark.parametrize("older", [False, True], ids=["bundle", "legacy"])
@pytest.mark.parametrize("repository", ["docker-registry", "referrers-registry"], indirect=True)
def test_verification_from_the_store_agrees_with_the_registry(
    older: bool,
    *,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    tmp_path: Path,
) -> None:
    from carrel.oci.pull import pull
    from carrel.oci.store import PluginStore

    registry = next(one for one in registries.values() if one.host == repository.host)
    digest = put_plugin(repository)
    sign.sign(repository, digest, signing_keys.key, older=older)
    reference = registry.reference(f"{repository.name}@{digest}")
    store = PluginStore(tmp_path / "plugins")
    with open_repository(reference, registry.settings) as opened:
        pull(reference, opened, store, max_bytes=1 << 20)
        online = verify(opened, digest, signing_keys.by_key().policy)
    kept = store.repository(reference)
    assert verify(kept, digest, signing_keys.by_key().policy) == online
    with pytest.raises(SignatureError, match="none of the accepted keys"):
        verify(kept, digest, signing_keys.by_key(signing_keys.other_key).policy)


@pytest.mark.requirement("plugin:signed:cached")
def test_a_store_whose_signature_was_changed_is_refused(
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    tmp_path: Path,
) -> None:
    from carrel.oci.pull import pull
    from carrel.oci.store import PluginStore

    registry = registries["docker-registry"]
    digest = put_plugin(repository)
    sign.sign(repository, digest, signing_keys.key)
    reference = registry.reference(f"{repository.name}@{digest}")
    with open_repository(reference, registry.settings) as opened:
        pull(reference, opened, PluginStore(tmp_path), max_bytes=1 << 20)
    for path in tmp_path.rglob("*"):
        if path.is_file() and b"dsseEnvelope" in path.read_bytes():
            path.write_bytes(path.read_bytes().replace(b'"sig":"M', b'"sig":"N'))
    with pytest.raises(SignatureError):
        verify(PluginStore(tmp_path).repository(reference), digest, signing_keys.by_key().policy)


def put_plugin(repository: HttpRepository) -> str:
    """Publishes a manifest that is read as a plugin."""
    wasm = repository.put_blob(b"\0asm\x0d\0\1\0", "application/wasm")
    config = repository.put_blob(
        json.dumps(
            {"architecture": "wasm", "os": "wasip2", "layerDigests": [wasm.digest]}
        ).encode(),
        "application/vnd.wasm.config.v0+json",
    )
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor_json(config),
        "layers": [descriptor_json(wasm)],
    }
    return repository.put_json(manifest, MANIFEST).digest
