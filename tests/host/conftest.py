"""Fixtures of the host's tests: a real Redis server."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from carrel.state.redis_server import RedisServer
from carrel.state.redis_settings import RedisSettings
from support.redis_process import RedisProcess


@pytest.fixture(scope="session")
def redis_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisProcess]:
    """Returns one server for the whole run; tests that break a server start their own."""
    with RedisProcess(tmp_path_factory.mktemp("redis"), options={"appendfsync": "no"}) as process:
        yield process


@pytest.fixture
def redis_settings(redis_process: RedisProcess) -> RedisSettings:
    """Returns how to reach the server, with keys that no other test has."""
    return redis_process.settings(prefix=f"t{uuid4().hex[:12]}", timeout_seconds=10.0)


@pytest.fixture
def redis_server(redis_settings: RedisSettings) -> Iterator[RedisServer]:
    server = RedisServer(redis_settings)
    yield server
    server.close()
