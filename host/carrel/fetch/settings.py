"""The fetch layer's settings, with every default."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.state.redis_settings import RedisSettings


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """How to reach upstreams. `policy.Policy` decides what a plugin may reach.

    Attributes:
        cache_path: SQLite file of responses; None disables the cache.
        pace_path: SQLite file of token buckets, shared by all processes that use it; None paces
            this process alone.
        redis: the server that replaces both files, so that processes on several machines share
            cache, pace and circuit breakers; None uses the files.
        homepage: a page about this software for the User-Agent; sent to every upstream.
        connect_seconds: for connecting, TLS handshake included.
        read_seconds: for which an upstream may be silent.
        max_redirects: redirects that one request may follow.
        retries: further attempts after a 429, a 5xx or a broken connection.
        retry_after_max_seconds: the longest `Retry-After` that is respected.
        ca_bundle: a PEM file of certificate authorities trusted besides the system's.
        cache_max_bytes: bytes of the cache on disk; the oldest entries are evicted.
        negative_cache_seconds: the longest that absence is cached (a 404, a 410, a plugin's
            `not_found`), overriding the manifest: a missing item may appear within minutes.
        refresh: bypass the cache; responses are stored all the same.
        keepalive_seconds: for which an idle connection stays open.
        breaker_failures: failures in a row that open an upstream's circuit.
        breaker_seconds: for which it stays open, before jitter.
        reserve_seconds: time of a call that is left when its fetches end: this or
            `reserve_share` of its time, whichever is more, but at most a quarter.
        reserve_share: see `reserve_seconds`.
        max_request_bytes: the largest body of a POST.
        plugin_concurrency: requests that a plugin which is not built in may have in flight, over
            all its hosts and calls.
        plugin_bytes: bytes of responses that one plugin may hold, over all its calls.
        progress_seconds: between two progress reports of a wait, and before the first.
    """

    cache_path: Path | None = None
    pace_path: Path | None = None
    redis: RedisSettings | None = None
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
