"""Waiting for a call from an event loop, without blocking it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .exchange import Call


class Ending(Protocol):
    """Something that will end."""

    def when_done(self, callback: Callable[[], None]) -> None:
        """Calls `callback` at the end, from any thread, or at once."""
        ...


async def settled(pending: Ending, call: Call) -> None:
    """Waits without blocking the event loop; cancelling the wait cancels the call."""
    import asyncio

    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    def wake_from_worker() -> None:
        try:
            loop.call_soon_threadsafe(wake)
        except RuntimeError:  # the loop is gone, and whoever waited with it
            pass

    pending.when_done(wake_from_worker)
    try:
        await waiter
    except asyncio.CancelledError:
        call.cancel()
        raise
