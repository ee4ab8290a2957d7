"""Tests that every change to a signature is refused with a `SignatureError`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.errors import SignatureError
from carrel.trust import strict
from carrel.trust.policy import TrustPolicy
from carrel.trust.sign import sign
from carrel.trust.verify import verify
from support.http_repository import MANIFEST, digest_of
from support.memory_repository import MemoryRepository
from support.signing_keys import SigningKeys

pytestmark = pytest.mark.property

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(), max_size=20),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below),
    max_leaves=8,
)


class Signed:
    """A signed digest and the policy that accepts it."""

    def __init__(self, signing_keys: SigningKeys, *, older: bool, certificate: bool) -> None:
        self.repository = MemoryRepository()
        self.digest = self.repository.put_manifest(b'{"schemaVersion":2}', MANIFEST).digest
        signer = (
            [signing_keys.leaf.certificate, signing_keys.root.certificate] if certificate else []
        )
        key = signing_keys.leaf.key if certificate else signing_keys.key
        made = sign(self.repository, self.digest, key, certificates=signer, older=older)
        self.policy: TrustPolicy = (
            signing_keys.by_identity() if certificate else signing_keys.by_key()
        ).policy
        self.older = older
        self.manifest = json.loads(self.repository.manifests[made.digest].data)
        self.document = self.repository.blobs[self.manifest["layers"][0]["digest"]]

    def verdict(self, document: bytes, annotations: Any = None) -> bool:
        """Returns whether the digest is accepted with this document in place of the valid one.

        Any other error than `SignatureError` fails the test.
        """
        repository = MemoryRepository()
        layer = dict(self.manifest["layers"][0])
        layer |= {"digest": digest_of(document), "size": len(document)}
        if annotations is not None:
            layer["annotations"] = annotations
        repository.put_blob(document, layer["mediaType"])
        tag = f"{self.digest.replace(':', '-')}.sig" if self.older else None
        manifest = json.dumps({**self.manifest, "layers": [layer]}).encode()
        repository.put_manifest(manifest, MANIFEST, tag)
        try:
            verify(repository, self.digest, self.policy)
        except SignatureError:
            return False
        return True


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Signed]:
    signing_keys = SigningKeys(tmp_path_factory.mktemp("keys"))
    return {
        "bundle by key": Signed(signing_keys, older=False, certificate=False),
        "bundle by certificate": Signed(signing_keys, older=False, certificate=True),
        "older by key": Signed(signing_keys, older=True, certificate=False),
        "older by certificate": Signed(signing_keys, older=True, certificate=True),
    }


KINDS = ["bundle by key", "bundle by certificate", "older by key", "older by certificate"]
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_the_unchanged_signature_is_accepted(kind: str, signed: dict[str, Signed]) -> None:
    assert signed[kind].verdict(signed[kind].document)


@pytest.mark.requirement("plugin:signed:mutations")
@each_kind
@given(data=st.data())
def test_no_byte_can_be_changed(kind: str, signed: dict[str, Signed], data: st.DataObject) -> None:
    """Every byte of a bundle except the key hint, and every byte of a payload, is verified."""
    one = signed[kind]
    hint = one.document.find(b'"hint":"')
    fixed = range(hint, hint + 60) if hint >= 0 else range(0)
    at = data.draw(
        st.integers(0, len(one.document) - 1).filter(lambda position: position not in fixed)
    )
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != one.document[at]))
    document = bytearray(one.document)
    document[at] = value
    assert not one.verdict(bytes(document))


@pytest.mark.requirement("plugin:signed:mutations")
@each_kind
@given(data=st.data())
def test_a_document_with_a_part_replaced_is_refused(
    kind: str, signed: dict[str, Signed], data: st.DataObject
) -> None:
    one = signed[kind]
    start = data.draw(st.integers(0, len(one.document) - 1))
    end = data.draw(st.integers(start + 1, len(one.document)))
    put = data.draw(st.binary(max_size=20))
    document = one.document[:start] + put + one.document[end:]
    if document == one.document or _same_but_hint(document, one.document):
        return
    assert not one.verdict(document)


@pytest.mark.requirement("plugin:signed:mutations")
@pytest.mark.parametrize("kind", KINDS[:2])
@given(data=st.data())
def test_no_member_can_be_replaced(
    kind: str, signed: dict[str, Signed], data: st.DataObject
) -> None:
    """A bundle with any value replaced by another is refused, except for the key hint."""
    one = signed[kind]
    document = json.loads(one.document)
    places = list(_places(document))
    path = data.draw(st.sampled_from(places))
    value = data.draw(json_values)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    if place[path[-1]] == value:
        return
    place[path[-1]] = value
    accepted = one.verdict(json.dumps(document).encode())
    assert not accepted or path[-1] == "hint" or (path[-1] == "publicKey" and value == {})


@pytest.mark.requirement("plugin:signed:mutations")
@pytest.mark.parametrize("kind", KINDS[2:])
@given(annotations=st.dictionaries(
    st.sampled_from([
        "dev.cosignproject.cosign/signature", "dev.sigstore.cosign/certificate",
        "dev.sigstore.cosign/chain", "other",
    ]),
    st.text(max_size=200) | st.integers(), max_size=4,
))  # fmt: skip
def test_no_annotation_can_be_made_up(
    kind: str, signed: dict[str, Signed], annotations: dict[str, Any]
) -> None:
    one = signed[kind]
    assert not one.verdict(one.document, annotations)


@given(document=st.binary(max_size=400))
@each_kind
def test_any_bytes_are_refused(kind: str, signed: dict[str, Signed], document: bytes) -> None:
    assert not signed[kind].verdict(document)


@given(data=st.binary(max_size=60))
def test_bytes_have_one_spelling_in_base64(data: bytes) -> None:
    import base64

    spelled = base64.b64encode(data).decode()
    assert strict.base64_bytes(spelled, "it") == data


@given(text=st.text(alphabet="AB+/=-_ \n", max_size=12))
def test_base64_is_read_and_written(text: str) -> None:
    import base64

    try:
        data = strict.base64_bytes(text, "it")
    except strict.RefusedError:
        return
    assert base64.b64encode(data).decode() == text


def _same_but_hint(one: bytes, other: bytes) -> bool:
    try:
        first, second = json.loads(one), json.loads(other)
        for document in (first, second):
            document["verificationMaterial"]["publicKey"].pop("hint", None)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return bool(first == second)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, below in inner:
        yield (*path, key)
        if isinstance(below, (dict, list)):
            yield from _places(below, (*path, key))
