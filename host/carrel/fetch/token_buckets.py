"""Token buckets, one per upstream, shared by all processes that use the same file.

Each bucket is one number: the time at which it will be full (GCRA's theoretical arrival time). A
slot is taken when it is due and not before, in one short immediate transaction: two processes never
take the same slot, no slot is reserved in advance, and a pause that an upstream asks for applies to
all processes at once.

Time is the wall clock, the only one that processes and reboots share. When it jumps back, the rest
of a wait is computed from the time the bucket was last touched; when it jumps forward, one wait
ends early.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .clock import Clock
from .database import Database

if TYPE_CHECKING:
    import sqlite3

_SCHEMA = """
CREATE TABLE IF NOT EXISTS bucket_v1 (
    upstream TEXT PRIMARY KEY,
    full_at REAL NOT NULL,
    touched REAL NOT NULL
) WITHOUT ROWID;
-- Buckets of versions of plugins that are no longer here; one that is full says nothing anyway.
DELETE FROM bucket_v1
WHERE upstream LIKE 'plugin/%' AND full_at < CAST(strftime('%s', 'now') AS REAL) - 86400;
"""

#: Seconds to wait for another process's transaction; a longer one means a stuck process.
_BUSY_SECONDS = 2.0

#: Copies in memory after which those of full buckets are removed.
_MOST_KEPT = 1024

# A slot this close is due: timers wake a little early.
_DUE = 0.001

# Smaller differences are clock adjustments, not jumps.
_CLOCK_SLACK = 0.5

# No bucket is further in the future when it is written; a file with a later time is damaged.
_LONGEST = 7200.0


@dataclass(frozen=True, slots=True)
class Slot:
    """The outcome of an attempt to take a slot.

    Attributes:
        wait: 0 when the slot was taken, else the seconds until one may be due.
        full_at: of a taken slot: when its bucket is full if no other is taken.
        circuit_seconds: how long the upstream's circuit stays open, by what replicas share; no slot
            was taken then.
        failures: of the upstream in a row, over all replicas.
    """

    wait: float
    full_at: float = 0.0
    circuit_seconds: float = 0.0
    failures: int = 0


# (full_at, now) → the outcome, and the bucket's new full_at, or None if it does not change.
_Decide = Callable[[float, float], "tuple[Slot, float | None]"]


class PaceStore(Protocol):
    """The interface of the buckets `TokenBuckets` and `RedisTokenBuckets`."""

    def take(self, upstream: str, interval: float, burst: int) -> Slot:
        """See `TokenBuckets`."""
        ...

    def keep(self, upstream: str, interval: float, burst: int, slot: Slot) -> Slot:
        """See `TokenBuckets`."""
        ...

    def give_back(self, upstream: str, interval: float, slot: Slot) -> None:
        """See `TokenBuckets`."""
        ...

    def penalise(self, upstream: str, interval: float, burst: int, seconds: float) -> None:
        """See `TokenBuckets`."""
        ...

    def close(self) -> None:
        """See `TokenBuckets`."""
        ...


class TokenBuckets:
    """The buckets of one file, with a copy in memory for when the file cannot be used."""

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._clock = clock
        self._memory: dict[str, tuple[float, float]] = {}
        self._most = _MOST_KEPT
        self._lock = threading.Lock()
        self._database = (
            None
            if path is None
            else Database(
                path, _SCHEMA, purpose="pace shared by processes", busy_seconds=_BUSY_SECONDS
            )
        )

    def take(self, upstream: str, interval: float, burst: int) -> Slot:
        """Takes a slot if one is due."""
        return self._update(
            upstream, lambda full_at, now: _take_if_due(full_at, now, interval, burst)
        )

    def keep(self, upstream: str, interval: float, burst: int, slot: Slot) -> Slot:
        """Moves a taken slot to now, for a request that is sent later than its slot.

        If another slot was taken since, its request may be sent now too, so this request takes a
        new slot.
        """

        def decide(full_at: float, now: float) -> tuple[Slot, float | None]:
            # A bucket that has filled up since let no other request pass.
            if full_at > max(slot.full_at, now):
                return _take_if_due(full_at, now, interval, burst)
            return Slot(0.0, now + interval), now + interval

        return self._update(upstream, decide)

    def give_back(self, upstream: str, interval: float, slot: Slot) -> None:
        """Undoes taking a slot, unless another was taken or a pause set since."""

        def decide(full_at: float, _now: float) -> tuple[Slot, float | None]:
            return Slot(0.0), full_at - interval if full_at == slot.full_at else None

        self._update(upstream, decide)

    def penalise(self, upstream: str, interval: float, burst: int, seconds: float) -> None:
        """Allows no slot for these seconds, and no burst right after them."""
        pause = seconds + (burst - 1) * interval
        self._update(upstream, lambda full_at, now: (Slot(pause), max(full_at, now + pause)))

    def close(self) -> None:
        """Closes the file."""
        if self._database is not None:
            self._database.close()

    def _update(self, upstream: str, decide: _Decide) -> Slot:
        with self._lock:
            answer = None
            if self._database is not None:
                answer = self._database.transact(
                    lambda connection: self._decide_in_file(connection, upstream, decide)
                )
            if answer is None:
                now = self._clock.wall()
                answer, full_at = _decided(decide, self._memory.get(upstream), now)
                self._remember(upstream, full_at, now)
            return answer

    def _decide_in_file(
        self, connection: sqlite3.Connection, upstream: str, decide: _Decide
    ) -> Slot:
        # The clock is read inside the transaction: waiting for another process took time.
        now = self._clock.wall()
        row = connection.execute(
            "SELECT full_at, touched FROM bucket_v1 WHERE upstream = ?", (upstream,)
        ).fetchone()
        answer, full_at = _decided(decide, row or self._memory.get(upstream), now)
        if full_at is not None:
            connection.execute(
                "INSERT INTO bucket_v1 VALUES (?1, ?2, ?3) ON CONFLICT (upstream) "
                "DO UPDATE SET full_at = ?2, touched = ?3",
                (upstream, full_at, now),
            )
            self._remember(upstream, full_at, now)
        return answer

    def _remember(self, upstream: str, full_at: float | None, now: float) -> None:
        if full_at is None:
            return
        self._memory[upstream] = (full_at, now)
        if len(self._memory) > self._most:
            # A bucket that is full is as one that was never used.
            self._memory = {name: times for name, times in self._memory.items() if times[0] > now}
            self._most = max(_MOST_KEPT, 2 * len(self._memory))


def _take_if_due(
    full_at: float, now: float, interval: float, burst: int
) -> tuple[Slot, float | None]:
    wait = full_at - (burst - 1) * interval - now
    if wait > _DUE:
        return Slot(wait), None
    return Slot(0.0, full_at + interval), full_at + interval


def _decided(
    decide: _Decide, state: tuple[float, float] | None, now: float
) -> tuple[Slot, float | None]:
    """Returns the outcome, and what to write.

    After a jump back the corrected time is written even if no slot was taken; otherwise the rest of
    the wait would be computed again, and be as long, at each attempt.
    """
    recalled = _recall(state, now)
    answer, full_at = decide(recalled, now)
    if full_at is None and state is not None and _has_jumped(state[1], now):
        full_at = recalled
    return answer, full_at


def _has_jumped(touched: float, now: float) -> bool:
    """Returns whether the clock was set back since a bucket was touched."""
    return touched > now + _CLOCK_SLACK


def _recall(state: tuple[float, float] | None, now: float) -> float:
    """Returns when the bucket is full, corrected for jumps of the clock."""
    if state is None:
        return now
    full_at, touched = state
    full_at = min(full_at, touched + _LONGEST)
    if _has_jumped(touched, now):
        full_at = now + max(0.0, full_at - touched)
    return max(full_at, now)
