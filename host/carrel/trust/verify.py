"""Whether a digest carries a signature that a policy accepts, and whose it is.

What is proven is one sentence: somebody whom the policy names signed this digest. Nothing is said
about the repository, the tag or the version: those are for the lock.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cryptography import x509

from carrel.errors import SignatureError
from carrel.oci.repository import RepositoryReader
from carrel.printable import printable

from .bundle import key_hint
from .certificates import (
    check_chain,
    check_time,
    issuer_name,
    read_chain,
    read_roots,
    subject_names,
)
from .find import Candidate, find_signatures, short
from .keyless import check_keyless
from .keys import PublicKey, accepted, fingerprint, has_signed, public_key
from .policy import Identity, Signer, TrustPolicy
from .strict import RefusedError

#: Reasons that the message itself names; `tried` has all of them.
_TOLD = 5


@dataclass(frozen=True, slots=True)
class _Authority:
    """An identity with its authority's certificates; none for a Sigstore instance."""

    identity: Identity
    roots: tuple[x509.Certificate, ...]


def verify(
    repository: RepositoryReader, digest: str, policy: TrustPolicy, *, plugin: str | None = None
) -> Signer:
    """Who signed `digest`, if it is somebody whom the policy names. One good signature is enough.

    The same on a registry and on the local store, so that what is cached is verified too.

    Args:
        repository: where the signatures are.
        digest: `sha256:` and 64 hex digits: the manifest's, computed here.
        policy: whose signatures count.
        plugin: for the error, if there is one.

    Raises:
        SignatureError: no signature is accepted; `tried` names each that was found and why not.
        RegistryError: the repository cannot say what there is.
    """
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise SignatureError(
            f"{printable(digest, 100)} is not a sha256 digest; only a digest can be verified",
            plugin=plugin,
        )
    keys, authorities = _load(policy, plugin)
    tried = []
    for found in find_signatures(repository, digest):
        if isinstance(found, Candidate):
            place = found.place
            try:
                return _signer(found, digest, keys, authorities)
            except RefusedError as error:
                reason = str(error)
            except Exception as error:  # noqa: BLE001 - hostile data must not pass or crash
                reason = f"it cannot be read ({type(error).__name__})"
        else:
            place, reason = found
        tried.append(printable(f"{place}: {reason}", 400))
    raise SignatureError(_message(digest, tried), plugin=plugin, tried=tried)


def _message(digest: str, tried: Sequence[str]) -> str:
    if not tried:
        return f"{short(digest)} is not signed: no signature was found"
    more = [f"and {len(tried) - _TOLD} more"] if len(tried) > _TOLD else []
    return f"no signature of {short(digest)} is accepted: " + "; ".join([*tried[:_TOLD], *more])


def _load(policy: TrustPolicy, plugin: str | None) -> tuple[list[PublicKey], list[_Authority]]:
    if not policy.keys and not policy.identities:
        raise SignatureError("the policy names nobody whose signature counts", plugin=plugin)
    try:
        keys = [_key(path) for path in policy.keys]
        authorities = [_authority(identity) for identity in policy.identities]
    except RefusedError as error:
        raise SignatureError(f"the trust policy cannot be used: {error}", plugin=plugin) from None
    except OSError as error:
        raise SignatureError(
            f"the trust policy names {error.filename}: {error.strerror}", plugin=plugin
        ) from None
    return keys, authorities


def _key(path: Path) -> PublicKey:
    try:
        return public_key(path.read_bytes())
    except RefusedError as error:
        raise RefusedError(f"{path}: {error}") from None


def _authority(identity: Identity) -> _Authority:
    _check_patterns(identity)
    if identity.roots is None or _is_trusted_root(identity.roots.read_bytes()):
        return _Authority(identity, ())
    return _Authority(identity, tuple(read_roots(identity.roots)))


def _check_patterns(identity: Identity) -> None:
    for pattern, is_pattern in (
        (identity.subject, identity.subject_is_pattern),
        (identity.issuer, identity.issuer_is_pattern),
    ):
        try:
            if is_pattern:
                re.compile(pattern)
        except re.error as error:
            raise RefusedError(f"{pattern!r} is no regular expression: {error}") from None


def _is_trusted_root(data: bytes) -> bool:
    """Whether a file of roots is a Sigstore instance's trusted root, which is JSON."""
    return data.lstrip()[:1] == b"{"


def _signer(
    candidate: Candidate,
    digest: str,
    keys: Sequence[PublicKey],
    authorities: Sequence[_Authority],
) -> Signer:
    """Who made a signature. Claims are read after the signature held, never before."""
    reasons = []
    # A bundle with a certificate says itself that no key made it.
    if keys and (candidate.older or not candidate.certificates):
        try:
            return _by_key(candidate, digest, keys)
        except RefusedError as error:
            reasons.append(str(error))
    for authority in authorities if candidate.certificates else ():
        try:
            return _by_certificate(candidate, digest, authority)
        except RefusedError as error:
            reasons.append(str(error))
    if not reasons:
        reasons = [
            "a certificate signed it, and the policy names keys"
            if candidate.certificates
            else "a key signed it, and the policy names no keys"
        ]
    raise RefusedError(", ".join(dict.fromkeys(reasons)))


def _by_key(candidate: Candidate, digest: str, keys: Sequence[PublicKey]) -> Signer:
    # The hint decides who is tried first and nothing else: it is not signed.
    for key in sorted(keys, key=lambda one: key_hint(one) != candidate.hint):
        if has_signed(key, candidate.signature, candidate.message):
            break
    else:
        raise RefusedError("none of the accepted keys made it")
    for leaf in read_chain(candidate.certificates[:1]):
        check_time(leaf, datetime.now(UTC))
    candidate.check_claim(digest)
    return Signer("key", fingerprint(key))


def _by_certificate(candidate: Candidate, digest: str, authority: _Authority) -> Signer:
    leaf, *intermediates = read_chain(candidate.certificates)
    identity = authority.identity
    name, issuer = _names(leaf, candidate.older, identity)
    if not authority.roots:
        if candidate.older:
            raise RefusedError(
                "signatures of a Sigstore instance are accepted as bundles only (cosign 3)"
            )
        same = partial(_names, older=False, identity=identity)
        check_keyless(candidate.document, digest, identity.roots, same)
        return Signer("keyless", name, issuer)
    now = datetime.now(UTC)
    times = [now]
    if candidate.older:
        times.append(leaf.not_valid_before_utc)
    elif any(one.subject == one.issuer for one in intermediates):
        raise RefusedError("its chain brings an authority of its own")
    check_chain(leaf, intermediates, authority.roots, times)
    if not has_signed(accepted(leaf.public_key()), candidate.signature, candidate.message):
        raise RefusedError("the key of its certificate did not make it")
    candidate.check_claim(digest)
    return Signer("certificate", name, issuer)


def _names(leaf: x509.Certificate, older: bool, identity: Identity) -> tuple[str, str]:
    """The name and issuer of a certificate that `identity` describes."""
    names = subject_names(leaf, only_first=not older)
    issuer = issuer_name(leaf, older=older)
    for name in names:
        if _matches(name, identity.subject, identity.subject_is_pattern) and _matches(
            issuer, identity.issuer, identity.issuer_is_pattern
        ):
            return name, issuer
    who = ", ".join(names) or "nobody"
    raise RefusedError(
        f"it is by {who} of {issuer or 'no issuer'}, not {identity.subject} of {identity.issuer}"
    )


def _matches(value: str, wanted: str, is_pattern: bool) -> bool:
    if not value:
        return False
    return bool(re.fullmatch(wanted, value)) if is_pattern else value == wanted
