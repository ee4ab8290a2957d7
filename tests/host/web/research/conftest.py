"""Sessions in memory, and doubles of the web."""

from __future__ import annotations

import pytest

from carrel.exchange import Call, Limits
from carrel.web.research.sessions import SessionStore
from support.memory_state import MemoryStore
from support.paper_tools import configure, copies
from support.research_doubles import memory_sessions

__all__ = ["configure", "copies"]


@pytest.fixture
def memory() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def sessions(memory: MemoryStore) -> SessionStore:
    return memory_sessions(memory)


@pytest.fixture
def call() -> Call:
    return Call("carrel", "research", Limits(wall_seconds=20))
