"""Tests that cosign verifies Carrel's signatures and Carrel verifies cosign's."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from carrel.errors import ArgumentError, SignatureError
from carrel.oci.registry import open_repository
from carrel.trust import privatekey
from carrel.trust.keys import fingerprint
from carrel.trust.privatekey import PrivateKey, read_private_key, write_private_key
from carrel.trust.sign import read_certificates, sign
from carrel.trust.verify import verify
from support import authority
from support.authority import Issued
from support.cosign import PASSWORD, Cosign
from support.http_repository import HttpRepository
from support.registries import KINDS, Registry
from support.signed import artifact
from support.signing_keys import SigningKeys

on_both = pytest.mark.parametrize("repository", sorted(KINDS), indirect=True)


def publish_signed(
    registries: Mapping[str, Registry],
    repository: HttpRepository,
    key: PrivateKey,
    *,
    older: bool = False,
    chain: Sequence[Issued] = (),
) -> str:
    """Publishes a new artifact, signed by Carrel."""
    digest = artifact(repository)
    registry = next(one for one in registries.values() if one.host == repository.host)
    pems = [one.pem for one in chain]
    certificates = read_certificates(key, pems[0], b"".join(pems[1:])) if pems else []
    reference = registry.reference(f"{repository.name}@{digest}")
    with open_repository(reference, registry.settings) as opened:
        sign(opened, digest, key, certificates=certificates, older=older, name=repository.name)
    return digest


@pytest.mark.requirement("plugin:signed:for-cosign")
@on_both
@pytest.mark.parametrize("older", [False, True], ids=["bundle", "legacy"])
@pytest.mark.parametrize("kind", ["P-256", "Ed25519"])
def test_cosign_verifies_carrels_signatures(
    kind: str,
    older: bool,
    *,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    cosign_home: Path,
) -> None:
    key: PrivateKey = signing_keys.ed25519 if kind == "Ed25519" else signing_keys.key
    digest = publish_signed(registries, repository, key, older=older)
    assert verify(repository, digest, signing_keys.by_key(key).policy).name == fingerprint(
        key.public_key()
    )
    for version in (2, 3):
        cosign = Cosign(version, cosign_home)
        assert not cosign.says(repository, digest, signing_keys.by_key(key).arguments), version
        assert cosign.says(
            repository, digest, signing_keys.by_key(signing_keys.other_key).arguments
        ), version


@pytest.mark.requirement("plugin:signed:for-cosign")
@pytest.mark.parametrize("older", [False, True], ids=["bundle", "legacy"])
def test_cosign_verifies_a_certificate_s_signature(
    older: bool,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    cosign_home: Path,
) -> None:
    digest = publish_signed(
        registries,
        repository,
        signing_keys.leaf.key,
        older=older,
        chain=[signing_keys.leaf, signing_keys.root],
    )
    asked = signing_keys.by_identity(older=older)
    assert verify(repository, digest, asked.policy).name == "dev@example.org"
    stranger = signing_keys.by_identity("other@example.org", older=older)
    for version in (2, 3):
        cosign = Cosign(version, cosign_home)
        assert not cosign.says(repository, digest, asked.arguments), version
        assert cosign.says(repository, digest, stranger.arguments), version


def test_a_chain_with_an_intermediate_is_verified_by_cosign_3(
    signing_keys: SigningKeys,
    repository: HttpRepository,
    registries: Mapping[str, Registry],
    cosign_home: Path,
) -> None:
    signer = authority.leaf(signing_keys.between)
    digest = publish_signed(
        registries, repository, signer.key, chain=[signer, signing_keys.between, signing_keys.root]
    )
    asked = signing_keys.by_identity()
    assert verify(repository, digest, asked.policy).kind == "certificate"
    arguments = [*asked.arguments, "--allow-certificate-chain"]
    assert not Cosign(3, cosign_home).says(repository, digest, arguments)


@pytest.mark.requirement("plugin:signed:as-cosign")
@on_both
@pytest.mark.parametrize("version", [2, 3])
def test_signatures_of_cosign_with_its_key_are_verified(
    version: int,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    cosign_home: Path,
    tmp_path: Path,
) -> None:
    cosign = Cosign(version, cosign_home)
    cosign.generate(tmp_path / "cosign")
    pem = (tmp_path / "cosign.key").read_bytes()
    key = read_private_key(pem, lambda: PASSWORD)
    digest = artifact(repository)
    cosign.sign(repository, digest, tmp_path / "cosign.key")
    assert str(verify(repository, digest, signing_keys.by_key(key).policy)).startswith(
        "key:sha256:"
    )


@pytest.mark.requirement("plugin:signed:as-cosign")
@pytest.mark.parametrize("version", [2, 3])
def test_signatures_of_cosign_with_a_certificate_are_verified(
    version: int,
    signing_keys: SigningKeys,
    repository: HttpRepository,
    cosign_home: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "leaf.key").write_bytes(write_private_key(signing_keys.leaf.key, PASSWORD))
    (tmp_path / "leaf.pem").write_bytes(signing_keys.leaf.pem)
    (tmp_path / "chain.pem").write_bytes(signing_keys.root.pem)
    digest = artifact(repository)
    options = ["--certificate", str(tmp_path / "leaf.pem")]
    options += ["--certificate-chain", str(tmp_path / "chain.pem")]
    Cosign(version, cosign_home).sign(repository, digest, tmp_path / "leaf.key", *options)
    signer = verify(repository, digest, signing_keys.by_identity().policy)
    assert str(signer) == "certificate:dev@example.org (https://id.example.org)"


def test_a_key_made_here_signs_with_cosign(
    signing_keys: SigningKeys, repository: HttpRepository, cosign_home: Path, tmp_path: Path
) -> None:
    key = privatekey.new_private_key()
    (tmp_path / "carrel.key").write_bytes(write_private_key(key, PASSWORD))
    digest = artifact(repository)
    Cosign(3, cosign_home).sign(repository, digest, tmp_path / "carrel.key")
    verify(repository, digest, signing_keys.by_key(key).policy)


def test_signing_again_in_the_older_layout_keeps_other_signatures(
    signing_keys: SigningKeys, repository: HttpRepository
) -> None:
    digest = artifact(repository)
    for key in (signing_keys.key, signing_keys.other_key):
        sign(repository, digest, key, older=True, name="x")
    for key in (signing_keys.key, signing_keys.other_key):
        verify(repository, digest, signing_keys.by_key(key).policy)


def test_nothing_is_signed_that_is_not_there(
    signing_keys: SigningKeys, repository: HttpRepository
) -> None:
    with pytest.raises(SignatureError, match="to sign"):
        sign(repository, "sha256:" + "0" * 64, signing_keys.key)


def test_a_certificate_of_another_key_is_refused(signing_keys: SigningKeys) -> None:
    with pytest.raises(ArgumentError, match="belongs to another key"):
        read_certificates(signing_keys.key, signing_keys.leaf.pem)


# Private keys


def test_plain_keys_are_read_without_a_password() -> None:
    def never() -> bytes:
        raise AssertionError("nothing to ask for")

    for key in (authority.p256(), Ed25519PrivateKey.generate()):
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        read = read_private_key(pem, never)
        assert fingerprint(read.public_key()) == fingerprint(key.public_key())


@pytest.mark.requirement("sandbox:secrets:signing-key")
def test_no_error_reveals_a_key_or_its_password() -> None:
    secret = b"hunter-two-and-more"
    key = authority.p256()
    pem = write_private_key(key, secret)
    number = key.private_numbers().private_value
    tampered = pem.replace(pem[200:204], b"AAAA")
    for data, password in ((pem, b"wrong" + secret), (tampered, secret), (pem[:-60], secret)):
        with pytest.raises(ArgumentError) as caught:
            read_private_key(data, lambda password=password: password)  # type: ignore[misc]
        chained = [caught.value, caught.value.__cause__]
        rendered = " ".join(repr(one) + str(getattr(one, "__dict__", "")) for one in chained)
        assert secret.decode() not in rendered
        assert str(number) not in rendered
        assert pem.splitlines()[2].decode() not in rendered


def test_a_key_file_with_a_costly_derivation_is_refused() -> None:
    pem = write_private_key(authority.p256(), PASSWORD)
    first, *body, last = pem.decode().strip().splitlines()
    document = json.loads(base64.b64decode("".join(body)))
    document["kdf"]["params"]["N"] = 1 << 24
    body = [base64.b64encode(json.dumps(document).encode()).decode()]
    with pytest.raises(ArgumentError, match="does not use"):
        read_private_key("\n".join([first, *body, last]).encode(), lambda: PASSWORD)


@pytest.mark.parametrize("kind", ["RSA", "P-384"])
def test_keys_of_other_kinds_do_not_sign(kind: str, signing_keys: SigningKeys) -> None:
    key = signing_keys.rsa if kind == "RSA" else signing_keys.p384
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(ArgumentError, match="P-256 and Ed25519 are accepted"):
        read_private_key(pem, lambda: b"")
