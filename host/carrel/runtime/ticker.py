"""Checks the CPU time and deadline of all running executions from one thread."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from .cpu_permits import processors

_log = logging.getLogger("carrel.runtime")

#: Seconds between checks; a time limit can be exceeded by at most this much plus one check.
INTERVAL = 0.01
#: Idle seconds after which the ticker sleeps until the next execution starts.
_LINGER = 1.0


class Ticking(Protocol):
    """An object with time limits."""

    def tick(self, *, crowded: bool) -> None:
        """Checks the time limits.

        Args:
            crowded: whether more executions run than there are processors.
        """
        ...


class Ticker:
    """Calls `tick` of all registered objects periodically; sleeps when there are none."""

    def __init__(self) -> None:
        self._active: dict[int, Ticking] = {}
        self._processors = processors()
        self._on_interval: list[Callable[[], None]] = []
        self._when_idle: list[Callable[[], None]] = []
        self._wake = threading.Event()
        self._awake = False
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, ticking: Ticking) -> None:
        """Registers `ticking`."""
        self._active[id(ticking)] = ticking
        if not self._awake:
            with self._lock:
                self._start()
            self._wake.set()

    def on_interval(self, callback: Callable[[], None]) -> None:
        """Calls `callback` at every check, while anything is registered."""
        self._on_interval.append(callback)

    def when_idle(self, callback: Callable[[], None]) -> None:
        """Calls `callback` whenever nothing has been registered for a second."""
        self._when_idle.append(callback)

    def remove(self, ticking: Ticking) -> None:
        """Unregisters `ticking`; does nothing if it was not registered."""
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
                except Exception:  # noqa: BLE001 - the clocks of all other calls must continue
                    _log.exception("a tick failed")
                last_seen = now
            self._call(self._on_interval)
            if now - last_seen > _LINGER:
                # Cleared before the last check of the registered objects: an `add` is either seen
                # here or sets the event afterwards.
                self._wake.clear()
                self._awake = False
                if not self._active:
                    self._call(self._when_idle)
                    self._wake.wait()
                last_seen = time.monotonic()

    def _call(self, callbacks: Sequence[Callable[[], None]]) -> None:
        for callback in list(callbacks):
            try:
                callback()
            except Exception:  # noqa: BLE001 - the clocks of all other calls must continue
                _log.exception("a callback of the ticker failed")
