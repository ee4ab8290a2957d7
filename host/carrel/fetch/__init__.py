"""Mediated fetch: the only code that opens connections.

A request passes these steps in order: parse the URL once (`url`), check it against manifest and
grant (`policy`), look into the cache (`cache`), join an identical request (`batches`), attach
identity and secrets (`identity`), wait for a slot (`upstream_queue`, `token_buckets`), resolve the
name and check every address (`resolve`), connect (`connect`), send and read under limits (`http1`,
`decode`), retry or not (`retry`), log one line (`requestlog`). Each redirect hop is checked like a
request (`redirects`).
`record` wraps a fetcher to record its exchanges or replay them.

Names are imported when they are first used: parsing a document needs `decode` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .client import FetchClient, PluginFetcher
    from .identity import Secret
    from .policy.hosts import parse_host_entry
    from .policy.manifest import read_policy
    from .policy.rules import HostRule, Pace, Policy
    from .record import RecordingFetcher, ReplayingFetcher
    from .settings import FetchSettings

__all__ = [
    "FetchClient",
    "FetchSettings",
    "HostRule",
    "Pace",
    "PluginFetcher",
    "Policy",
    "RecordingFetcher",
    "ReplayingFetcher",
    "Secret",
    "parse_host_entry",
    "read_policy",
]

_HOMES = {
    "FetchClient": "client",
    "FetchSettings": "settings",
    "HostRule": "carrel.fetch.policy.rules",
    "Pace": "carrel.fetch.policy.rules",
    "PluginFetcher": "client",
    "Policy": "carrel.fetch.policy.rules",
    "RecordingFetcher": "record",
    "ReplayingFetcher": "record",
    "Secret": "identity",
    "parse_host_entry": "carrel.fetch.policy.hosts",
    "read_policy": "carrel.fetch.policy.manifest",
}


__getattr__ = lazy_names(__name__, _HOMES)
