"""Identical requests at the same time become one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Flight(Generic[T]):
    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting = 0


class Flights(Generic[T]):
    """The requests under way; lives on the event loop.

    A flight belongs to nobody: it goes on while anybody waits for it, so a leader that is
    cancelled does not fail those who joined, and ends when the last one has gone.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def join(self, key: Hashable, start: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The flight's result, and whether this caller started it."""
        flight = self._flights.get(key)
        led = flight is None
        if flight is None:
            flight = _Flight(asyncio.ensure_future(_run(start)))
            self._flights[key] = flight
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), led
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()


async def _run(start: Callable[[], Awaitable[T]]) -> T:
    return await start()
