"""Shares of the event loop: how much of its time the requests of each plugin may take.

All fetches run on one loop. Work is estimated as it is done; after a fraction of a millisecond the
task lets others run. The plugins that are not built in together take a quarter of the loop's time
at most, in equal parts, whatever their answers look like: each has a token bucket of seconds, and a
task whose plugin has used it up rests until it is paid for. A few milliseconds are free at any
time, which is more than an ordinary answer costs.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
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
#: The part of the loop's time that the plugins which are not built in have together.
_TOGETHER = 1 / 4
#: Seconds of work that a plugin may do at once after a rest.
_BURST_SECONDS = 5e-3


class LoopShares:
    """The buckets of all partitions; lives on the event loop.

    Args:
        clock: seconds, on any clock that never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._working: Counter[str] = Counter()
        self._buckets: dict[str, tuple[float, float]] = {}

    @contextmanager
    def share(self, partition: str) -> Iterator[Share]:
        """The share of one task, for as long as it works on a request.

        Args:
            partition: whose request it is; empty for the built-in plugins, which never rest.
        """
        self._working[partition] += 1
        try:
            yield Share(self, partition)
        finally:
            self._working[partition] -= 1
            if not self._working[partition]:
                del self._working[partition]

    def rest(self, partition: str, seconds: float) -> float:
        """Takes so many seconds of work from the partition's bucket; the seconds to rest."""
        if not partition:
            return 0.0
        now = self._clock()
        others = self._working.keys() - {"", partition}
        rate = _TOGETHER / (1 + len(others))
        level, touched = self._buckets.get(partition, (_BURST_SECONDS, now))
        level = min(_BURST_SECONDS, level + (now - touched) * rate) - seconds
        self._buckets[partition] = level, now
        return max(0.0, -level / rate)


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
