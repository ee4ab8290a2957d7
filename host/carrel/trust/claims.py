"""The two payloads that cosign signs: building and checking them."""

from __future__ import annotations

import json
from typing import Any

from .strict import RefusedError, items, json_object, members

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://sigstore.dev/cosign/sign/v1"
SIMPLE_SIGNING_TYPE = "cosign container image signature"

#: The most subjects; other verifiers read as many.
_MAX_SUBJECTS = 1024
_SUBJECT_MEMBERS = ("name", "uri", "content", "downloadLocation", "mediaType", "annotations")


def signed_message(payload_type: str, payload: bytes) -> bytes:
    """Returns the signed bytes of a DSSE envelope: the encoding of type and payload."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def statement(digest: str) -> bytes:
    """Returns the in-toto statement that `digest` is signed."""
    algorithm, value = digest.split(":", 1)
    return _compact(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"digest": {algorithm: value}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": {},
        }
    )


def predicate_type(payload: bytes) -> str:
    """Returns the predicate type of an in-toto statement; empty when it cannot be read."""
    try:
        stated = json_object(payload, "the statement").get("predicateType")
    except (RefusedError, ValueError):
        return ""
    return stated if isinstance(stated, str) else ""


def check_statement(payload_type: str, payload: bytes, digest: str) -> None:
    """Checks that a signed payload is the statement that `digest` is signed.

    Raises:
        RefusedError: another type of payload or predicate, or another digest.
    """
    if payload_type != PAYLOAD_TYPE:
        raise RefusedError(f"its payload is {payload_type!r}, not an in-toto statement")
    statement = members(
        json_object(payload, "the statement"),
        "the statement",
        required=("_type", "subject", "predicateType"),
        optional=("predicate",),
    )
    if statement["_type"] != STATEMENT_TYPE:
        raise RefusedError(f"its statement is a {statement['_type']!r}")
    if statement["predicateType"] != PREDICATE_TYPE:
        raise RefusedError(f"it is an attestation of type {statement['predicateType']!r}")
    subjects = [
        members(subject, "a subject", required=("digest",), optional=_SUBJECT_MEMBERS)["digest"]
        for subject in items(statement["subject"], "the statement's subject", _MAX_SUBJECTS)
    ]
    expected = digest.removeprefix("sha256:")
    if not any(
        isinstance(subject, dict) and subject.get("sha256") == expected for subject in subjects
    ):
        raise RefusedError("it was made for another digest")


def simple_signing(digest: str, repository: str) -> bytes:
    """Returns the payload of the older layout. `repository` is for people and not checked."""
    return _compact(
        {
            "critical": {
                "identity": {"docker-reference": repository},
                "image": {"docker-manifest-digest": digest},
                "type": SIMPLE_SIGNING_TYPE,
            },
            "optional": None,
        }
    )


def check_simple_signing(payload: bytes, digest: str) -> None:
    """Checks that a signed payload of the older layout is about `digest`.

    Raises:
        RefusedError: another type of payload, or another digest.
    """
    critical = _part(json_object(payload, "the payload"), "critical")
    if critical.get("type") != SIMPLE_SIGNING_TYPE:
        raise RefusedError(f"its payload is a {critical.get('type')!r}")
    if _part(critical, "image").get("docker-manifest-digest") != digest:
        raise RefusedError("it was made for another digest")


def _part(value: dict[str, Any], name: str) -> dict[str, Any]:
    # Other members are ignored: the format has always been open, and all of it is signed.
    found = value.get(name)
    if not isinstance(found, dict):
        raise RefusedError(f"the payload has no {name!r}")
    return found


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
