"""Shares of the event loop: how much of its time the requests of each plugin may take.

All fetches run on one loop. Work is estimated as it is done; after a fraction of a millisecond the
task lets others run. While more than one partition has work, a task of a plugin that is not built
in then also rests, in proportion to what it used and to how many such tasks there are: whatever
their answers look like, those plugins together take at most a quarter of the loop's time, in equal
parts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

# Measured on one slow core; only the order of magnitude matters.
#: Seconds that a piece of an answer costs (a TLS record, a chunk), and each byte of it.
_PIECE_SECONDS = 20e-6
_BYTE_SECONDS = 4e-9
#: Seconds that a TLS handshake costs, and a request beyond that and its answer.
HANDSHAKE_SECONDS = 2.2e-3
REQUEST_SECONDS = 0.8e-3
#: Seconds of work between two turns of the loop.
_TURN_SECONDS = 0.2e-3
#: Seconds of rest for each second of work, for a single task.
_REST_FACTOR = 3.0


class LoopShares:
    """Who works on answers right now; lives on the event loop."""

    def __init__(self) -> None:
        self._working: Counter[str] = Counter()

    @contextmanager
    def share(self, partition: str) -> Iterator[Share]:
        """The share of one task, for as long as it works on an answer.

        Args:
            partition: whose answer it is; empty for the built-in plugins, which never rest.
        """
        self._working[partition] += 1
        try:
            yield Share(self, partition)
        finally:
            self._working[partition] -= 1
            if not self._working[partition]:
                del self._working[partition]

    def rest(self, partition: str, seconds: float) -> float:
        """Seconds to rest after so many seconds of work."""
        if not partition or len(self._working) == 1:
            return 0.0
        return _REST_FACTOR * seconds * self._working[partition] * len(self._working)


class Share:
    """One task's share of the loop."""

    def __init__(self, shares: LoopShares, partition: str) -> None:
        self._shares = shares
        self._partition = partition
        self._used = 0.0

    async def spend(self, size: int = 0, *, pieces: int = 1, seconds: float = 0.0) -> None:
        """Notes work that was done, and lets others run when it is enough.

        Args:
            size: bytes that were worked on.
            pieces: in how many pieces.
            seconds: what it cost beyond that.
        """
        self._used += pieces * _PIECE_SECONDS + size * _BYTE_SECONDS + seconds
        if self._used >= _TURN_SECONDS:
            used, self._used = self._used, 0.0
            await asyncio.sleep(self._shares.rest(self._partition, used))
