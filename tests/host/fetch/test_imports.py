"""Tests that a cached or replayed call does not import what it does not use."""

from __future__ import annotations

import subprocess
import sys

_CHECK = """
import sys
from carrel.fetch import FetchClient, FetchSettings, RecordingFetcher, ReplayingFetcher, read_policy
from carrel.fetch.decode import decode_text
heavy = {"asyncio", "httpcore2", "httpx2", "anyio", "ssl", "sqlite3"}
print(" ".join(sorted(heavy & set(sys.modules))))
"""


def test_importing_the_fetch_layer_imports_no_network_stack_and_no_database() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CHECK], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == []
