"""What calls and plugins may fetch: requests and bytes, charged while they come."""

from __future__ import annotations

from carrel.errors import LimitExceeded
from carrel.exchange import Call


class OverBudgetError(Exception):
    """An answer was given up: its call, or its plugin, may not have more bytes.

    Attributes:
        allowed: the bytes that the plugin may hold at once; None when the call's budget is used up.
    """

    def __init__(self, allowed: int | None = None) -> None:
        self.allowed = allowed
        super().__init__(allowed)


def charge_requests(call: Call, count: int) -> bool:
    """Counts requests; False, with `call.fatal` set, when the call may not make them."""
    call.fetches += count
    if call.fetches > call.limits.fetches:
        _end(call, "fetches", call.limits.fetches)
        return False
    return True


def charge_bytes(call: Call, size: int) -> bool:
    """Counts bytes of answers; False, with `call.fatal` set, when the call has fetched too many."""
    call.fetched_bytes += size
    if call.fetched_bytes > call.limits.fetched_bytes:
        _end(call, "fetched_bytes", call.limits.fetched_bytes)
        return False
    return True


class HeldBytes:
    """The bytes of answers that one plugin holds at once, over all its calls; on the event loop.

    Args:
        allowed: how many it may hold.
    """

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed
        self.held = 0

    def hold(self, size: int) -> None:
        """Adds bytes.

        Raises:
            OverBudgetError: they would be too many; none is added.
        """
        if self.held + size > self.allowed:
            raise OverBudgetError(self.allowed)
        self.held += size

    def release(self, size: int) -> None:
        """Takes bytes back."""
        self.held -= size


class Charge:
    """What one request is charged to: its call, and its plugin until nobody needs the answer.

    The request and the call that waits for it may end in either order (a coalesced request goes on
    for others), so each says when it has done with the answer.
    """

    def __init__(self, call: Call, plugin: HeldBytes) -> None:
        self._call = call
        self._plugin = plugin
        self._held = 0
        self._users = 1

    def add(self, size: int) -> None:
        """Charges bytes as they come.

        Raises:
            OverBudgetError: the call or the plugin may not have them; `call.fatal` is set where it
                is the call.
        """
        if not charge_bytes(self._call, size):
            raise OverBudgetError
        self._plugin.hold(size)
        self._held += size

    def discard(self) -> None:
        """Releases what the plugin holds so far: the attempt failed, and its bytes are gone."""
        self._plugin.release(self._held)
        self._held = 0

    def keep(self) -> None:
        """Counts one more user of the answer."""
        self._users += 1

    def drop(self) -> None:
        """Counts one user less; the last one releases what the plugin holds."""
        self._users -= 1
        if self._users == 0:
            self.discard()


def _end(call: Call, limit: str, allowed: int) -> None:
    if call.fatal is None:
        call.fatal = LimitExceeded(limit, allowed, plugin=call.plugin, tool=call.tool)
