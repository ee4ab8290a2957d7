"""Verifies that a digest has a signature that a policy accepts, and returns the signer.

A verified signature means that a signer of the policy signed this digest. It means nothing about
the repository, the tag or the version, which the lock pins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import SignatureError
from carrel.oci.repository import RepositoryReader
from carrel.text.printable import printable

from .bundle import key_hint
from .find import SignatureCandidate, find_signatures, short
from .keys import PublicKey, fingerprint, has_signed, public_key
from .policy import Signer, TrustPolicy
from .strict import RefusedError

if TYPE_CHECKING:
    from .identities import Authority

#: The most reasons in the message; `tried` has all of them.
_MAX_REASONS = 5


def verify(
    repository: RepositoryReader, digest: str, policy: TrustPolicy, *, plugin: str | None = None
) -> Signer:
    """Returns the signer of `digest` if the policy accepts it; one valid signature is enough.

    Registries and the local store are verified alike, so that cached content is verified too.

    Args:
        repository: with the signatures.
        digest: `sha256:` and 64 hex digits: the manifest's, computed here.
        policy: the accepted signers.
        plugin: for the error, if there is one.

    Raises:
        SignatureError: no signature is accepted; `tried` has each with the reason.
        RegistryError: the repository cannot list signatures.
    """
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise SignatureError(
            f"{printable(digest, 100)} is not a sha256 digest; only a digest can be verified",
            plugin=plugin,
        )
    keys, authorities = _load(policy, plugin)
    tried = []
    for found in find_signatures(repository, digest):
        if isinstance(found, SignatureCandidate):
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
    more = [f"and {len(tried) - _MAX_REASONS} more"] if len(tried) > _MAX_REASONS else []
    return f"no signature of {short(digest)} is accepted: " + "; ".join(
        [*tried[:_MAX_REASONS], *more]
    )


def _authorities(policy: TrustPolicy) -> list[Authority]:
    if not policy.identities:
        return []
    from .identities import read_authority  # certificates take a while to import

    return [read_authority(identity) for identity in policy.identities]


def _load(policy: TrustPolicy, plugin: str | None) -> tuple[list[PublicKey], list[Authority]]:
    if not policy.keys and not policy.identities:
        raise SignatureError("the policy names no accepted signer", plugin=plugin)
    try:
        keys = [_key(path) for path in policy.keys]
        authorities = _authorities(policy)
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


def _signer(
    candidate: SignatureCandidate,
    digest: str,
    keys: Sequence[PublicKey],
    authorities: Sequence[Authority],
) -> Signer:
    """Returns the signer. Claims are read after the signature is verified, never before."""
    reasons = []
    # A bundle with a certificate states that no key signed it.
    if keys and (candidate.older or not candidate.certificates):
        try:
            return _by_key(candidate, digest, keys)
        except RefusedError as error:
            reasons.append(str(error))
    for authority in authorities if candidate.certificates else ():
        try:
            return authority.signer(candidate, digest)
        except RefusedError as error:
            reasons.append(str(error))
    if not reasons:
        reasons = [
            "a certificate signed it, and the policy names keys"
            if candidate.certificates
            else "a key signed it, and the policy names no keys"
        ]
    raise RefusedError(", ".join(dict.fromkeys(reasons)))


def _by_key(candidate: SignatureCandidate, digest: str, keys: Sequence[PublicKey]) -> Signer:
    # The hint only decides which key is tried first: it is not signed.
    for key in sorted(keys, key=lambda accepted_key: key_hint(accepted_key) != candidate.hint):
        if has_signed(key, candidate.signature, candidate.message):
            break
    else:
        raise RefusedError("none of the accepted keys made it")
    if candidate.certificates:
        from .certificates import check_time, read_chain

        check_time(read_chain(candidate.certificates)[0], datetime.now(UTC))
    candidate.check_claim(digest)
    return Signer("key", fingerprint(key))
