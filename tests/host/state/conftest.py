"""Fixtures of the tests of stores: one store of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.state import KeyValueStore, StoreLimits
from carrel.state.redis_server import RedisServer
from carrel.state.redis_settings import RedisSettings
from carrel.state.redis_store import RedisStore
from carrel.state.sqlite_store import SqliteStore

MakeStore = Callable[..., KeyValueStore]


@pytest.fixture(params=["sqlite", "redis"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MakeStore]:
    """Opens stores of one namespace, each as another process would; keywords are limits."""
    opened: list[KeyValueStore] = []
    servers: list[RedisServer] = []
    settings: RedisSettings | None = None
    if request.param == "redis":
        settings = request.getfixturevalue("redis_settings")

    def make(**given: int | bool) -> KeyValueStore:
        limits = StoreLimits(**given)  # type: ignore[arg-type]
        if settings is None:
            opened.append(SqliteStore(tmp_path / "state" / "tests.sqlite", limits))
        else:
            servers.append(RedisServer(settings))
            opened.append(RedisStore(servers[-1], "tests", limits))
        return opened[-1]

    yield make
    for store in opened:
        store.close()
    for server in servers:
        server.close()


@pytest.fixture
def store(make_store: MakeStore) -> KeyValueStore:
    return make_store()
