"""Opens the store that the configuration chooses, and says whether it works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from carrel.errors import StateError

from .store import KeyValueStore, StoreLimits, check_namespace

if TYPE_CHECKING:
    from .redis_settings import RedisSettings


class StateConfig(Protocol):
    """The part of the configuration that a store needs; `carrel.config.Config` has it."""

    @property
    def data_dir(self) -> Path:
        """The folder for data that must not be deleted."""
        ...

    @property
    def store(self) -> RedisSettings | None:
        """The Redis server; None keeps state in files."""
        ...


def open_store(
    config: StateConfig, namespace: str, limits: StoreLimits | None = None
) -> KeyValueStore:
    """Opens a namespace; no file or connection is opened before it is used.

    Args:
        config: says where state is kept.
        namespace: lower-case letters, digits, `_` and `-`; one for each feature.
        limits: of the namespace; the same in all processes.

    Raises:
        ValueError: the namespace is no such name.
        StateError: the client for Redis is not installed.
    """
    check_namespace(namespace)
    limits = limits or StoreLimits()
    if config.store is not None:
        from .redis_server import acquire_server
        from .redis_store import RedisStore

        return RedisStore(acquire_server(config.store), namespace, limits)
    from .sqlite_store import SqliteStore

    return SqliteStore(state_folder(config) / f"{namespace}.sqlite", limits)


def state_folder(config: StateConfig) -> Path:
    """Returns the folder of the files with state."""
    return config.data_dir / "state"


def store_health(config: StateConfig) -> StateError | None:
    """Returns why the store cannot be used now; None when it answers and accepts writes."""
    try:
        if config.store is not None:
            _begin(config.store)
        store = open_store(config, "health", StoreLimits(max_entries=100))
        try:
            store.put("probe", b"1", seconds=60.0)
        finally:
            store.close()
    except StateError as fault:
        return fault
    return None


def _begin(settings: RedisSettings) -> None:
    from .redis_server import acquire_server, release_server

    server = acquire_server(settings)
    try:
        server.begin()
    finally:
        release_server(server)


def examine_store(config: StateConfig) -> dict[str, Any]:
    """Returns the state of the store for people: kind, place, problem, advice; no secret.

    Creates no file.
    """
    if config.store is None:
        return {"kind": "sqlite", "where": str(state_folder(config))}
    from .redis_health import examine_server

    report = {"kind": "redis", **examine_server(config.store)}
    problem = store_health(config)
    return report if problem is None else {**report, "problem": problem.message}
