"""Reads manifests in the background.

A component without a manifest section has to be compiled before its `describe()` can run, which
takes from milliseconds to minutes. A server that lists its tools does not wait for slow ones: it
lists them when they are ready.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from carrel.errors import CarrelError, InternalError, LoadError

if TYPE_CHECKING:
    from .manifest import Manifest

_log = logging.getLogger("carrel.plugins")

#: Seconds after the start of a reading for which listings wait; readings run concurrently.
PATIENCE = 3.0


class Reading:
    """The reading of one plugin's manifest, in its own thread.

    Args:
        name: the plugin's.
        read: reads it.
        on_ready: called from the thread when the manifest was read after a listing stopped waiting.
    """

    def __init__(
        self, name: str, read: Callable[[], Manifest], on_ready: Callable[[], None]
    ) -> None:
        self._name = name
        self._read = read
        self._on_ready = on_ready
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._missed = False
        self._outcome: Manifest | CarrelError | None = None
        self._until = time.monotonic() + PATIENCE
        threading.Thread(target=self._run, name=f"carrel-{name}-manifest", daemon=True).start()

    @property
    def failed(self) -> bool:
        """Whether it ended without a manifest."""
        return isinstance(self._outcome, CarrelError)

    def result(self) -> Manifest:
        """Returns the manifest; waits for it for `PATIENCE` seconds after the start.

        Raises:
            LoadError: it is not there yet, or cannot be read.
        """
        self._done.wait(max(0.0, self._until - time.monotonic()))
        with self._lock:
            outcome = self._outcome
            self._missed = outcome is None
        if outcome is None:
            raise LoadError(
                f"{self._name}: is still being compiled; its tools are offered when that has ended",
                plugin=self._name,
            )
        if isinstance(outcome, CarrelError):
            raise outcome
        return outcome

    def _run(self) -> None:
        outcome: Manifest | CarrelError
        try:
            outcome = self._read()
        except CarrelError as error:
            outcome = error
        except Exception:  # noqa: BLE001 - raised to the callers of `result`
            _log.exception("%s: cannot be read", self._name)
            outcome = InternalError()
        with self._lock:
            self._outcome = outcome
            missed = self._missed
        self._done.set()
        if missed and not isinstance(outcome, CarrelError):
            self._on_ready()
        elif missed:
            _log.warning("%s", outcome)
