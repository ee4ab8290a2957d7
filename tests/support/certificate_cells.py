"""The table of signers by certificate, as bundles and in the older layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID

from support import authority
from support.authority import HOUR, NOW, Issued
from support.http_repository import HttpRepository
from support.signature_lab import WHO, Asked, Lab, Table, mail, uri
from support.signed import (
    artifact,
    attach,
    attach_older,
    bundle,
    older_layer,
    payload_of,
    statement,
)

TABLE = Table()
Case = tuple[str, Asked]

ANY_PURPOSE = "a certificate that was not made for signing code signs none"
ONE_ISSUER = "a certificate that contradicts itself says nothing"
BOTH = {2: True, 3: True}
WHOLE = "a pattern is for the whole name: `example` must not let `example.evil` in"


def _signed(lab: Lab, repository: HttpRepository, signer: Issued, older: bool, **extra: Any) -> str:
    digest = artifact(repository)
    if older:
        attach_older(
            repository, digest, older_layer(repository, signer, payload_of(digest), **extra)
        )
    else:
        attach(repository, digest, bundle(signer, statement(digest), **extra))
    return digest


def _add(
    name: str,
    signer: Callable[[Lab], Issued],
    ours: bool | tuple[bool, bool],
    *,
    cosign: dict[int, bool] | None = None,
    why: str = "",
    asked: Callable[[Lab, bool], Asked] | None = None,
    layouts: Sequence[bool] = (False, True),
) -> None:
    """Adds a case in both layouts; `ours` is a pair where a bundle and the older one differ."""
    for older in layouts:

        def build(lab: Lab, repository: HttpRepository, older: bool = older) -> Case:
            digest = _signed(lab, repository, signer(lab), older)
            return digest, asked(lab, older) if asked else lab.by_identity(older=older)

        verdict = ours[older] if isinstance(ours, tuple) else ours
        layout = "older" if older else "bundle"
        TABLE.add(f"{name} ({layout})", verdict, cosign, why)(build)


_add("good", lambda lab: lab.leaf, True)
_add(
    "name is a URI",
    lambda lab: lab.leaf_with(names=[uri("https://example.org/ci")]),
    True,
    asked=lambda lab, older: lab.by_identity("https://example.org/ci", older=older),
)
_add("another name", lambda lab: lab.leaf_with(names=[mail("evil@example.org")]), False)
_add("name in capitals", lambda lab: lab.leaf_with(names=[mail("DEV@example.org")]), False)
_add("nobody's name", lambda lab: lab.leaf_with(names=[]), False)
_add(
    "another issuer",
    lambda lab: lab.leaf_with(
        issuer="https://evil.example.org", issuer_der="https://evil.example.org"
    ),
    False,
)
_add("no issuer", lambda lab: lab.leaf_with(issuer=None, issuer_der=None), False)
_add("issuer in the first extension only", lambda lab: lab.leaf_with(issuer_der=None), True)
_add("issuer in the second extension only", lambda lab: lab.leaf_with(issuer=None), (True, False))
_add(
    "two issuers, the first right",
    lambda lab: lab.leaf_with(issuer_der="https://evil.example.org"),
    False,
    layouts=[False],
)
_add(
    "two issuers, the first right",
    lambda lab: lab.leaf_with(issuer_der="https://evil.example.org"),
    False,
    cosign=BOTH,
    why=ONE_ISSUER,
    layouts=[True],
)
_add(
    "two issuers, the second right",
    lambda lab: lab.leaf_with(issuer="https://evil.example.org"),
    False,
    cosign=BOTH,
    why=ONE_ISSUER,
    layouts=[False],
)
_add(
    "two issuers, the second right",
    lambda lab: lab.leaf_with(issuer="https://evil.example.org"),
    False,
    layouts=[True],
)
_add("by another authority", lambda lab: lab.leaf_with(lab.other_root), False)
_add("by itself", lambda lab: authority.self_signed(lab.root), False)
_add("expired", lambda lab: lab.leaf_with(starts=NOW - 3 * HOUR, ends=NOW - HOUR), False)
_add("not valid yet", lambda lab: lab.leaf_with(starts=NOW + HOUR, ends=NOW + 2 * HOUR), False)
_add("for servers", lambda lab: lab.leaf_with(usages=[ExtendedKeyUsageOID.SERVER_AUTH]), False)
_add(
    "for no stated purpose",
    lambda lab: lab.leaf_with(usages=[]),
    False,
    cosign=BOTH,
    why=ANY_PURPOSE,
)
_add(
    "for any purpose",
    lambda lab: lab.leaf_with(usages=[ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]),
    False,
    cosign=BOTH,
    why=ANY_PURPOSE,
)
_add(
    "an unknown critical extension",
    lambda lab: lab.leaf_with(
        others=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\5\0"), True)]
    ),
    False,
)
_add(
    "two names, the second asked for",
    lambda lab: lab.leaf_with(names=[mail("first@example.org"), mail(WHO)]),
    (False, True),
)
_add(
    "an e-mail address asked for, with a URI",
    lambda lab: lab.leaf_with(names=[mail(WHO), uri("https://example.org/ci")]),
    (False, True),
)
_add(
    "a host's name asked for",
    lambda lab: lab.leaf_with(names=[x509.DNSName("example.org")]),
    (False, True),
    asked=lambda lab, older: lab.by_identity("example.org", older=older),
)
_add("Ed25519", lambda lab: lab.leaf_with(key=Ed25519PrivateKey.generate()), True)
_add(
    "P-384",
    lambda lab: lab.leaf_with(key=lab.p384),
    False,
    cosign=BOTH,
    why="one algorithm for each of two kinds of key",
)
_add(
    "a pattern for the whole name",
    lambda lab: lab.leaf,
    True,
    asked=lambda lab, older: lab.by_identity(
        r".*@example\.org", r"https://.*", older=older, pattern=True
    ),
)
_add(
    "a pattern for another name",
    lambda lab: lab.leaf,
    False,
    asked=lambda lab, older: lab.by_identity(
        r".*@example\.com", r"https://.*", older=older, pattern=True
    ),
)
_add(
    "a pattern for part of the name",
    lambda lab: lab.leaf,
    False,
    cosign=BOTH,
    why=WHOLE,
    asked=lambda lab, older: lab.by_identity(r"@example", r"https://", older=older, pattern=True),
)
_add(
    "the authority expired",
    lambda lab: lab.leaf_with(_expired_root()),
    False,
    layouts=[False],
    asked=lambda lab, older: lab.by_identity(roots=[_expired_root()], older=older),
)
_add(
    "the authority expired",
    lambda lab: lab.leaf_with(_expired_root()),
    False,
    layouts=[True],
    cosign={2: True, 3: False},
    why="cosign 2 looks at the signer's own dates only",
    asked=lambda lab, older: lab.by_identity(roots=[_expired_root()], older=older),
)
_add(
    "the key of another certificate", lambda lab: Issued(lab.leaf.certificate, lab.other_key), False
)
_add(
    "a key is asked for",
    lambda lab: Issued(lab.leaf_with(key=lab.key).certificate, lab.key),
    (False, True),
    asked=lambda lab, _: lab.by_key(),
)
_add(
    "a key is asked for, certificate expired",
    lambda lab: lab.leaf_with(key=lab.key, starts=NOW - 3 * HOUR, ends=NOW - HOUR),
    False,
    asked=lambda lab, _: lab.by_key(),
)

_made: list[Issued] = []


def _expired_root() -> Issued:
    if not _made:
        _made.append(authority.root(starts=NOW - 9 * HOUR, ends=NOW - HOUR / 2))
    return _made[0]


@TABLE.accepted("through an intermediate among the roots (bundle)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    digest = _signed(lab, repository, lab.leaf_with(lab.between), older=False)
    return digest, lab.by_identity(roots=[lab.between, lab.root])


@TABLE.refused("through an intermediate that nobody brings (bundle)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    digest = _signed(lab, repository, lab.leaf_with(lab.between), older=False)
    return digest, lab.by_identity()


@TABLE.accepted("through an intermediate in the bundle", cosign={3: True})
def _(lab: Lab, repository: HttpRepository) -> Case:
    signer = lab.leaf_with(lab.between)
    digest = _signed(lab, repository, signer, older=False, chain=[lab.between])
    return digest, _with_chain(lab.by_identity())


@TABLE.refused("with the root in the bundle", cosign={3: False})
def _(lab: Lab, repository: HttpRepository) -> Case:
    signer = lab.leaf_with(lab.between)
    digest = _signed(lab, repository, signer, older=False, chain=[lab.between, lab.root])
    return digest, _with_chain(lab.by_identity())


@TABLE.accepted("through an intermediate in the chain (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    signer = lab.leaf_with(lab.between)
    digest = _signed(lab, repository, signer, older=True, chain=[lab.between, lab.root])
    return digest, lab.by_identity(older=True)


@TABLE.refused("through an intermediate that ends the chain (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    signer = lab.leaf_with(lab.between)
    digest = _signed(lab, repository, signer, older=True, chain=[lab.between])
    return digest, lab.by_identity(older=True)


@TABLE.refused("through something that is no authority (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    between = authority.intermediate(lab.root, ca=False)
    signer = lab.leaf_with(between)
    digest = _signed(lab, repository, signer, older=True, chain=[between, lab.root])
    return digest, lab.by_identity(older=True)


@TABLE.refused("through an authority for servers (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    between = authority.intermediate(lab.root, usages=[ExtendedKeyUsageOID.SERVER_AUTH])
    signer = lab.leaf_with(between)
    digest = _signed(lab, repository, signer, older=True, chain=[between, lab.root])
    return digest, lab.by_identity(older=True)


@TABLE.refused("through an authority that may not sign certificates (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    between = authority.intermediate(lab.root, may_sign=False)
    signer = lab.leaf_with(between)
    digest = _signed(lab, repository, signer, older=True, chain=[between, lab.root])
    return digest, lab.by_identity(older=True)


@TABLE.refused("a bundle signed by a key")
def _(lab: Lab, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(lab.key, statement(digest)))
    return digest, lab.by_identity()


@TABLE.refused("signed by a key (older)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach_older(repository, digest, older_layer(repository, lab.key, payload_of(digest)))
    return digest, lab.by_identity(older=True)


@TABLE.refused("about another digest (certificate)")
def _(lab: Lab, repository: HttpRepository) -> Case:
    digest = artifact(repository)
    attach(repository, digest, bundle(lab.leaf, statement("sha256:" + "0" * 64)))
    return digest, lab.by_identity()


def _with_chain(asked: Asked) -> Asked:
    """cosign 3 reads a chain in a bundle when it is told to; cosign 2 cannot."""
    return Asked(asked.policy, [*asked.arguments, "--allow-certificate-chain"])
