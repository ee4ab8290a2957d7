"""Plugins from registries: pulled into a store, and read from it as they were approved.

Reading needs no network and does not trust the disk: content is checked against its digest, the
digest against the lock, and the signature is verified each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.errors import LoadError, LockError, RegistryError, SignatureError

from .source import PluginSource

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.oci.layout import PluginArtifact
    from carrel.oci.reference import ImageReference
    from carrel.oci.repository import RepositoryReader
    from carrel.oci.settings import RegistrySettings
    from carrel.oci.store import PluginStore
    from carrel.plugins.approval.lock import LockEntry
    from carrel.trust.policy import TrustPolicy

ProgressHandler = Callable[[float, float | None, str], None]


def read_locked(
    config: Config, entry: PluginConfig, locked: LockEntry, *, altered: list[str] | None = None
) -> PluginSource | None:
    """Returns the approved bytes from the store; None when they are not on this machine.

    Args:
        config: locates the store.
        entry: the plugin's.
        locked: the approved entry.
        altered: receives the digests of content that was altered.

    Raises:
        LoadError: the bytes are not the approved ones, or no signature is trusted.
    """
    from carrel.oci.layout import read_plugin

    digest = _locked_digest(entry, locked)
    store = plugin_store(config)
    stored = store.repository(_reference(entry))
    artifact = None
    if stored.manifest(digest) is not None:
        try:
            artifact = read_plugin(stored, digest, max_bytes=config.runtime.max_component_bytes)
        except RegistryError:
            pass  # a part of it is missing or damaged, and was removed
    if altered is not None:
        altered += store.altered
    if artifact is None:
        return None
    return _source(config, entry, artifact, stored)


def pull_locked(
    config: Config,
    entry: PluginConfig,
    locked: LockEntry,
    on_progress: ProgressHandler | None = None,
) -> None:
    """Pulls the approved bytes by their digest into the store.

    Raises:
        RegistryError: the registry does not have them, or cannot be reached.
    """
    import dataclasses

    reference = dataclasses.replace(_reference(entry), digest=_locked_digest(entry, locked))
    _pull(config, entry, reference, on_progress)


def pull_newest(
    config: Config, entry: PluginConfig, on_progress: ProgressHandler | None = None
) -> PluginSource:
    """Pulls what the entry's address names now and verifies it, to be approved.

    Raises:
        LoadError: it cannot be pulled, or no signature is trusted.
    """
    artifact, stored = _pull(config, entry, _reference(entry), on_progress)
    return _source(config, entry, artifact, stored)


def _pull(
    config: Config,
    entry: PluginConfig,
    reference: ImageReference,
    on_progress: ProgressHandler | None,
) -> tuple[PluginArtifact, RepositoryReader]:
    from carrel.oci.pull import pull
    from carrel.oci.registry import open_repository

    store = plugin_store(config)
    settings = registry_settings(config, reference.host)
    try:
        with open_repository(
            reference, settings, on_progress=on_progress, partial_blobs=store.partial_blobs
        ) as repository:
            artifact = pull(
                reference,
                repository,
                store,
                max_bytes=config.runtime.max_component_bytes,
                on_progress=on_progress,
            )
    except RegistryError as error:
        if error.plugin is None:
            raise RegistryError(
                f"{entry.name}: {error.message}", plugin=entry.name, status=error.status
            ) from error
        raise
    return artifact, store.repository(reference)


def _source(
    config: Config, entry: PluginConfig, artifact: PluginArtifact, stored: RepositoryReader
) -> PluginSource:
    policy = required_trust(config, entry.name)
    signer = None
    if policy is not None:
        from carrel.trust.verify import verify

        try:
            signer = str(verify(stored, artifact.digest, policy, plugin=entry.name))
        except SignatureError as error:
            raise SignatureError(
                f"{entry.name}: {error.message}", plugin=entry.name, tried=error.tried
            ) from None
    return PluginSource(
        artifact.wasm,
        artifact.wasm_digest.removeprefix("sha256:"),
        builtin=False,
        oci_digest=artifact.digest,
        signer=signer,
    )


def required_trust(config: Config, name: str | None) -> TrustPolicy | None:
    """Returns who must have signed a plugin from a registry; None requires no signature.

    Args:
        config: with the plugins and trusted signers.
        name: the plugin's entry; None for one that has no entry.
    """
    policy = config.trust if name is None else config.trust_for(name)
    return policy if policy is not None and (policy.keys or policy.identities) else None


def registry_settings(config: Config, host: str) -> RegistrySettings:
    """Returns how to reach the registry at `HOST[:PORT]`."""
    from carrel.config import RegistryConfig
    from carrel.oci.settings import RegistrySettings

    registries = config.registries
    return RegistrySettings(
        plain_http_hosts=frozenset(
            name for name, registry in registries.items() if registry.plain_http
        ),
        private_hosts=frozenset(name for name, registry in registries.items() if registry.private),
        realm_hosts=frozenset(
            (name, realm) for name, registry in registries.items() for realm in registry.realms
        ),
        ca_bundle=registries.get(host, RegistryConfig()).ca_bundle or config.fetch.ca_bundle,
    )


def plugin_store(config: Config) -> PluginStore:
    """Returns the store of pulled plugins."""
    from carrel.oci.store import PluginStore

    return PluginStore(config.data_dir / "plugins")


def _reference(entry: PluginConfig) -> ImageReference:
    from carrel.oci.reference import parse_reference

    try:
        return parse_reference(entry.url)
    except RegistryError as error:
        raise LoadError(f"{entry.name}: {error.message}", plugin=entry.name) from None


def _locked_digest(entry: PluginConfig, locked: LockEntry) -> str:
    """Returns the approved digest of the entry's address.

    Raises:
        LockError: another address was approved, or one that comes from no registry.
    """
    pinned = _reference(entry).digest
    if locked.digest is not None and locked.url == entry.url and pinned in {None, locked.digest}:
        return locked.digest
    change = f"address: {locked.url} → {entry.url}"
    if locked.url == entry.url:
        change = f"digest: {locked.digest or 'none'} → {pinned or 'none'}"
    raise LockError(
        f"{entry.name}: not what was approved: {change}; "
        f"to see and approve it: carrel plugin lock {entry.name}",
        plugin=entry.name,
        changes=[change],
    )
