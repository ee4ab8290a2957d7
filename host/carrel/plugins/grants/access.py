"""Makes fetchers: each plugin's declared hosts, cut down to the operator's grant."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from carrel.errors import ConfigError, StorageError
from carrel.fetch.policy.manifest import read_policy
from carrel.fetch.policy.rules import BUILTIN, Policy

from .pace import paced, upstream_rules
from .public_web import public_web
from .secrets import provided_secrets

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.exchange import Fetcher
    from carrel.fetch.client import FetchClient
    from carrel.fetch.identity import Secret
    from carrel.fetch.recording import Recordings
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.telemetry import UpstreamState


class Access:
    """Makes the fetchers of a configuration's plugins; they share a client or a recording.

    Args:
        config: says whether to fetch, to record or to replay.
        client: sends the requests; made when it is first needed if None.
    """

    def __init__(self, config: Config, client: FetchClient | None = None) -> None:
        self._config = config
        self._client = client
        self._recordings: Recordings | None = None
        self._lock = threading.Lock()

    def fetcher(self, entry: PluginConfig, manifest: Manifest, digest: str = "") -> Fetcher:
        """The fetcher of one plugin: real, recording, or replaying.

        Args:
            entry: the plugin's, with the grant.
            manifest: with the hosts and secrets that the plugin asks for.
            digest: of its bytes; versions of a plugin share no state.

        Raises:
            ConfigError: an entry of the grant is refused.
        """
        return self.fetcher_of(*effective_policy(self._config, entry, manifest, digest))

    def fetcher_of(self, policy: Policy, secrets: Sequence[Secret] = ()) -> Fetcher:
        """The fetcher under a policy, for requests of the host's own features."""
        from carrel.fetch.record import RecordingFetcher, ReplayingFetcher

        config = self._config
        with self._lock:
            self._open_recordings()
            if config.replay_dir is not None:
                assert self._recordings is not None, "just opened"
                return ReplayingFetcher(self._recordings, policy)
            if self._client is None:
                self._client = _make_client(config)
        fetcher = self._client.for_plugin(policy, secrets)
        if self._recordings is None:
            return fetcher
        return RecordingFetcher(fetcher, self._recordings)

    def missing_requirement(self, entry: PluginConfig, manifest: Manifest) -> str | None:
        """Returns which required secret of a plugin is not set and how to set it; None if all are.

        A replayed request needs no secret: see `requirements.missing_requirement`.
        """
        from .requirements import missing_requirement

        missing = missing_requirement(self._config, entry, manifest)
        if missing is None or self._config.replay_dir is None:
            return missing
        with self._lock:
            try:
                recordings = self._open_recordings()
            except StorageError:
                return None  # the call that reads the recording reports it
        assert recordings is not None, "just opened"
        return missing_requirement(self._config, entry, manifest, recorded=recordings.requests)

    def _open_recordings(self) -> Recordings | None:
        """Opens the folder to record in or to replay; the caller holds the lock."""
        from carrel.fetch.recording import Recordings

        config = self._config
        folder = config.replay_dir or config.record_dir
        if folder is not None and self._recordings is None:
            self._recordings = Recordings(folder, create=config.replay_dir is None)
        return self._recordings

    def upstreams(self) -> list[UpstreamState]:
        """Returns the state of every upstream that was asked."""
        with self._lock:
            client = self._client
        return [] if client is None else client.upstreams()

    def close(self) -> None:
        """Closes connections."""
        if self._client is not None:
            self._client.close()


def effective_policy(
    config: Config, entry: PluginConfig, manifest: Manifest, digest: str = ""
) -> tuple[Policy, tuple[Secret, ...]]:
    """Returns manifest ∩ grant: the requests that a plugin may make, and the secrets for them.

    Fetchers use it, and `carrel plugin inspect` shows it.

    Raises:
        ConfigError: an entry of the grant is refused.
    """
    try:
        return read_policy(
            manifest.raw,
            granted=entry.allowed_hosts,
            provided=provided_secrets(config, entry, manifest),
            plugin=entry.name,
            repace=partial(paced, entry),
            partition=_partition(entry, digest),
            upstream_rules=upstream_rules(entry),
            public_web=public_web(config),
            endpoint=entry.endpoint,
            trace_hosts=entry.trace_hosts,
        )
    except ValueError as error:
        raise ConfigError([f"plugins.{entry.name}: {error}"]) from None


def _partition(entry: PluginConfig, digest: str) -> str:
    """Returns the partition of a plugin's state; each server of the operator's own is another."""
    if entry.endpoint is not None:
        return f"{entry.name}@{entry.endpoint.url}"
    return BUILTIN if entry.is_builtin else f"{entry.name}@{digest}"


def granted_hosts(entry: PluginConfig, manifest: Manifest) -> tuple[str, ...]:
    """Returns the hosts that are both declared and granted."""
    policy = Policy(entry.name, manifest.hosts, entry.allowed_hosts, endpoint=entry.endpoint)
    return tuple(dict.fromkeys(rule.host for rule in policy.effective))


def _make_client(config: Config) -> FetchClient:
    from carrel.fetch.client import FetchClient
    from carrel.fetch.settings import FetchSettings

    fetch = config.fetch
    return FetchClient(
        FetchSettings(
            cache_path=config.cache_dir / "answers.sqlite" if fetch.cache_max_bytes else None,
            pace_path=config.cache_dir / "pace.sqlite",
            redis=config.store,
            connect_seconds=fetch.connect_seconds,
            read_seconds=fetch.read_seconds,
            max_redirects=fetch.max_redirects,
            retries=fetch.retries,
            ca_bundle=fetch.ca_bundle,
            cache_max_bytes=fetch.cache_max_bytes,
            refresh=config.refresh,
        )
    )
