"""Relays a call's progress from worker threads to the client, at a limited rate.

MCP requires that `progress` increases with every notification, but a waiting call does no work.
Reports are sent unchanged while their numbers increase. From the first notification without new
work on, `progress` counts notifications: it has no `total`, and the message says how much is done.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import Awaitable, Callable

from carrel.text.printable import printable

logger = logging.getLogger(__name__)

#: Minimum seconds between two notifications of a call.
INTERVAL = 0.1
#: Seconds without a report after which the client is notified that the call still runs.
SILENCE = 1.0
_MESSAGE_LENGTH = 500

Send = Callable[[float, float | None, str | None], Awaitable[None]]
Report = tuple[float, float | None, str]


class ProgressRelay:
    """The progress handler of one call. Cheap and thread-safe.

    Only the latest report is kept between two notifications. A report with lower numbers, or equal
    to the last one, is dropped.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._loop = loop
        self._send = send
        self._lock = threading.Lock()
        self._latest: Report | None = None
        self._most = -math.inf
        self._sent_last: Report | None = None
        self._counting = False
        self._closed = False
        self._last = -math.inf
        self._started = loop.time()
        self._due = self._started
        self._timer: asyncio.TimerHandle | None = None
        self._sending: set[asyncio.Future[None]] = set()
        self._pulse = loop.call_later(SILENCE, self._beat)

    def __call__(self, done: float, total: float | None, message: str) -> None:
        """Records a report: done, total if known, and a line for people."""
        if not math.isfinite(done):
            return
        if total is not None and not math.isfinite(total):
            total = None
        with self._lock:
            if done < self._most:
                return
            self._most = done
            scheduled = self._latest is not None
            self._latest = (done, total, message)
        if not scheduled:
            try:
                self._loop.call_soon_threadsafe(self._schedule)
            except RuntimeError:
                pass  # the loop has ended, so there is no client

    async def finish(self) -> None:
        """Stops sending, and waits until the last notification is sent: the response follows."""
        self.close()
        if self._sending:
            await asyncio.wait(self._sending)

    def close(self) -> None:
        """Stops sending, because the call has ended."""
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
        if latest is None or self._closed or latest == self._sent_last:
            return
        self._sent_last = latest
        done, total, message = latest
        if self._counting or done <= self._last:
            self._count(_with_numbers(latest))
        else:
            # Without work done there is no total, because the next count would look like a share of
            # it.
            self._emit(done, total if done > 0 else None, message)

    def _beat(self) -> None:
        seconds = f"still working after {self._loop.time() - self._started:.0f} s"
        if self._sent_last is None:
            self._count(seconds)
            return
        done, total, message = self._sent_last
        if total is None or done < total:
            self._count(f"{seconds}: {message}" if message else seconds)

    def _count(self, message: str) -> None:
        """Sends a notification without new work: a number above the last one, and no total."""
        self._counting = True
        self._emit(0 if math.isinf(self._last) else math.floor(self._last) + 1, None, message)

    def _emit(self, done: float, total: float | None, message: str) -> None:
        self._last = done
        self._due = self._loop.time() + INTERVAL
        self._pulse.cancel()
        self._pulse = self._loop.call_later(SILENCE, self._beat)
        text = printable(message, _MESSAGE_LENGTH) or None
        sent = self._send(_whole(done), None if total is None else _whole(total), text)
        sending = asyncio.ensure_future(sent, loop=self._loop)
        self._sending.add(sending)
        sending.add_done_callback(self._sent)

    def _sent(self, sending: asyncio.Future[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled() and sending.exception() is not None:
            logger.error("a progress notification failed", exc_info=sending.exception())


def _with_numbers(report: Report) -> str:
    """Returns a report's message, with the amount done if there is any."""
    done, total, message = report
    if total is None or not 0 < done <= total or total == 1:
        return message
    return f"{done:g} of {total:g}: {message}" if message else f"{done:g} of {total:g}"


def _whole(number: float) -> float:
    """Returns an integer if the number is whole."""
    return int(number) if float(number).is_integer() else number
