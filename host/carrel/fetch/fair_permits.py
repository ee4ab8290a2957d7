"""Limits the requests that a plugin has in flight, with a share for each principal."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from carrel.principal import share_of


class FairPermits:
    """A semaphore that serves principals round robin. Used on one event loop.

    Args:
        count: number of permits; of these one principal holds at most its share, and the local user
            all.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._share = share_of(count)
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def held(self, owner: str) -> AsyncIterator[None]:
        """Waits for a permit, and holds it during the block.

        Args:
            owner: name of the principal; empty for the local user.
        """
        await self._acquire(owner)
        try:
            yield
        finally:
            self._release(owner)

    async def _acquire(self, owner: str) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(granted)
        self._grant_free()
        try:
            await granted
        except BaseException:
            if granted.done() and not granted.cancelled():
                self._release(owner)
            raise

    def _may_take(self, owner: str) -> bool:
        return self._free > 0 and (not owner or self._held[owner] < self._share)

    def _release(self, owner: str) -> None:
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        self._grant_free()

    def _grant_free(self) -> None:
        """Grants permits as long as there are principals that may take one."""
        while (owner := self._next()) is not None:
            self._free -= 1
            self._held[owner] += 1
            queue = self._waiting.pop(owner)
            queue.popleft().set_result(None)
            if queue:
                self._waiting[owner] = queue

    def _next(self) -> str | None:
        """Returns the first principal that may take a permit; forgets those that gave up."""
        for owner, queue in list(self._waiting.items()):
            while queue and queue[0].done():
                queue.popleft()
            if not queue:
                del self._waiting[owner]
            elif self._may_take(owner):
                return owner
        return None
