"""Waits for calls and threads from an event loop, without blocking it."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import asyncio

    from .exchange import Call


T = TypeVar("T")


class Ending(Protocol):
    """An operation that will end."""

    def when_done(self, callback: Callable[[], None]) -> None:
        """Calls `callback` when it ends, from any thread; immediately if it has ended."""
        ...


async def wait_until_done(pending: Ending, call: Call) -> None:
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
        except RuntimeError:  # the event loop has ended
            pass

    pending.when_done(wake_from_worker)
    try:
        await waiter
    except asyncio.CancelledError:
        call.cancel()
        raise


def run_in_thread(function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
    """Runs `function` in a new daemon thread and returns a future of its result.

    The loop's executor is not used, because its threads are joined at exit and a hang would keep
    the process alive.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: Exception | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]  # T where there is no error

    def work() -> None:
        outcome: tuple[T | None, Exception | None]
        try:
            outcome = context.run(function, *args), None
        except Exception as error:  # noqa: BLE001  # it is passed to the waiting task
            outcome = None, error
        except BaseException as error:  # noqa: BLE001  # an exit of one thread is not the loop's
            outcome = None, RuntimeError(f"the thread ended with {error!r}")
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:
            pass  # the event loop has ended

    threading.Thread(target=work, name="carrel-work", daemon=True).start()
    return future
