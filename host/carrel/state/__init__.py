"""Keeps state that outlives a call and is shared by processes: budgets, sessions, artifacts.

Start with `store`: the `KeyValueStore` that features use. `sqlite_store` keeps it in a file,
`redis_store` in a Redis server that several machines share (`redis_settings`, `redis_server`);
`opening` chooses between them by the configuration and says whether the store works.

    >>> store = open_store(config, "artifacts", StoreLimits(max_entries=1000))
    >>> store.put("local/3f2a", b"...", seconds=1800)

`carrel.fetch` keeps its cache, rate limits and circuit breakers in the same Redis server, or in
files of its own.
"""

from __future__ import annotations

from carrel.errors import StateError

from .opening import StateConfig, examine_store, open_store, store_health
from .store import KeyValueStore, StoreLimits

__all__ = [
    "KeyValueStore",
    "StateConfig",
    "StateError",
    "StoreLimits",
    "examine_store",
    "open_store",
    "store_health",
]
