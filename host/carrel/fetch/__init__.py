"""Mediated fetch: the only way out, and the only code that opens connections.

For each request and each redirect hop, in this order: parse the URL once (`url`), match it against
manifest and grant (`policy`), attach identity and secrets (`identity`), look into the cache
(`cache`) and join an identical request (`flight`), wait for the upstream's turn (`gate`,
`throttle`), resolve and check every address (`connect`, `address`), read under caps (`upstream`,
`decode`), write one line (`requestlog`). `record` wraps the whole at the `Fetcher` seam.

Names are imported when they are first used: parsing a document needs `decode` alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import FetchClient, PluginFetcher
    from .hosts import parse_host_entry
    from .identity import Secret
    from .manifest import read_policy
    from .policy import HostRule, Pace, Policy
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
    "HostRule": "policy",
    "Pace": "policy",
    "PluginFetcher": "client",
    "Policy": "policy",
    "RecordingFetcher": "record",
    "ReplayingFetcher": "record",
    "Secret": "identity",
    "parse_host_entry": "hosts",
    "read_policy": "manifest",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)
