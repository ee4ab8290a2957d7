"""Fixtures: servers that the tests of a module share, because a start takes half a second."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.mcp_schema import assert_frames_valid
from support.stdio_client import HANDSHAKE, MODERN, StdioClient


@pytest.fixture(scope="module")
def client() -> Iterator[StdioClient]:
    """Yields a client of the last revision with a handshake; validates its frames at the end."""
    with StdioClient() as client:
        client.open()
        yield client
        assert client.finish() == 0
        assert_frames_valid("2025-11-25", client.pairs)


@pytest.fixture(scope="module", params=["2025-11-25", MODERN])
def era_client(request: pytest.FixtureRequest) -> Iterator[StdioClient]:
    """Yields a client of each era."""
    with StdioClient() as client:
        client.open(request.param)
        yield client
        assert client.finish() == 0
        assert_frames_valid(request.param, client.pairs)


@pytest.fixture(params=[*HANDSHAKE, MODERN])
def revision(request: pytest.FixtureRequest) -> str:
    """Returns each revision of the protocol that the server speaks."""
    return str(request.param)
