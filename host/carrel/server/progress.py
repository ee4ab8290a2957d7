"""A call's progress, from worker threads to the client: thinned, rising, never silent for long."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable

from carrel.printable import printable

logger = logging.getLogger(__name__)

#: Seconds between two notifications of a call, at least.
INTERVAL = 0.1
#: Seconds without news after which the client hears that the call still runs.
SILENCE = 1.0
#: What a sign of life adds: progress must rise, and this stays below a plugin's own next step.
_NUDGE = 0.001
_MESSAGE_LENGTH = 500

Send = Callable[[float, float | None, str | None], Awaitable[None]]


class ProgressRelay:
    """The progress handler of one call. Calling it is cheap, from any thread.

    Only the latest report is kept between two notifications; a report that is not above the last
    one sent is dropped, because progress must rise.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._loop = loop
        self._send = send
        self._lock = threading.Lock()
        self._latest: tuple[float, float | None, str] | None = None
        self._closed = False
        self._last = -math.inf
        self._total: float | None = None
        self._started = loop.time()
        self._due = self._started
        self._timer: asyncio.TimerHandle | None = None
        self._sending: set[asyncio.Future[None]] = set()
        self._pulse = loop.call_later(SILENCE, self._beat)

    def __call__(self, done: float, total: float | None, message: str) -> None:
        """Takes a report: done, total if known, and a line for people."""
        if not math.isfinite(done):
            return
        if total is not None and not math.isfinite(total):
            total = None
        with self._lock:
            scheduled = self._latest is not None
            self._latest = (done, total, message)
        if not scheduled:
            try:
                self._loop.call_soon_threadsafe(self._schedule)
            except RuntimeError:
                pass  # the loop has ended; nobody listens

    def close(self) -> None:
        """Sends nothing more; the call is over."""
        self._closed = True
        self._pulse.cancel()
        if self._timer is not None:
            self._timer.cancel()

    def _schedule(self) -> None:
        if self._closed:
            return
        wait = self._due - self._loop.time()
        if wait > 0:
            self._timer = self._loop.call_later(wait, self._flush)
        else:
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            latest, self._latest = self._latest, None
        if latest is None or self._closed or latest[0] <= self._last:
            return
        done, self._total, message = latest
        self._emit(done, printable(message, _MESSAGE_LENGTH) or None)

    def _beat(self) -> None:
        nudged = _NUDGE if math.isinf(self._last) else self._last + _NUDGE
        if self._total is None or nudged < self._total:
            self._emit(nudged, f"still working after {self._loop.time() - self._started:.0f} s")

    def _emit(self, done: float, message: str | None) -> None:
        self._last = done
        self._due = self._loop.time() + INTERVAL
        self._pulse.cancel()
        self._pulse = self._loop.call_later(SILENCE, self._beat)
        sending = asyncio.ensure_future(self._send(done, self._total, message), loop=self._loop)
        self._sending.add(sending)
        sending.add_done_callback(self._sent)

    def _sent(self, sending: asyncio.Future[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled() and sending.exception() is not None:
            logger.error("a progress notification failed", exc_info=sending.exception())
