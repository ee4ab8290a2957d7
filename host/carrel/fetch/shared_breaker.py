"""A circuit breaker that replicas share: failures in a row count over all of them.

What they share comes with each slot of the upstream, so an ordinary request costs no round trip
more. Without the store each process has its own breaker.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final, Protocol

from carrel.errors import StateError

from .clock import Clock
from .retry import Breaker
from .token_buckets import Slot

log = logging.getLogger("carrel.fetch")

#: Seconds after which another process may probe if the outcome of a probe is never reported.
_PROBE_SECONDS: Final = 60.0


class CircuitStore(Protocol):
    """The interface of the store that replicas share circuits in: `RedisTokenBuckets`."""

    def report(self, upstream: str, outcome: str, seconds: float = 0.0) -> float:
        """See `RedisTokenBuckets`."""
        ...


class SharedBreaker(Breaker):
    """The breaker of one upstream; used on the event loop only.

    Args:
        upstream: the bucket's name.
        store: the state that replicas share.
        executor: runs its operations.
        failures: in a row that open the circuit.
        seconds: for which it stays open.
    """

    def __init__(
        self,
        upstream: str,
        store: CircuitStore,
        executor: Executor,
        *,
        failures: int,
        seconds: float,
        clock: Clock,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(failures, seconds, clock, jitter)
        self._upstream = upstream
        self._store = store
        self._executor = executor
        #: Failures in a row that the store had when it was last read.
        self._stored = 0
        self._open_elsewhere_until = 0.0
        self._holds_probe = False
        #: The last outcome that could not be stored, with its seconds.
        self._unstored: tuple[str, float] | None = None

    @property
    def wait(self) -> float:
        """See `Breaker`; the circuit may be open elsewhere."""
        return max(super().wait, self._open_elsewhere_until - self._clock.monotonic(), 0.0)

    async def consult(self, slot: Slot) -> float:
        """See `Breaker`."""
        self._stored = slot.failures
        unstored, self._unstored = self._unstored, None
        if unstored is not None:
            await self._ask(*unstored)
        elif slot.circuit_seconds > 0 or slot.failures < self._limit:
            return self._opened_elsewhere(slot.circuit_seconds)
        wait = await self._ask("probe", _PROBE_SECONDS)
        self._holds_probe = wait == 0
        return self._opened_elsewhere(wait)

    def _opened_elsewhere(self, seconds: float) -> float:
        self._open_elsewhere_until = self._clock.monotonic() + seconds
        return seconds

    async def _ask(self, outcome: str, seconds: float) -> float:
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, self._report, outcome, seconds
        )

    def succeeded(self) -> None:
        """See `Breaker`; stored if anything is to be forgotten."""
        if self._stored or self._failures:
            self._submit("succeeded")
        self._stored = 0
        self._holds_probe = False
        super().succeeded()

    def failed(self) -> float:
        """See `Breaker`."""
        self._holds_probe = False
        seconds = super().failed()
        self._submit("failed", seconds)
        return seconds

    def abandoned(self) -> None:
        """See `Breaker`."""
        if self._holds_probe:
            self._holds_probe = False
            self._submit("abandoned")
        super().abandoned()

    def _submit(self, outcome: str, seconds: float = 0.0) -> None:
        try:
            self._executor.submit(self._report, outcome, seconds)
        except RuntimeError:
            log.debug("%s: %s is not stored: the process ends", self._upstream, outcome)

    def _report(self, outcome: str, seconds: float) -> float:
        try:
            return self._store.report(self._upstream, outcome, seconds)
        except StateError as fault:
            log.debug("%s: %s is not stored: %s", self._upstream, outcome, fault.message)
            if outcome != "probe":
                self._unstored = (outcome, seconds)
            return 0.0
