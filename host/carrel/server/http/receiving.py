"""Functions that take the place of a connection's `receive` while the SDK serves a request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .request import Message, Receive


def replaying(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that returns the body once, and then the connection's messages."""
    replayed = False

    async def replay() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def until(
    stopping: asyncio.Event,
    receive: Receive,
    *,
    seconds: float | None,
    on_expired: Callable[[], object],
) -> Receive:
    """Returns a `receive` that reports the client as gone when the server stops, or too late.

    Args:
        stopping: set when the server stops.
        receive: the connection's.
        seconds: from now, after which `on_expired` is called, and the client reported as gone; None
            for no limit.
        on_expired: see `seconds`.
    """
    loop = asyncio.get_running_loop()
    end = None if seconds is None else loop.time() + seconds

    async def until_then() -> Message:
        receiving = asyncio.ensure_future(receive())
        stopped = asyncio.ensure_future(stopping.wait())
        left = None if end is None else max(0.0, end - loop.time())
        try:
            done, _ = await asyncio.wait(
                {receiving, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            if receiving.done():
                return receiving.result()
            if not done:
                on_expired()
            return {"type": "http.disconnect"}
        finally:
            receiving.cancel()
            stopped.cancel()

    return until_then
