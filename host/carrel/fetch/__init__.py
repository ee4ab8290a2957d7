"""Mediated fetch: the only way out, and the only code that opens connections.

For each request and each redirect hop, in this order: parse the URL once (`url`), match it against
manifest and grant (`policy`), attach identity and secrets (`identity`), look into the cache
(`cache`) and join an identical request (`coalescing`), wait for a slot (`upstream_queue`,
`token_buckets`), resolve and check every address (`connect`, `address`), read under caps
(`http1`, `decode`), write one line (`requestlog`). `record` wraps the whole at the `Fetcher` seam.

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
