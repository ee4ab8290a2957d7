"""One thread that looks at the clocks of all executions in flight."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

from .cpu_permits import processors

_log = logging.getLogger("carrel.runtime")

#: Seconds between two looks; a limit is passed by at most this much and the time of one look.
INTERVAL = 0.01
#: Seconds without executions after which the ticker sleeps until the next one starts.
_LINGER = 1.0


class Ticking(Protocol):
    """Something with clocks that can run out."""

    def tick(self, *, crowded: bool) -> None:
        """Looks at the clocks.

        Args:
            crowded: whether more is running than there are processors.
        """
        ...


class Ticker:
    """Ticks everything that is registered, while anything is; costs nothing when idle."""

    def __init__(self) -> None:
        self._active: dict[int, Ticking] = {}
        self._processors = processors()
        self._when_idle: list[Callable[[], None]] = []
        self._wake = threading.Event()
        self._awake = False
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, ticking: Ticking) -> None:
        """Starts looking at the clocks of `ticking`."""
        self._active[id(ticking)] = ticking
        if not self._awake:
            with self._lock:
                self._start()
            self._wake.set()

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Calls `callback` from then on whenever nothing has been active for a second."""
        self._when_idle.append(callback)

    def remove(self, ticking: Ticking) -> None:
        """Stops looking; harmless when it was not registered."""
        self._active.pop(id(ticking), None)

    def close(self) -> None:
        """Ends the thread."""
        self._stopped = True
        self._wake.set()

    def _start(self) -> None:
        if self._thread is None and not self._stopped:
            self._thread = threading.Thread(target=self._run, name="carrel-ticker", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        last_seen = time.monotonic()
        while not self._stopped:
            self._awake = True
            time.sleep(INTERVAL)
            now = time.monotonic()
            crowded = len(self._active) > self._processors
            for ticking in list(self._active.values()):
                try:
                    ticking.tick(crowded=crowded)
                except Exception:  # noqa: BLE001 - the clocks of all others must go on
                    _log.exception("a clock could not be read")
                last_seen = now
            if now - last_seen > _LINGER:
                # Cleared before the last look at what is active: `add` either is seen here or sets
                # the event afterwards.
                self._wake.clear()
                self._awake = False
                if not self._active:
                    self._call_idle()
                    self._wake.wait()
                last_seen = time.monotonic()

    def _call_idle(self) -> None:
        for callback in self._when_idle:
            try:
                callback()
            except Exception:  # noqa: BLE001 - the clocks of all others must go on
                _log.exception("what was to be done when nothing runs failed")
