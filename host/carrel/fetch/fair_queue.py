"""The waiting requests of one upstream, served round robin."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable

from .token_buckets import Slot


class Waiter:
    """One request in the queue.

    Attributes:
        latest: the time on the monotonic clock after which a slot is useless.
        owner: the principal that it is made for; empty for the local user.
        granted: its slot.
    """

    __slots__ = ("granted", "latest", "owner")

    def __init__(self, latest: float, owner: str) -> None:
        self.latest = latest
        self.owner = owner
        self.granted: asyncio.Future[Slot] = asyncio.get_running_loop().create_future()


def _always(_owner: str) -> bool:
    return True


class FairQueue:
    """Waiters by partition and call, served round robin at both levels."""

    def __init__(self) -> None:
        self._partitions: dict[str, dict[Hashable, deque[Waiter]]] = {}

    def __len__(self) -> int:
        # Lists are copied in one step each, so that another thread may count.
        calls = [queue for part in list(self._partitions.values()) for queue in list(part.values())]
        return sum(map(len, calls))

    def append(self, partition: str, caller: Hashable, waiter: Waiter) -> None:
        """Appends a waiter to those of the same call."""
        calls = self._partitions.setdefault(partition, {})
        calls.setdefault(caller, deque()).append(waiter)

    def ahead(self, partition: str, caller: Hashable) -> int:
        """Counts the waiters that are served before a new one of the call, as of now."""
        calls = self._partitions.get(partition, {})
        position = len(calls.get(caller, ()))
        # Calls are served round robin, so each has had at most one more than this one by then.
        own = sum(min(len(queue), position + 1) for queue in calls.values())
        # So are partitions.
        others = sum(
            min(sum(map(len, queues.values())), own + 1)
            for name, queues in self._partitions.items()
            if name != partition
        )
        return own + others

    def head(self, may_send: Callable[[str], bool] = _always) -> Waiter | None:
        """Returns the next live waiter whose principal may send; drops cancelled ones."""
        found = self._first(may_send)
        return None if found is None else self._partitions[found[0]][found[1]][0]

    def _first(self, may_send: Callable[[str], bool]) -> tuple[str, Hashable] | None:
        """Returns the partition and the call of the next live waiter."""
        for partition, calls in list(self._partitions.items()):
            while calls:
                caller, queue = next(iter(calls.items()))
                while queue and queue[0].granted.done():
                    queue.popleft()
                if queue:
                    break
                del calls[caller]
            if not calls:
                del self._partitions[partition]
            elif may_send(queue[0].owner):
                return partition, caller
        return None

    def pop(self, may_send: Callable[[str], bool] = _always) -> Waiter | None:
        """Removes and returns the next live waiter; its call and its partition move to the end."""
        found = self._first(may_send)
        if found is None:
            return None
        partition, caller = found
        calls = self._partitions[partition]
        queue = calls[caller]
        waiter = queue.popleft()
        del self._partitions[partition], calls[caller]
        if queue:
            calls[caller] = queue
        if calls:
            self._partitions[partition] = calls
        return waiter
