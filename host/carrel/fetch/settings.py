"""The fetch layer's settings; every default lives here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How upstreams are reached. What a plugin may reach is `policy.Policy`'s matter.

    Attributes:
        cache_path: SQLite file of answers; None keeps none.
        pace_path: SQLite file of token buckets, shared by every process that names it; None paces
            within this process only.
        homepage: where people find out what the User-Agent is; sent to every upstream.
        connect_seconds: until a connection stands, TLS included.
        read_seconds: how long an upstream may stay silent.
        max_redirects: redirects that one request may follow.
        retries: further attempts after a 429, a 5xx or a broken connection.
        retry_after_max_seconds: the longest `Retry-After` that is believed.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
        cache_max_bytes: bytes of answers kept on disk; the oldest go first.
        negative_cache_seconds: the longest that absence is kept (a 404, a 410, a plugin's
            `not_found`), whatever the manifest says: what is not there yet may be in minutes.
        refresh: pass the cache by; answers are kept all the same.
        keepalive_seconds: how long an idle connection is kept.
        breaker_failures: failures in a row after which an upstream is left alone.
        breaker_seconds: for how long, before jitter.
        reserve_seconds: what a call keeps for itself when its fetches end: this or
            `reserve_share` of its time, whichever is more, but at most a quarter.
        reserve_share: see `reserve_seconds`.
        max_request_bytes: the largest body of a POST.
        plugin_concurrency: requests that a plugin which is not built in may have in flight, over
            all its hosts and calls.
        plugin_bytes: bytes of answers that one plugin may hold at once, over all its calls.
        progress_seconds: how long a wait stays silent, and how far apart reports are.
    """

    cache_path: Path | None = None
    pace_path: Path | None = None
    homepage: str | None = None
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    max_redirects: int = 5
    retries: int = 2
    retry_after_max_seconds: float = 3600.0
    ca_bundle: Path | None = None
    cache_max_bytes: int = 512 * 2**20
    negative_cache_seconds: float = 300.0
    refresh: bool = False
    keepalive_seconds: float = 30.0
    breaker_failures: int = 5
    breaker_seconds: float = 60.0
    reserve_seconds: float = 2.0
    reserve_share: float = 0.05
    max_request_bytes: int = 4 * 2**20
    plugin_concurrency: int = 16
    plugin_bytes: int = 512 * 2**20
    progress_seconds: float = 0.5
