"""Identical requests at the same time become one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class _SharedTask(Generic[T]):
    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[T]) -> None:
        self.task = task
        self.waiting = 0


class Coalescer(Generic[T]):
    """The requests under way; lives on the event loop.

    A request belongs to nobody: it goes on while anybody waits for it, so a leader that is
    cancelled does not fail those who joined, and ends when the last one has gone.
    """

    def __init__(self) -> None:
        self._shared: dict[Hashable, _SharedTask[T]] = {}

    async def join(self, key: Hashable, start: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The result, and whether this caller started it."""
        shared = self._shared.get(key)
        led = shared is None
        if shared is None:
            shared = _SharedTask(asyncio.ensure_future(_run(start)))
            self._shared[key] = shared
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task), led
        finally:
            shared.waiting -= 1
            if shared.waiting == 0:
                if self._shared.get(key) is shared:
                    del self._shared[key]
                shared.task.cancel()


async def _run(start: Callable[[], Awaitable[T]]) -> T:
    return await start()
