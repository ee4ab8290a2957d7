"""Queries several plugins concurrently, in batches, until all have answered or the deadline has
passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, Queue
from typing import TYPE_CHECKING

from carrel.errors import Cancelled, CarrelError, DeadlineExceeded
from carrel.exchange import Call
from carrel.plugins.compiling.compile_news import COMPILING

from .answer import LookupAnswer, read_answers
from .result import Problem
from .sources import LOOKUP, LookupSource

if TYPE_CHECKING:
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

Answers = dict[tuple[str, "Id"], LookupAnswer]


class Round:
    """One round of queries, made concurrently.

    Args:
        registry: the plugins.
        call: the lookup as a whole: its deadline, its cancellation, its progress.
    """

    def __init__(self, registry: PluginSet, call: Call) -> None:
        self._registry = registry
        self._call = call
        # No SimpleQueue: see `PermitPool` in `runtime/cpu_permits.py`.
        self._news: Queue[_Batch | None] = Queue()

    def ask(self, wanted: Mapping[str, tuple[LookupSource, Sequence[Id]]]) -> Answers:
        """Returns the answers of all sources to all identifiers wanted of them.

        Raises:
            Cancelled: the client gave up.
        """
        answers: Answers = {}
        running: list[_Batch] = []
        forget = self._call.on_cancel(lambda: self._news.put(None))
        try:
            for source, ids in wanted.values():
                for part in _parts(ids, source.spec.batch):
                    require_patience(self._call)
                    batch = _Batch(source.name, part)
                    problem = batch.start(self._registry, self._call, self._news)
                    if problem is None:
                        running.append(batch)
                    else:
                        answers.update(batch.failed(problem))
            answers.update(self._collect(running))
        finally:
            forget()
            for batch in running:
                batch.abandon()
        return answers

    def _collect(self, running: Sequence[_Batch]) -> Answers:
        answers: Answers = {}
        left = list(running)
        before = self._call.done  # what earlier rounds have done
        total = before + len(running)
        while left:
            names = ", ".join(sorted({batch.source for batch in left}))
            self._call.progress(total - len(left), total, f"waiting for {names}")
            try:
                batch = self._news.get(timeout=self._call.remaining)
            except Empty:
                break
            if batch is None:
                require_patience(self._call)
                continue
            left.remove(batch)
            answers.update(batch.answers())
        for batch in left:
            late = DeadlineExceeded(
                plugin=batch.source, tool=LOOKUP, seconds=self._call.limits.wall_seconds
            )
            answers.update(batch.failed(Problem.of(late)))
        self._call.progress(total - len(left), total, "out of time" if left else "answered")
        return answers


class _Batch:
    """One call of one plugin."""

    def __init__(self, source: str, ids: Sequence[Id]) -> None:
        self.source = source
        self._ids = ids
        self._running: RunningCall[bytes] | None = None

    def start(self, registry: PluginSet, whole: Call, news: Queue[_Batch | None]) -> Problem | None:
        """Starts the call and notifies `news` when it has ended; records a problem if it cannot
        start.
        """
        try:
            tell = partial(self._tell, whole)
            plugin = registry.plugin(self.source, on_compile=partial(tell, COMPILING))
            call = plugin.new_call(LOOKUP, lambda _done, _total, words: tell(words))
            call.deadline = min(call.deadline, whole.deadline)
            call.refresh = whole.refresh
            arguments = {"ids": [one.to_json() for one in self._ids]}
            self._running = plugin.start_reserved(LOOKUP, arguments, call)
        except CarrelError as error:
            return Problem.of(error)
        self._running.when_done(lambda: news.put(self))
        return None

    def _tell(self, whole: Call, message: str) -> None:
        """Reports to the lookup's client what this source waits for."""
        whole.explain(f"{self.source}: {message}")

    def answers(self) -> Answers:
        """Returns the answers of the ended call, one for each identifier."""
        assert self._running is not None, "started"
        try:
            found = read_answers(self._running.result().decode(), self._ids, self.source)
        except CarrelError as error:
            return self.failed(Problem.of(error))
        return {(self.source, one): answer for one, answer in found.items()}

    def failed(self, problem: Problem) -> Answers:
        """Returns the same failure for each identifier."""
        return {(self.source, one): LookupAnswer.failed(problem) for one in self._ids}

    def abandon(self) -> None:
        """Interrupts the call if it still runs."""
        if self._running is not None and not self._running.is_done:
            self._running.call.cancel()


def _parts(ids: Sequence[Id], size: int) -> Iterator[Sequence[Id]]:
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def require_patience(call: Call) -> None:
    """Raises if the lookup was cancelled.

    Raises:
        Cancelled: the client gave up.
    """
    if call.cancelled:
        raise Cancelled(plugin=call.plugin, tool=call.tool)
