"""The outcome of a call that is queued or running.

What `concurrent.futures.Future` does, in the part that is needed here: importing that package costs
6 ms of a process that lives for 80.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Pending:
    """A text or an error, sooner or later. Thread-safe; the first outcome stays.

    A guest's text comes as UTF-8 and mostly leaves as UTF-8: it is a Python string only for those
    who ask for one.
    """

    __slots__ = ("_callbacks", "_error", "_lock", "_settled", "_text")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._settled = threading.Event()
        self._callbacks: list[Callable[[], None]] = []
        self._text: str | bytes = b""
        self._error: Exception | None = None

    @property
    def done(self) -> bool:
        """Whether there is an outcome."""
        return self._settled.is_set()

    def settle(self, text: str | bytes = b"", *, error: Exception | None = None) -> None:
        """Sets the outcome, unless there is one."""
        with self._lock:
            if self._settled.is_set():
                return
            self._text, self._error = text, error
            self._settled.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def result(self, timeout: float | None = None) -> str:
        """The text, waiting for it; an interrupt from the keyboard ends the waiting.

        Raises:
            TimeoutError: no outcome within `timeout` seconds.
            Exception: the outcome, when it is an error.
        """
        text = self._wait(timeout)
        return text if isinstance(text, str) else text.decode()

    def utf8(self, timeout: float | None = None) -> bytes:
        """As `result`, in UTF-8."""
        text = self._wait(timeout)
        return text.encode() if isinstance(text, str) else text

    def _wait(self, timeout: float | None) -> str | bytes:
        if not self._settled.wait(timeout):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return self._text

    def when_done(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once there is an outcome, in the thread that brings it, or at once."""
        with self._lock:
            if not self._settled.is_set():
                self._callbacks.append(callback)
                return
        callback()
