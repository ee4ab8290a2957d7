"""Logs to stderr from a thread, so that a client that does not read stderr blocks nothing."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from carrel.text.printable import printable, printable_lines

_LINES_HELD = 2000
_LAST_WORDS_SECONDS = 0.5
_LINE_LENGTH = 10_000


class _TextFormatter(logging.Formatter):
    """Formats a record without hidden characters: its message on one line, then a traceback."""

    def __init__(self, redact: Callable[[str], str] = str) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        record.message = printable(record.message, _LINE_LENGTH)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(self._redact(super().format(record)))


class StderrLog(logging.Handler):
    """Formats a line in the logging thread and writes it in a daemon thread.

    Drops lines when the queue is full, so that a blocked stderr does not block the server.

    Args:
        formatter: of the lines; of text when None.

    Attributes:
        lost: lines that were dropped.
    """

    def __init__(self, formatter: logging.Formatter | None = None) -> None:
        super().__init__()
        self.setFormatter(formatter or _TextFormatter())
        self.lost = 0
        self._lines: queue.Queue[str | threading.Event] = queue.Queue(_LINES_HELD)
        self._thread = threading.Thread(target=self._write, name="carrel-stderr", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queues a record."""
        try:
            self._lines.put_nowait(self.format(record) + "\n")
        except queue.Full:
            self.lost += 1
        except Exception:  # noqa: BLE001  # a line that cannot be formatted must not end its caller
            self.handleError(record)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            if isinstance(line, threading.Event):
                line.set()
                continue
            # Bypasses Python's buffer: a thread that blocks while it holds the buffer's lock would
            # crash the interpreter at exit.
            rest = memoryview(line.encode(errors="backslashreplace"))
            try:
                while rest:
                    rest = rest[os.write(2, rest) :]
            except OSError:
                pass  # there is no stderr, or its reader is gone

    def flush(self) -> None:
        """Waits until the queue is written, at most half a second."""
        written = threading.Event()
        try:
            self._lines.put_nowait(written)
        except queue.Full:
            return
        written.wait(_LAST_WORDS_SECONDS)


@contextmanager
def logging_to_stderr(level: str, form: str = "text") -> Iterator[StderrLog | None]:
    """Logs Carrel's lines and other libraries' warnings to stderr while the context is open.

    Other libraries' informational lines are not logged, because an HTTP client's may contain a URL
    with a key. What Python itself writes to stderr, of threads and finalizers that fail and as
    warnings, is logged too, so that it has the form of a line and no secret. Does nothing, and
    yields None, if the program has configured logging.

    Args:
        level: lowest level of Carrel's lines: debug, info, warning, error or critical.
        form: `text`, or `json` for one object a line.
    """
    root, own = logging.getLogger(), logging.getLogger("carrel")
    if root.handlers or own.handlers:
        yield None
        return
    threshold = logging.getLevelNamesMapping()[level.upper()]

    def passes(record: logging.LogRecord) -> bool:
        ours = record.name.split(".", 1)[0] == "carrel"
        return record.levelno >= (threshold if ours else logging.WARNING)

    handler = StderrLog(_formatter(form))
    handler.addFilter(passes)
    before = own.level
    root.addHandler(handler)
    own.setLevel(threshold)
    try:
        with _python_faults_logged():
            yield handler
    finally:
        root.removeHandler(handler)
        own.setLevel(before)
        handler.flush()


@contextmanager
def _python_faults_logged() -> Iterator[None]:
    """Logs exceptions that nothing catches, and warnings, while the context is open."""
    logger = logging.getLogger("carrel.python")

    def of_thread(fault: threading.ExceptHookArgs) -> None:
        if fault.exc_value is not None and not isinstance(fault.exc_value, SystemExit):
            name = fault.thread.name if fault.thread is not None else "unknown"
            logger.error("the thread %s failed", name, exc_info=fault.exc_value)

    def of_finalizer(fault: sys.UnraisableHookArgs) -> None:
        logger.error(
            "%s: %.200r", fault.err_msg or "exception ignored in", fault.object,
            exc_info=fault.exc_value,
        )  # fmt: skip

    before = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = of_thread, of_finalizer
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        threading.excepthook, sys.unraisablehook = before


def _formatter(form: str) -> logging.Formatter:
    """Returns the formatter of a form; it removes the secrets of this process's environment."""
    from .operations.redaction import LogRedactor, secrets_in

    redact = LogRedactor(secrets_in(os.environ))
    if form == "text":
        return _TextFormatter(redact)
    from .operations.json_log import JsonFormatter

    return JsonFormatter(redact)
