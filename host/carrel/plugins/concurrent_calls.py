"""Calls reserved tools of several plugins concurrently, until all have answered or the deadline of
the whole has passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any, NamedTuple

from carrel.errors import Cancelled, CarrelError, DeadlineExceeded
from carrel.plugins.compiling.compile_news import COMPILING

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.calls.running_call import RunningCall
    from carrel.plugins.plugin_set import PluginSet


class Question(NamedTuple):
    """One call of one plugin.

    Attributes:
        plugin: its name in the configuration.
        tool: a reserved tool, such as `lookup` or `role:search`.
        arguments: of the tool.
    """

    plugin: str
    tool: str
    arguments: Mapping[str, Any]


#: What a plugin answered: its JSON text, or why there is none.
Answer = bytes | CarrelError


def ask_all(plugins: PluginSet, questions: Sequence[Question], whole: Call) -> list[Answer]:
    """Returns the answers, in the order of the questions.

    A plugin that fails affects its own answers only. What has not been answered by the deadline is
    a `DeadlineExceeded`, and its call is interrupted.

    Args:
        plugins: of the configuration.
        questions: what to ask.
        whole: the call that asks: its deadline, its cancellation, its progress.

    Raises:
        Cancelled: the client gave up.
    """
    # No SimpleQueue: see `PermitPool` in `runtime/cpu_permits.py`.
    news: Queue[int | None] = Queue()
    answers: dict[int, Answer] = {}
    running: dict[int, RunningCall[bytes]] = {}
    forget = whole.on_cancel(lambda: news.put(None))
    try:
        for number, question in enumerate(questions):
            require_patience(whole)
            try:
                running[number] = _start(plugins, question, whole)
            except CarrelError as error:
                answers[number] = error
                continue
            running[number].when_done(partial(news.put, number))
        _collect(questions, running, answers, whole, news)
    finally:
        forget()
        for number, running_call in running.items():
            if number not in answers and not running_call.is_done:
                running_call.call.cancel()
    for number, question in enumerate(questions):
        if number not in answers:
            seconds = whole.limits.wall_seconds
            answers[number] = DeadlineExceeded(
                plugin=question.plugin, tool=question.tool, seconds=seconds
            )
    return [answers[number] for number in range(len(questions))]


def _start(plugins: PluginSet, question: Question, whole: Call) -> RunningCall[bytes]:
    def explain(words: str) -> None:
        whole.explain(f"{question.plugin}: {words}")

    plugin = plugins.plugin(question.plugin, on_compile=partial(explain, COMPILING))
    call = plugin.new_call(question.tool, lambda _done, _total, words: explain(words))
    call.deadline = min(call.deadline, whole.deadline)
    call.refresh = whole.refresh
    return plugin.start_reserved(question.tool, question.arguments, call)


def _collect(
    questions: Sequence[Question],
    running: Mapping[int, RunningCall[bytes]],
    answers: dict[int, Answer],
    whole: Call,
    news: Queue[int | None],
) -> None:
    """Adds the answers of running calls as they come."""
    left = dict(running)
    before = whole.done  # what earlier rounds have done
    total = before + len(running)
    while left:
        names = ", ".join(sorted({questions[number].plugin for number in left}))
        whole.progress(total - len(left), total, f"waiting for {names}")
        try:
            number = news.get(timeout=whole.remaining)
        except Empty:
            break
        if number is None:
            require_patience(whole)
            continue
        running_call = left.pop(number)
        try:
            answers[number] = running_call.result()
        except CarrelError as error:
            answers[number] = error
    whole.progress(total - len(left), total, "out of time" if left else "answered")


def require_patience(call: Call) -> None:
    """Raises if the call was cancelled.

    Raises:
        Cancelled: the client gave up.
    """
    if call.cancelled:
        raise Cancelled(plugin=call.plugin, tool=call.tool)
