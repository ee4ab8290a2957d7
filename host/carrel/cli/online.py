"""Sends a request to each granted host, through the same fetch layer as plugins' requests."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from carrel.exchange import Call, Failure, Fetcher, Limits, ProgressHandler, Request

if TYPE_CHECKING:
    from carrel.config import Config, PluginConfig
    from carrel.plugins.manifests.manifest import Manifest
    from carrel.plugins.state import PluginState

#: Timeout in seconds for all hosts of one plugin.
_PATIENCE = 30.0


class FetcherFactory(Protocol):
    """The part of `carrel.plugins.grants.access.Access` that is used; tests pass a double."""

    def fetcher(self, entry: PluginConfig, manifest: Manifest, /) -> Fetcher:
        """Returns a fetcher under the manifest and the entry's grant."""
        ...

    def close(self) -> None:
        """Ends connections."""
        ...


def ask_hosts(
    config: Config,
    states: Sequence[PluginState],
    *,
    on_progress: ProgressHandler | None = None,
    access: FetcherFactory | None = None,
) -> list[dict[str, Any]]:
    """Sends one HEAD to each granted host; returns `{host, status, seconds}` or `{host, error}`.
    Applies the rate limits.

    Any status counts as reachable. Skips wildcards, which name no host.
    """
    if access is None:
        from carrel.plugins.grants import access as plugin_access

        access = plugin_access.Access(replace(config, record_dir=None, replay_dir=None))
    answers: dict[str, dict[str, Any]] = {}
    try:
        for state in states:
            entry = config.plugin(state.name)
            hosts = [host for host in state.granted if not host.startswith("*.")]
            if entry is None or state.manifest is None or not set(hosts) - set(answers):
                continue
            fetcher = access.fetcher(entry, _asking(state.manifest))
            limits = Limits(wall_seconds=_PATIENCE, fetches=len(hosts))
            call = Call(state.name, "doctor", limits)
            for number, host in enumerate(hosts):
                if host not in answers:
                    if on_progress is not None:
                        on_progress(number, len(hosts), host)
                    answers[host] = {"host": host, **_ask(fetcher, host, call)}
    finally:
        access.close()
    return list(answers.values())


def _ask(fetcher: Fetcher, host: str, call: Call) -> dict[str, Any]:
    started = time.monotonic()
    [outcome] = fetcher.fetch_all([Request("HEAD", f"https://{host}/")], call)
    if isinstance(outcome, Failure):
        return {"error": outcome.message}
    return {"status": outcome.status, "seconds": round(time.monotonic() - started, 3)}


def _asking(manifest: Manifest) -> Manifest:
    """Returns the manifest with uncached HEAD requests to each host's root in place of its rules.

    The rate limits stay; secrets are not sent, because only reachability is tested.
    """
    hosts = [
        {"host": host["host"], "methods": ["HEAD"], **{k: host[k] for k in ("pace",) if k in host}}
        for host in manifest.raw["hosts"]
    ]
    return replace(manifest, secrets=(), raw={**manifest.raw, "hosts": hosts, "secrets": []})
