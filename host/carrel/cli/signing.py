"""Implements `carrel plugin sign`, `verify` and `keys`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import ArgumentError, RegistryError, SignatureError, UnknownNameError

from .command import AS_JSON, ExampleGroup, command
from .output import stdout_is_terminal, write_json
from .publishing import PLAIN_HTTP, read_reference, settings_for
from .report import DENIED, OK, report
from .session import Session

if TYPE_CHECKING:
    from carrel.config import PluginConfig
    from carrel.oci.reference import ImageReference
    from carrel.oci.repository import RepositoryReader
    from carrel.trust.policy import TrustPolicy

#: The variable for a key's password without a terminal; the same as cosign's.
PASSWORD_VARIABLE = "COSIGN_PASSWORD"  # noqa: S105 - the name of a variable

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@command(
    "sign",
    example="plugin sign registry.example.org/plugins/lists:0.1.0 --key carrel.key",
    options=(PLAIN_HTTP, AS_JSON),
)
@click.argument("reference", metavar="REFERENCE")
@click.option(
    "--key", required=True, type=_FILE, metavar="FILE", help="Sign with this private key."
)
@click.option(
    "--certificate",
    type=_FILE,
    metavar="FILE",
    help="The key's certificate (PEM), which the signature names in place of the key.",
)
@click.option(
    "--certificate-chain",
    "chain",
    type=_FILE,
    metavar="FILE",
    help="The certificates above it (PEM), from its issuer up to the root.",
)
@click.option(
    "--legacy",
    is_flag=True,
    help="Sign in the layout that verifiers older than cosign 3 read.",
)
def sign_command(
    session: Session,
    *,
    reference: str,
    key: Path,
    certificate: Path | None,
    chain: Path | None,
    legacy: bool,
    plain_http: bool,
    as_json: bool,
) -> int:
    """Sign a plugin in a registry, so that Carrel and cosign can verify it.

    Signs the current digest of REFERENCE. The key is a file of cosign or PKCS #8; its password
    comes from COSIGN_PASSWORD or is prompted for on a terminal.
    """
    from carrel.oci.registry import open_repository
    from carrel.trust.keys import fingerprint
    from carrel.trust.privatekey import read_private_key
    from carrel.trust.sign import read_certificates, sign

    where = read_reference(reference)
    if chain and not certificate:
        raise ArgumentError(["--certificate-chain needs --certificate"])
    private = read_private_key(key.read_bytes(), lambda: _password(f"password of {key}"))
    certificates = (
        read_certificates(private, certificate.read_bytes(), chain.read_bytes() if chain else b"")
        if certificate
        else ()
    )
    settings = settings_for(session.config(), where, plain_http=plain_http)
    with open_repository(where, settings) as repository:
        digest = _digest(where, repository)
        name = f"{where.host}/{where.repository}"
        made = sign(repository, digest, private, certificates=certificates, older=legacy, name=name)
    result = {
        **_named(where, digest),
        "signature": made.digest,
        "layout": "legacy" if legacy else "bundle",
        "key": fingerprint(private.public_key()),
    }
    _show(result, title="signed", as_json=as_json)
    return OK


@command(
    "verify",
    example="plugin verify registry.example.org/plugins/lists:0.1.0 --key carrel.pub",
    options=(PLAIN_HTTP, AS_JSON),
)
@click.argument("subject", metavar="NAME | REFERENCE")
@click.option(
    "--key", "keys", multiple=True, type=_FILE, metavar="FILE",
    help="Accept this public key (PEM); may be repeated.",
)  # fmt: skip
@click.option(
    "--identity",
    metavar="NAME",
    help="Accept a certificate of this e-mail address or URI, exactly; goes with --issuer.",
)
@click.option(
    "--issuer", metavar="URL", help="The OpenID Connect issuer that the certificate must name."
)
@click.option(
    "--roots", type=_FILE, metavar="FILE",
    help="The certificates' authority (PEM), or a Sigstore instance's trusted root (JSON). "
    "Default: the public Sigstore instance.",
)  # fmt: skip
def verify_command(
    session: Session,
    *,
    subject: str,
    keys: tuple[Path, ...],
    identity: str | None,
    issuer: str | None,
    roots: Path | None,
    plain_http: bool,
    as_json: bool,
) -> int:
    """Verify the signature of a plugin in a registry, and show the accepted signer.

    NAME is a configured plugin; its current address is verified. Without options, the configuration
    names the accepted signers, as when plugins are loaded: the plugin's trust table, also if
    REFERENCE names its repository, else the top-level one. With --identity and without --roots, the
    public Sigstore instance is trusted. The exit code is 3 if no signature is accepted.
    """
    from carrel.oci.registry import open_repository
    from carrel.trust.verify import verify

    where, plugins = _find_subject(session, subject)
    policy = _typed_policy(keys, identity, issuer, roots) or _configured_policy(session, plugins)
    settings = settings_for(session.config(), where, plain_http=plain_http)
    with open_repository(where, settings) as repository:
        digest = _digest(where, repository)
        try:
            signer = verify(repository, digest, policy)
        except SignatureError as error:
            report(error, as_json=session.options.json_errors)
            return DENIED
    result = {
        **_named(where, digest),
        "signer": {"kind": signer.kind, "name": signer.name, "issuer": signer.issuer},
    }
    _show(result, title="verified", as_json=as_json)
    return OK


@command("generate", example="plugin keys generate", options=(AS_JSON,))
@click.option(
    "--output-prefix", "prefix", default="carrel", show_default=True, metavar="PATH",
    help="Write PATH.key and PATH.pub.",
)  # fmt: skip
def generate_command(
    session: Session,  # noqa: ARG001 - each command is given it
    prefix: str,
    as_json: bool,
) -> int:
    """Generate a key pair to sign plugins with.

    The private key is encrypted with a password, in cosign's format, so that cosign can use it too.
    The password comes from COSIGN_PASSWORD or is prompted for on a terminal. Existing files are not
    overwritten.
    """
    from carrel.trust import privatekey
    from carrel.trust.keys import fingerprint

    private, public = Path(f"{prefix}.key"), Path(f"{prefix}.pub")
    for path in (private, public):
        if path.exists():
            raise ArgumentError([f"{path} is there already; give another --output-prefix"])
    key = privatekey.new_private_key()
    password = _password(f"new password of {private}", twice=True)
    _write_new(private, privatekey.write_private_key(key, password), mode=0o600)
    _write_new(public, privatekey.write_public_key(key), mode=0o644)
    result = {
        "private_key": str(private),
        "public_key": str(public),
        "key": fingerprint(key.public_key()),
    }
    _show(result, title="made", as_json=as_json)
    return OK


keys_group = ExampleGroup("keys", help="Generate keys to sign plugins with.", no_args_is_help=True)
keys_group.example = "plugin keys generate"
keys_group.add_command(generate_command)


def _find_subject(session: Session, text: str) -> tuple[ImageReference, list[PluginConfig]]:
    """Returns the reference to verify, and the configured plugins of its repository.

    Raises:
        UnknownNameError: it is a plugin's name, but no such plugin is configured.
        ArgumentError: it is neither a name nor a reference, or the plugin is not in a registry.
    """
    config = session.config()
    entry = config.plugin(text)
    if entry is None:
        if re.fullmatch(r"[A-Za-z0-9_]+", text):
            known = [plugin.name for plugin in config.plugins]
            raise UnknownNameError("plugin", text, known=known)
        where = read_reference(text)
        return where, [plugin for plugin in config.plugins if _comes_from(plugin, where)]
    if not entry.url.startswith("oci:"):
        raise ArgumentError(
            [f"{text}: {entry.url} is not in a registry; only plugins in one have signatures"]
        )
    return read_reference(entry.url), [entry]


def _comes_from(entry: PluginConfig, where: ImageReference) -> bool:
    if not entry.url.startswith("oci:"):
        return False
    try:
        found = read_reference(entry.url)
    except ArgumentError:
        return False  # loading that plugin reports the fault
    return (found.host, found.repository) == (where.host, where.repository)


def _typed_policy(
    keys: tuple[Path, ...], identity: str | None, issuer: str | None, roots: Path | None
) -> TrustPolicy | None:
    """Returns the policy of the options; None without options."""
    from carrel.trust.policy import Identity, TrustPolicy

    if bool(identity) != bool(issuer) or (roots and not identity):
        raise ArgumentError(["--identity and --issuer go together, and --roots with both"])
    if not keys and not identity:
        return None
    identities = (Identity(identity, issuer, roots),) if identity and issuer else ()
    return TrustPolicy(keys, identities)


def _configured_policy(session: Session, plugins: list[PluginConfig]) -> TrustPolicy:
    """Returns the policy for loading one of `plugins`, or the top-level one without any.

    Raises:
        ArgumentError: there is no policy, or the plugins' policies differ.
    """
    from carrel.plugins.sources.oci_source import required_trust

    config = session.config()
    names = [plugin.name for plugin in plugins]
    found = {required_trust(config, name) for name in names} or {required_trust(config, None)}
    if len(found) > 1:
        raise ArgumentError(
            [f"{', '.join(names)} come from there and differ in their `trust`; verify them by name"]
        )
    policy = found.pop()
    if policy is None:
        raise ArgumentError(
            ["no signer is given: use --key, or --identity and --issuer, or configure `trust`"]
        )
    return policy


def _digest(where: ImageReference, repository: RepositoryReader) -> str:
    """Returns the current digest of a reference, computed from the registry's response."""
    document = repository.manifest(where.wanted)
    if document is None:
        raise RegistryError(f"{where.host} has no {where.repository} with {where.wanted}")
    return document.digest


def _named(where: ImageReference, digest: str) -> dict[str, Any]:
    return {
        "reference": str(where),
        "digest": digest,
        "pinned": f"oci://{where.host}/{where.repository}@{digest}",
    }


def _password(prompt: str, *, twice: bool = False) -> bytes:
    password = os.environ.get(PASSWORD_VARIABLE)
    if password is None:
        if sys.stdin is None or not sys.stdin.isatty():
            raise ArgumentError(
                [f"a password is needed: set {PASSWORD_VARIABLE}, or type it on a terminal"]
            )
        password = click.prompt(
            prompt, hide_input=True, confirmation_prompt=twice, default="",
            show_default=False, err=True,
        )  # fmt: skip
    return password.encode("utf-8", "surrogateescape")


def _write_new(path: Path, data: bytes, *, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)


def _show(result: dict[str, Any], *, title: str, as_json: bool) -> None:
    if as_json or not stdout_is_terminal():
        write_json(result)
        return
    from .render import facts

    shown = dict(result)
    signer = shown.pop("signer", None)
    if signer:
        shown |= {key: value for key, value in signer.items() if value}
    facts(list(shown.items()), title=title)
