"""Shows a progress line on stderr for operations longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from carrel.text.printable import printable

#: Seconds before the line appears, and between its updates.
PATIENCE = 1.0
INTERVAL = 0.25


class Progress:
    """Shows progress while a `with` block runs.

    `update` is a `ProgressHandler`: thread-safe and non-blocking.
    """

    def __init__(
        self, what: str, stream: TextIO | None = None, *, patience: float = PATIENCE
    ) -> None:
        self._what = what
        self.patience = patience
        self._stream = sys.stderr if stream is None else stream
        self._last: tuple[float, float | None, str] | None = None
        self._painter: _Painter | None = None

    def update(self, done: float, total: float | None, message: str) -> None:
        """Records the progress; the next update of the line shows it."""
        self._last = (done, total, message)

    def line(self, seconds: float) -> str:
        """Returns the text of the line after `seconds`."""
        parts = [f"{self._what}: {seconds:.0f} s"]
        if self._last is not None:
            done, total, message = self._last
            if done > 0:
                parts.append(f"{done:g} of {total:g}" if total else f"{done:g}")
            parts += [message] if message else []
        return printable(" · ".join(parts), 200)

    def __enter__(self) -> Self:
        stream = self._stream
        if stream is not None and stream.isatty():
            self._painter = _Painter(self, stream)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._painter is not None:
            self._painter.stop()


class _Painter:
    """The thread that updates the line; `threading` is imported only on a terminal."""

    def __init__(self, progress: Progress, stream: TextIO) -> None:
        import threading

        self._progress = progress
        self._stream = stream
        self._started = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._paint, name="carrel-progress", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _paint(self) -> None:
        import shutil

        wait, painted = self._progress.patience, False
        while not self._over.wait(wait):
            wait, painted = INTERVAL, True
            width = shutil.get_terminal_size().columns - 1
            line = self._progress.line(time.monotonic() - self._started)
            self._write(f"\r\x1b[2K{line[:width]}")
        if painted:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._over.set()
