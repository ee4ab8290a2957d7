"""The clock of the fetch layer, which tests replace by one whose waits end at once."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """The interface of the fetch layer's clock."""

    def monotonic(self) -> float:
        """Seconds on the clock that `Call.deadline` is measured on."""
        ...

    def wall(self) -> float:
        """Seconds since 1970: the only clock that processes, reboots and files share."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Waits in the event loop."""
        ...


class SystemClock:
    """The machine's clocks; see `Clock`."""

    # Not methods of Python: a request reads the clock a dozen times.
    monotonic = staticmethod(time.monotonic)
    wall = staticmethod(time.time)

    async def sleep(self, seconds: float) -> None:
        """See `Clock`."""
        import asyncio

        await asyncio.sleep(seconds)
