"""The table of signatures by certificate, as bundles and in the older layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

from support import authority
from support.authority import HOUR, NOW, Issued
from support.http_repository import HttpRepository
from support.signed import (
    artifact,
    attach,
    attach_older,
    bundle,
    older_layer,
    payload_of,
    statement,
)
from support.signing_keys import WHO, Add, Asked, SigningKeys, Table, mail, uri

TABLE = Table()
accepted, refused, stricter = TABLE.accepted, TABLE.refused, TABLE.stricter
Case = tuple[str, Asked]

# Reasons for verdicts that differ from cosign's.
any_purpose = partial(stricter, why="a certificate that was not made for signing code signs none")
one_issuer = partial(stricter, why="a certificate that contradicts itself says nothing")
one_kind_of_key = partial(stricter, why="one algorithm for each of two kinds of key")
whole_name = partial(
    stricter, why="a pattern is for the whole name: `example` must not let `example.evil` in"
)
signer_only = partial(
    refused, cosign={2: True, 3: False}, why="cosign 2 looks at the signer's own dates only"
)


def _signed(
    repository: HttpRepository, signer: Any, *, older: bool, chain: Sequence[Issued] = ()
) -> str:
    """Publishes an artifact and its signature; returns its digest."""
    digest = artifact(repository)
    if older:
        layer = older_layer(repository, signer, payload_of(digest), chain=chain)
        attach_older(repository, digest, layer)
    else:
        attach(repository, digest, bundle(signer, statement(digest), chain=chain))
    return digest


def _through(
    signing_keys: SigningKeys, repository: HttpRepository, *chain: Issued, older: bool
) -> Case:
    """Makes a signature by a certificate that the first of `chain` issued; includes the chain."""
    digest = _signed(repository, signing_keys.leaf_with(chain[0]), older=older, chain=chain)
    asked = signing_keys.by_identity(older=older)
    if older:
        return digest, asked
    # cosign 3 reads a chain in a bundle if an option says so; cosign 2 cannot.
    return digest, Asked(asked.policy, [*asked.arguments, "--allow-certificate-chain"])


def _add(
    name: str,
    signer: Callable[[SigningKeys], Issued],
    bundled: Callable[[str], Add],
    in_older: Callable[[str], Add] | None = None,
    *,
    asked: Callable[[SigningKeys, bool], Asked] | None = None,
) -> None:
    """Adds a case in both layouts.

    Args:
        name: the case.
        signer: makes the certificate.
        bundled: the verdict on the bundle.
        in_older: the verdict on the older layout, if it differs.
        asked: the verifier's question, by layout; by default about the signer's identity.
    """
    for older, layout, verdict in (
        (False, "bundle", bundled),
        (True, "older", in_older or bundled),
    ):

        def build(
            signing_keys: SigningKeys, repository: HttpRepository, older: bool = older
        ) -> Case:
            digest = _signed(repository, signer(signing_keys), older=older)
            return digest, asked(signing_keys, older) if asked else signing_keys.by_identity(
                older=older
            )

        verdict(f"{name} ({layout})")(build)


@cache
def _expired_root() -> Issued:
    return authority.root(starts=NOW - 9 * HOUR, ends=NOW - HOUR / 2)


_add("good", lambda signing_keys: signing_keys.leaf, accepted)
_add(
    "name is a URI",
    lambda signing_keys: signing_keys.leaf_with(names=[uri("https://example.org/ci")]),
    accepted,
    asked=lambda signing_keys, older: signing_keys.by_identity(
        "https://example.org/ci", older=older
    ),
)
_add(
    "another name",
    lambda signing_keys: signing_keys.leaf_with(names=[mail("evil@example.org")]),
    refused,
)
_add(
    "name in capitals",
    lambda signing_keys: signing_keys.leaf_with(names=[mail("DEV@example.org")]),
    refused,
)
_add("nobody's name", lambda signing_keys: signing_keys.leaf_with(names=[]), refused)
_add(
    "another issuer",
    lambda signing_keys: signing_keys.leaf_with(
        issuer="https://evil.example.org", issuer_der="https://evil.example.org"
    ),
    refused,
)
_add(
    "no issuer", lambda signing_keys: signing_keys.leaf_with(issuer=None, issuer_der=None), refused
)
_add(
    "issuer in the first extension only",
    lambda signing_keys: signing_keys.leaf_with(issuer_der=None),
    accepted,
)
_add(
    "issuer in the second extension only",
    lambda signing_keys: signing_keys.leaf_with(issuer=None),
    accepted,
    refused,
)
_add(
    "two issuers, the first right",
    lambda signing_keys: signing_keys.leaf_with(issuer_der="https://evil.example.org"),
    refused,
    one_issuer,
)
_add(
    "two issuers, the second right",
    lambda signing_keys: signing_keys.leaf_with(issuer="https://evil.example.org"),
    one_issuer,
    refused,
)
_add(
    "by another authority",
    lambda signing_keys: signing_keys.leaf_with(signing_keys.other_root),
    refused,
)
_add("by itself", lambda signing_keys: authority.self_signed(signing_keys.root), refused)
_add(
    "expired",
    lambda signing_keys: signing_keys.leaf_with(starts=NOW - 3 * HOUR, ends=NOW - HOUR),
    refused,
)
_add(
    "not valid yet",
    lambda signing_keys: signing_keys.leaf_with(starts=NOW + HOUR, ends=NOW + 2 * HOUR),
    refused,
)
_add(
    "for servers",
    lambda signing_keys: signing_keys.leaf_with(usages=[ExtendedKeyUsageOID.SERVER_AUTH]),
    refused,
)
_add("for no stated purpose", lambda signing_keys: signing_keys.leaf_with(usages=[]), any_purpose)
_add(
    "for any purpose",
    lambda signing_keys: signing_keys.leaf_with(
        usages=[ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]
    ),
    any_purpose,
)
_add(
    "an unknown critical extension",
    lambda signing_keys: signing_keys.leaf_with(
        others=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\5\0"), True)]
    ),
    refused,
)
_add(
    "two names, the second asked for",
    lambda signing_keys: signing_keys.leaf_with(names=[mail("first@example.org"), mail(WHO)]),
    refused,
    accepted,
)
_add(
    "an e-mail address asked for, with a URI",
    lambda signing_keys: signing_keys.leaf_with(names=[mail(WHO), uri("https://example.org/ci")]),
    refused,
    accepted,
)
_add(
    "a host's name asked for",
    lambda signing_keys: signing_keys.leaf_with(names=[x509.DNSName("example.org")]),
    refused,
    accepted,
    asked=lambda signing_keys, older: signing_keys.by_identity("example.org", older=older),
)
_add(
    "Ed25519",
    lambda signing_keys: signing_keys.leaf_with(key=Ed25519PrivateKey.generate()),
    accepted,
)
_add("P-384", lambda signing_keys: signing_keys.leaf_with(key=signing_keys.p384), one_kind_of_key)
_add(
    "a pattern for the whole name",
    lambda signing_keys: signing_keys.leaf,
    accepted,
    asked=lambda signing_keys, older: signing_keys.by_identity(
        r".*@example\.org", r"https://.*", older=older, pattern=True
    ),
)
_add(
    "a pattern for another name",
    lambda signing_keys: signing_keys.leaf,
    refused,
    asked=lambda signing_keys, older: signing_keys.by_identity(
        r".*@example\.com", r"https://.*", older=older, pattern=True
    ),
)
_add(
    "a pattern for part of the name",
    lambda signing_keys: signing_keys.leaf,
    whole_name,
    asked=lambda signing_keys, older: signing_keys.by_identity(
        r"@example", r"https://", older=older, pattern=True
    ),
)
_add(
    "the authority expired",
    lambda signing_keys: signing_keys.leaf_with(_expired_root()),
    refused,
    signer_only,
    asked=lambda signing_keys, older: signing_keys.by_identity(
        roots=[_expired_root()], older=older
    ),
)
_add(
    "the key of another certificate",
    lambda signing_keys: Issued(signing_keys.leaf.certificate, signing_keys.other_key),
    refused,
)
_add(
    "a key is asked for",
    lambda signing_keys: Issued(
        signing_keys.leaf_with(key=signing_keys.key).certificate, signing_keys.key
    ),
    refused,
    accepted,
    asked=lambda signing_keys, _: signing_keys.by_key(),
)
_add(
    "a key is asked for, certificate expired",
    lambda signing_keys: signing_keys.leaf_with(
        key=signing_keys.key, starts=NOW - 3 * HOUR, ends=NOW - HOUR
    ),
    refused,
    asked=lambda signing_keys, _: signing_keys.by_key(),
)


@accepted("through an intermediate among the roots (bundle)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = _signed(repository, signing_keys.leaf_with(signing_keys.between), older=False)
    return digest, signing_keys.by_identity(roots=[signing_keys.between, signing_keys.root])


@refused("through an intermediate that nobody brings (bundle)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = _signed(repository, signing_keys.leaf_with(signing_keys.between), older=False)
    return digest, signing_keys.by_identity()


@accepted("through an intermediate in the bundle", cosign={3: True})
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _through(signing_keys, repository, signing_keys.between, older=False)


@refused("with the root in the bundle", cosign={3: False})
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _through(signing_keys, repository, signing_keys.between, signing_keys.root, older=False)


@accepted("through an intermediate in the chain (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _through(signing_keys, repository, signing_keys.between, signing_keys.root, older=True)


@refused("through an intermediate that ends the chain (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _through(signing_keys, repository, signing_keys.between, older=True)


@refused("through something that is no authority (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    between = authority.intermediate(signing_keys.root, ca=False)
    return _through(signing_keys, repository, between, signing_keys.root, older=True)


@refused("through an authority for servers (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    between = authority.intermediate(signing_keys.root, usages=[ExtendedKeyUsageOID.SERVER_AUTH])
    return _through(signing_keys, repository, between, signing_keys.root, older=True)


@refused("through an authority that may not sign certificates (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    between = authority.intermediate(signing_keys.root, may_sign=False)
    return _through(signing_keys, repository, between, signing_keys.root, older=True)


@refused("a bundle signed by a key")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _signed(repository, signing_keys.key, older=False), signing_keys.by_identity()


@refused("signed by a key (older)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    return _signed(repository, signing_keys.key, older=True), signing_keys.by_identity(older=True)


@refused("about another digest (certificate)")
def _(signing_keys: SigningKeys, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(signing_keys.leaf, statement("sha256:" + "0" * 64)))
    return digest, signing_keys.by_identity()
