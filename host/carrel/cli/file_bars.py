"""Shows a progress bar for each of several files on stderr, on a terminal only."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Self

from carrel.text.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Characters of a name and of a text next to a bar.
_NAME, _WORDS = 40, 50


class FileBars:
    """Draws bars while a `with` block runs; without a terminal it draws nothing.

    Args:
        total: the number of files, for the bar of all.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._all: TaskID | None = None

    def count(self, ended: float) -> None:
        """Sets how many files have ended."""
        if self._progress is not None and self._all is not None:
            self._progress.update(self._all, completed=ended)

    def update(self, name: str, words: str, done: float, size: float | None) -> None:
        """Shows the step of one file; a bar without `size` moves to and fro."""
        progress = self._progress
        if progress is None:
            return
        with self._lock:
            task = self._tasks.get(name)
            if task is None:
                task = self._tasks[name] = progress.add_task(printable(name, _NAME), words="")
        progress.update(task, completed=done, total=size, words=printable(words, _WORDS))

    def end(self, name: str) -> None:
        """Removes the bar of a file."""
        with self._lock:
            task = self._tasks.pop(name, None)
        if task is not None and self._progress is not None:
            self._progress.remove_task(task)

    def __enter__(self) -> Self:
        stream = sys.stderr
        if stream is None or not stream.isatty():
            return self
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True, highlight=False, emoji=False, markup=False)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[words]}", markup=False),
            console=console,
            transient=True,
        )
        self._progress.start()
        self._all = self._progress.add_task("papers", total=self._total, words="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
