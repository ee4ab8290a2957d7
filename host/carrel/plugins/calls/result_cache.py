"""Caches results in memory, keyed by tool and arguments.

A component that imports nothing but the contract has neither a clock nor random numbers: its result
depends on its bytes, the tool, the arguments, its settings, and the responses to its requests. So a
result is cached when every request of its call was a cache hit, and returned without an instance
while those cached responses are fresh and unchanged.

Calls without requests, and calls with any other outcome than a cache hit, are not cached.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.exchange import CacheHit, CacheHitChecker

#: What an entry costs beyond its texts, roughly.
_OVERHEAD = 1000

#: A tool and its arguments, as the JSON text that the guest receives.
ResultKey = tuple[str, str]


@dataclass(slots=True)
class _Entry:
    text: bytes
    hits: Sequence[CacheHit]
    version: object


class ResultCache:
    """A least-recently-used cache of one plugin's results under one policy. Thread-safe.

    Args:
        checker: of the cache hits that a result was built from.
        max_bytes: of keys and results.
    """

    def __init__(self, checker: CacheHitChecker, max_bytes: int) -> None:
        self._checker = checker
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[ResultKey, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: ResultKey) -> bytes | None:
        """Returns the result if every cached response it was built from is fresh and unchanged."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        version = self._checker.still_cached(entry.hits, entry.version)
        if version is None:
            self._remove(key, entry)
            return None
        entry.version = version
        return entry.text

    def put(self, key: ResultKey, text: bytes, hits: Sequence[CacheHit]) -> None:
        """Caches a checked result that was built from these cache hits alone."""
        size = _size(key, text)
        version = self._checker.still_cached(hits, None)
        if version is None:
            return
        with self._lock:
            if size > self._max_bytes or key in self._entries:
                return
            while self._bytes + size > self._max_bytes:
                oldest, entry = self._entries.popitem(last=False)
                self._bytes -= _size(oldest, entry.text)
            self._entries[key] = _Entry(text, tuple(hits), version)
            self._bytes += size

    def _remove(self, key: ResultKey, entry: _Entry) -> None:
        with self._lock:
            if self._entries.get(key) is entry:
                del self._entries[key]
                self._bytes -= _size(key, entry.text)


def _size(key: ResultKey, text: bytes) -> int:
    return len(text) + len(key[1]) + _OVERHEAD
