"""Asking the granted hosts whether they answer, by the same road that plugins' requests take."""

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

#: Seconds that one plugin's hosts together get.
_PATIENCE = 30.0


class FetcherFactory(Protocol):
    """What is asked of `carrel.plugins.grants.access.Access`; tests hand in a double."""

    def fetcher(self, entry: PluginConfig, manifest: Manifest, /) -> Fetcher:
        """A fetcher under the manifest and the entry's grant."""
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
    """One HEAD to each granted host, at its pace: `{host, status, seconds}` or `{host, error}`.

    Any status counts as an answer. Wildcards are passed over: they name no host to ask.
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
    """The manifest with a fresh HEAD of each host's root in place of what it declares.

    The pace stays; secrets do not go along, because a reachable host is all that is asked for.
    """
    hosts = [
        {"host": host["host"], "methods": ["HEAD"], **{k: host[k] for k in ("pace",) if k in host}}
        for host in manifest.raw["hosts"]
    ]
    return replace(manifest, secrets=(), raw={**manifest.raw, "hosts": hosts, "secrets": []})
