"""Tests that Carrel and cosign give the same verdicts on bundles of a Sigstore instance.

The instance is the tests' own (`support/sigstore_instance.py`); the public one needs a network.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.errors import SignatureError
from carrel.trust.policy import Identity, Signer, TrustPolicy
from carrel.trust.verify import verify
from support.authority import p256
from support.cosign import Cosign
from support.http_repository import HttpRepository
from support.signed import artifact, attach
from support.signing_keys import ISSUER, WHO
from support.sigstore_instance import Faults, SigstoreInstance, make_root


@pytest.fixture(scope="module")
def instance() -> SigstoreInstance:
    return SigstoreInstance()


@pytest.fixture(scope="module")
def trusted_root(instance: SigstoreInstance, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("instance") / "trusted_root.json"
    path.write_bytes(instance.trusted_root())
    return path


def flip(document: dict[str, Any], *path: str | int) -> None:
    """Changes one character in the middle of a text inside a document."""
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    text = place[path[-1]]
    at = len(text) // 2
    place[path[-1]] = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]


ENTRY = ("verificationMaterial", "tlogEntries", 0)
Change = Callable[[dict[str, Any]], object]


def unchanged(_document: dict[str, Any]) -> None:
    """Leaves a document as it is."""


CASES: list[tuple[str, Faults, Change, bool]] = [
    ("good", Faults(), unchanged, True),
    ("another name", Faults(subject="evil@example.org"), unchanged, False),
    ("another issuer", Faults(issuer="https://evil.example.org"), unchanged, False),
    ("another authority", Faults(root=make_root()), unchanged, False),
    ("another certificate log", Faults(certificate_log=p256()), unchanged, False),
    ("promise by another log", Faults(promise_log=p256()), unchanged, False),
    ("proof by another log", Faults(proof_log=p256()), unchanged, False),
    ("logged after the certificate ended", Faults(logged_minutes_late=1), unchanged, False),
    ("the log's entry of something else", Faults(other_entry=True), unchanged, False),
    ("no entry", Faults(), lambda one: one["verificationMaterial"].pop("tlogEntries"), False),
    ("payload changed", Faults(), lambda one: flip(one, "dsseEnvelope", "payload"), False),
    (
        "signature changed",
        Faults(),
        lambda one: flip(one, "dsseEnvelope", "signatures", 0, "sig"),
        False,
    ),
    ("entry changed", Faults(), lambda one: flip(one, *ENTRY, "canonicalizedBody"), False),
    (
        "root of the proof changed",
        Faults(),
        lambda one: flip(one, *ENTRY, "inclusionProof", "rootHash"),
        False,
    ),
    (
        "promise changed",
        Faults(),
        lambda one: flip(one, *ENTRY, "inclusionPromise", "signedEntryTimestamp"),
        False,
    ),
    (
        "time changed",
        Faults(),
        lambda one: one["verificationMaterial"]["tlogEntries"][0].update(integratedTime="1"),
        False,
    ),
]


#: What cosign 2 accepts: it does not compare the log's entry with the signed payload.
LAXER = {(2, "the log's entry of something else")}


@pytest.mark.requirement("plugin:signed:keyless")
@pytest.mark.parametrize(
    ("name", "faults", "change", "accepted"),
    [pytest.param(*case, id=case[0]) for case in CASES],
)
def test_verdicts_on_keyless_bundles_are_those_of_cosign(
    name: str,
    faults: Faults,
    change: Change,
    *,
    accepted: bool,
    instance: SigstoreInstance,
    trusted_root: Path,
    repository: HttpRepository,
    cosign_home: Path,
) -> None:
    digest = artifact(repository)
    document = instance.sign(digest, faults)
    change(document)
    attach(repository, digest, document)
    policy = TrustPolicy(identities=(Identity(WHO, ISSUER, trusted_root),))
    if accepted:
        assert verify(repository, digest, policy) == Signer("keyless", WHO, ISSUER)
    else:
        with pytest.raises(SignatureError):
            verify(repository, digest, policy)
    arguments = ["--certificate-identity", WHO, "--certificate-oidc-issuer", ISSUER]
    arguments += ["--trusted-root", str(trusted_root)]
    for version in (2, 3):
        refusal = Cosign(version, cosign_home).says(repository, digest, arguments, log=True)
        assert (not refusal) == (accepted or (version, name) in LAXER), refusal


def test_a_bundle_for_another_digest_is_refused(
    instance: SigstoreInstance, trusted_root: Path, repository: HttpRepository
) -> None:
    digest = artifact(repository)
    attach(repository, digest, instance.sign(artifact(repository)))
    with pytest.raises(SignatureError, match="for another digest"):
        verify(repository, digest, TrustPolicy(identities=(Identity(WHO, ISSUER, trusted_root),)))


@pytest.mark.parametrize(
    ("subject", "issuer", "accepted"),
    [
        (r".*@example\.org", r"https://.*", True),
        (r".*", r".*", True),
        (r"dev", r".*", False),
        (r".*@example\.com", r".*", False),
    ],
)
def test_patterns_match_the_whole_name(
    subject: str,
    issuer: str,
    *,
    accepted: bool,
    instance: SigstoreInstance,
    trusted_root: Path,
    repository: HttpRepository,
) -> None:
    digest = artifact(repository)
    attach(repository, digest, instance.sign(digest))
    identity = Identity(
        subject, issuer, trusted_root, subject_is_pattern=True, issuer_is_pattern=True
    )
    if accepted:
        assert verify(repository, digest, TrustPolicy(identities=(identity,))).name == WHO
    else:
        with pytest.raises(SignatureError, match=r"it is by dev@example\.org"):
            verify(repository, digest, TrustPolicy(identities=(identity,)))


def test_the_public_instance_does_not_accept_another_instances_bundle(
    instance: SigstoreInstance,
    repository: HttpRepository,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """The library's trusted root is read without a network."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    digest = artifact(repository)
    attach(repository, digest, instance.sign(digest))
    with pytest.raises(SignatureError, match="certificate chain"):
        verify(repository, digest, TrustPolicy(identities=(Identity(WHO, ISSUER),)))


def test_without_the_library_the_error_names_the_extra(
    instance: SigstoreInstance,
    trusted_root: Path,
    repository: HttpRepository,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sigstore.errors", None)
    digest = artifact(repository)
    attach(repository, digest, instance.sign(digest))
    policy = TrustPolicy(identities=(Identity(WHO, ISSUER, trusted_root),))
    with pytest.raises(SignatureError, match=r"pip install 'carrel\[sigstore\]'"):
        verify(repository, digest, policy)


def test_keys_are_verified_without_importing_the_library() -> None:
    code = "import carrel.trust.verify, sys; print([m for m in sys.modules if 'sigstore' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
